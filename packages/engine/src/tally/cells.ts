import { noteIn, REGISTERS } from './sketch.ts'

/**
 * Everything that is counted, each by its labels. `decided`: outcome, enforced, class, network class, rule, visitor, whether a challenge
 * could not be shown. `trial`: rule, action, class, whether it alone would have stopped the request, visitor. `answer`: status, who
 * answered. `system`: autonomous system, effect. `path`: pattern, effect. `crawler`: operator, claim, purpose, name, robots, limit, effect.
 * `read`: operator, claim, pattern, robots. `referral`: service, pattern, visitor. `challenge`: rule, level, step. `payment`: rule,
 * outcome. `country`: its two letters. `event`: event, outcome, action, effect. `eventReason`: id of a reason.
 */
export type Subject = keyof typeof MAX_ROWS

/** Most rows of a subject in an hour and a process; later ones become `other`. */
export const MAX_ROWS = {
  decided: 1_000,
  trial: 200,
  answer: 200,
  system: 300,
  path: 300,
  crawler: 500,
  read: 500,
  referral: 200,
  challenge: 200,
  payment: 100,
  country: 300,
  event: 200,
  eventReason: 200,
} as const

export const OTHER = 'other'

/** Labels of few values, by place, are kept beyond the bound of a subject, for shares in reports; an operator up to twice the bound. */
const KEPT: Readonly<Record<Subject, readonly number[]>> = {
  decided: [0, 1, 2, 5, 6],
  trial: [1, 2, 3, 4],
  answer: [0],
  system: [1],
  path: [1],
  crawler: [0],
  read: [0],
  referral: [2],
  challenge: [1, 2],
  payment: [1],
  country: [],
  event: [0, 1, 2, 3],
  eventReason: [],
}

/** Says whether a request was stopped, or would have been but for monitor mode or by a rule on trial; '' for neither. */
export type Effect = '' | 'stopped' | 'would'

/** The counts of one row that are not written yet, and all its people. */
export class Cell {
  readonly subject: Subject
  readonly labels: readonly string[]
  requests = 0
  /** Bytes sent, where a connection has one request at a time. */
  bytes = 0
  /** Pages that were read: answered, and no part of another page. */
  pages = 0
  people: Uint8Array | undefined = undefined
  /** Whether `people` differs from what was written. */
  hasNewPeople = false

  constructor(subject: Subject, labels: readonly string[]) {
    this.subject = subject
    this.labels = labels
  }

  add(bytes: number, pages: number): void {
    this.requests++
    this.bytes += bytes
    this.pages += pages
  }

  /** Notes a client by its place. */
  note(place: number): void {
    this.people ??= new Uint8Array(REGISTERS)
    if (noteIn(this.people, place)) this.hasNewPeople = true
  }

  get isWritten(): boolean {
    return this.requests === 0 && !this.hasNewPeople
  }

  written(): void {
    this.requests = 0
    this.bytes = 0
    this.pages = 0
    this.hasNewPeople = false
  }
}

/** Keys whose cell is remembered: a pattern of a path is found a hundred times as slowly. */
const MAX_KEYS = 4_096

/** Remembers cells by raw properties of a request, because their labels take longer to make. */
export class Remembered<Key> {
  readonly #cells = new Map<Key, Cell>()

  get(key: Key): Cell | undefined {
    return this.#cells.get(key)
  }

  keep(key: Key, cell: Cell): Cell {
    if (this.#cells.size >= MAX_KEYS) this.#cells.clear()
    this.#cells.set(key, cell)
    return cell
  }
}

/** Holds the counts of one hour under one configuration. */
export class Slot {
  /** Counts hours since the epoch. */
  readonly hour: number
  /** Identifies the configuration by its fingerprint. */
  readonly policy: string
  readonly cells: Cell[] = []
  /** Cells by the number of the row in which a service counts a request; the row has the first labels of its cells. */
  readonly decided: (Cell | undefined)[] = []
  /** Finds cells by status and answerer, by autonomous system and effect, by country, and for each effect by path. */
  readonly answers = new Remembered<number>()
  readonly systems = new Remembered<number>()
  readonly countries = new Remembered<string>()
  readonly paths = [new Remembered<string>(), new Remembered<string>(), new Remembered<string>()] as const
  readonly #named = new Map<string, Cell>()
  readonly #sizes = new Map<Subject, number>()

  constructor(hour: number, policy: string) {
    this.hour = hour
    this.policy = policy
  }

  /** Returns the cell of some labels. Beyond the bound of a subject some labels are kept, and beyond twice that none. */
  of(subject: Subject, labels: readonly string[]): Cell {
    const size = this.#sizes.get(subject) ?? 0
    const found = this.#named.get(makeKey(subject, labels))
    if (found !== undefined) return found
    if (size < MAX_ROWS[subject]) return this.#begin(subject, labels)
    const kept = size < 2 * MAX_ROWS[subject] ? KEPT[subject] : []
    const others = labels.map((label, at) => (kept.includes(at) ? label : OTHER))
    return this.#named.get(makeKey(subject, others)) ?? this.#begin(subject, others)
  }

  #begin(subject: Subject, labels: readonly string[]): Cell {
    const cell = new Cell(subject, labels)
    this.cells.push(cell)
    this.#named.set(makeKey(subject, labels), cell)
    this.#sizes.set(subject, (this.#sizes.get(subject) ?? 0) + 1)
    return cell
  }
}

function makeKey(subject: Subject, labels: readonly string[]): string {
  return `${subject}\n${labels.join('\n')}`
}
