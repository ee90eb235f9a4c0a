import type { Action, Visitor } from '@sallyport/core'
import { refuses } from '@sallyport/core/host'
import { estimateCount, mergeInto, REGISTERS } from './sketch.ts'
import type { TallyRow } from './tally-file.ts'

const HOURS_A_DAY = 24

/** Counts requests with one property. */
export interface Share {
  readonly name: string
  readonly requests: number
  /** The part of all requests that have the property, 0 to 1. */
  readonly share: number
  /** Bytes sent, without the bytes of connections that several requests shared. */
  readonly bytes: number
}

/** Counts visitors that are hit by what was decided: challenged, throttled or blocked. */
export interface Impact {
  /** About how many visitors were hit, each counted once a day (UTC). */
  readonly people: number
  /** The part of the same visitors that was hit, 0 to 1. */
  readonly share: number
  readonly requests: number
  /** The part of `requests` that was shown a challenge, after which its visitor can go on. */
  readonly asked: number
}

/** Counts challenges by what became of them. */
export interface Challenged {
  readonly asked: number
  readonly solved: number
  /** Solutions that earned no pass; a challenge takes several. */
  readonly failed: number
  /** Requests whose client cannot show a challenge. */
  readonly unshown: number
}

/** Maps the labels of `challenge` to their places. */
export const CHALLENGE = { rule: 0, level: 1, step: 2 } as const
/** Maps the labels of `decided` to their places. */
export const DECIDED = { outcome: 0, enforced: 1, class: 2, network: 3, rule: 4, visitor: 5, unshown: 6 } as const
/** Maps the labels of `trial` to their places. */
export const TRIAL = { rule: 0, action: 1, class: 2, alone: 3, visitor: 4 } as const

export function readLabel({ labels }: TallyRow, at: number): string {
  return labels[at] ?? ''
}

/** Makes the function that names a row by some of its labels. */
export const byLabels =
  (...places: readonly number[]) =>
  (row: TallyRow): string =>
    places.map((at) => readLabel(row, at)).join('\n')

export function sumCounts(rows: readonly TallyRow[], count: 'requests' | 'bytes' | 'pages' = 'requests'): number {
  return rows.reduce((sum, row) => sum + row[count], 0)
}

/** Sums the requests of the rows that have a label. */
export function sumWith(rows: readonly TallyRow[], at: number, label: string): number {
  return sumCounts(rows.filter((row) => readLabel(row, at) === label))
}

/** Holds clients by the day: the key of a day goes with it, so that no client is found again in another day. */
export type Days = ReadonlyMap<number, { readonly all: Uint8Array; readonly requests: number }>

/** Groups the clients of some rows, and of `others`, by day. */
export function groupDays(rows: readonly TallyRow[], others: Days = new Map()): Days {
  const days = new Map([...others].map(([day, { all, requests }]) => [day, { all: all.slice(), requests }]))
  for (const { hour, people, requests } of rows) {
    if (people === undefined) continue
    const day = Math.floor(hour / HOURS_A_DAY)
    const found = days.get(day) ?? { all: new Uint8Array(REGISTERS), requests: 0 }
    mergeInto(found.all, people)
    found.requests += requests
    days.set(day, found)
  }
  return days
}

function countDays(days: Days): number {
  // A number that is about right may be more than came.
  return [...days.values()].reduce((sum, { all, requests }) => sum + Math.min(estimateCount(all), requests), 0)
}

/** Returns about how many different clients some rows had, each counted once a day. */
export function countPeople(rows: readonly TallyRow[]): number {
  return countDays(groupDays(rows))
}

/** Counts people as `countPeople` does, without the clients of others. */
export function peopleBeside(rows: readonly TallyRow[], others: Days): number {
  const people = countPeople(rows)
  if (people === 0 || others.size === 0) return people
  return Math.max(0, Math.min(people, countDays(groupDays(rows, others)) - countDays(others)))
}

type Group = [TallyRow, ...TallyRow[]]

/** Groups rows by a name, the most requests first. */
export function groupRows(rows: readonly TallyRow[], readName: (row: TallyRow) => string): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>()
  for (const row of rows) {
    const name = readName(row)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [row])
    else group.push(row)
  }
  return new Map([...groups].sort(([, one], [, other]) => sumCounts(other) - sumCounts(one)))
}

export function listShares(
  rows: readonly TallyRow[],
  readName: (row: TallyRow) => string,
  most = Number.POSITIVE_INFINITY,
): readonly Share[] {
  const whole = sumCounts(rows)
  return [...groupRows(rows, readName)].slice(0, most).map(([name, group]) => {
    const requests = sumCounts(group)
    return { name, requests, share: computeShare(requests, whole), bytes: sumCounts(group, 'bytes') }
  })
}

export function computeShare(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole)
}

export function pickRows(rows: readonly TallyRow[], subject: TallyRow['subject']): readonly TallyRow[] {
  return rows.filter((row) => row.subject === subject)
}

/** Picks rows of one kind of visitor. Visitors that an earlier version counted as human are unclear. */
export function rowsBy(visitor: Visitor, rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => {
    const at = row.subject === 'trial' ? TRIAL : DECIDED
    return (readLabel(row, at.visitor) || (readLabel(row, at.class) === 'human' ? 'unclear' : 'program')) === visitor
  })
}

/** Reports whether the action of a row keeps a visitor from its answer. */
export function isStopping(row: TallyRow): boolean {
  const at = row.subject === 'trial' ? TRIAL.action : DECIDED.outcome
  return refuses(readLabel(row, at) as Action)
}

export function isEnforced(row: TallyRow): boolean {
  return readLabel(row, DECIDED.enforced) === 'true'
}

/** Lists the rows that would be stopped if all were enforced, each request once: decided, and by a rule on trial alone. */
export function wouldStop(decided: readonly TallyRow[], trials: readonly TallyRow[]): readonly TallyRow[] {
  return [...decided.filter(isStopping), ...trials.filter((row) => readLabel(row, TRIAL.alone) !== '')]
}

/** Measures the impact of rows on so many visitors, without the clients of `others`. */
export function measureImpact(rows: readonly TallyRow[], visitors: number, others: Days = new Map()): Impact {
  const people = Math.min(peopleBeside(rows, others), visitors)
  const questions = rows.filter((row) =>
    row.subject === 'trial'
      ? readLabel(row, TRIAL.action) === 'challenge'
      : readLabel(row, DECIDED.outcome) === 'challenge' && readLabel(row, DECIDED.unshown) === '',
  )
  return { people, share: computeShare(people, visitors), requests: sumCounts(rows), asked: sumCounts(questions) }
}

export function iso(at: number): string {
  return new Date(at).toISOString()
}
