import type { Action } from '@sallyport/core'
import { refuses } from '@sallyport/core/host'
import { countOf, mergeInto, REGISTERS } from './sketch.ts'
import type { TallyRow } from './tally-file.ts'

const HOURS_A_DAY = 24

/** Requests with one property. */
export interface Share {
  readonly name: string
  readonly requests: number
  /** 0 to 1, of all requests. */
  readonly share: number
  /** Bytes sent; those of connections that several requests shared are missing. */
  readonly bytes: number
}

/** Visitors that are hit by what was decided: asked, throttled or blocked. */
export interface Impact {
  /** About so many, each counted once a day (UTC). */
  readonly people: number
  /** 0 to 1, of the same visitors. */
  readonly share: number
  readonly requests: number
  /** The part of `requests` that is asked, and can go on. */
  readonly asked: number
}

/** A label of `decided`, in its order. */
export const DECIDED = { outcome: 0, enforced: 1, class: 2, network: 3, rule: 4 } as const
/** A label of `trial`. */
export const TRIAL = { rule: 0, action: 1, class: 2, alone: 3 } as const

/** The class of visitors that are taken for people. */
const PEOPLE = 'human'

export function labelOf({ labels }: TallyRow, at: number): string {
  return labels[at] ?? ''
}

export function sumOf(rows: readonly TallyRow[], count: 'requests' | 'bytes' | 'pages' = 'requests'): number {
  return rows.reduce((sum, row) => sum + row[count], 0)
}

/** About how many different clients some rows had, each counted once a day: the key of a day goes with it. */
export function peopleOf(rows: readonly TallyRow[]): number {
  const days = new Map<number, { readonly all: Uint8Array; requests: number }>()
  for (const { hour, people, requests } of rows) {
    if (people === undefined) continue
    const day = Math.floor(hour / HOURS_A_DAY)
    const found = days.get(day) ?? { all: new Uint8Array(REGISTERS), requests: 0 }
    mergeInto(found.all, people)
    found.requests += requests
    days.set(day, found)
  }
  // A number that is about right may be more than came.
  return [...days.values()].reduce((sum, { all, requests }) => sum + Math.min(countOf(all), requests), 0)
}

/** Rows by one of their labels, the most requests first; of more than `most` the others are left to who sums up. */
export function groupsOf(
  rows: readonly TallyRow[],
  nameOf: (row: TallyRow) => string,
): ReadonlyMap<string, TallyRow[]> {
  const groups = new Map<string, TallyRow[]>()
  for (const row of rows) {
    const name = nameOf(row)
    const group = groups.get(name)
    if (group === undefined) groups.set(name, [row])
    else group.push(row)
  }
  return new Map([...groups].sort(([, one], [, other]) => sumOf(other) - sumOf(one)))
}

export function sharesOf(
  rows: readonly TallyRow[],
  nameOf: (row: TallyRow) => string,
  most = Number.POSITIVE_INFINITY,
): readonly Share[] {
  const whole = sumOf(rows)
  return [...groupsOf(rows, nameOf)].slice(0, most).map(([name, group]) => {
    const requests = sumOf(group)
    return { name, requests, share: shareOf(requests, whole), bytes: sumOf(group, 'bytes') }
  })
}

export function shareOf(part: number, whole: number): number {
  return whole === 0 ? 0 : Math.min(1, part / whole)
}

export function rowsOf(rows: readonly TallyRow[], subject: TallyRow['subject']): readonly TallyRow[] {
  return rows.filter((row) => row.subject === subject)
}

/** Rows of visitors that are taken for people. */
export function ofPeople(rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => labelOf(row, row.subject === 'trial' ? TRIAL.class : DECIDED.class) === PEOPLE)
}

/** Whether the action of a row keeps a visitor from its answer. */
export function isStopping(row: TallyRow): boolean {
  const at = row.subject === 'trial' ? TRIAL.action : DECIDED.outcome
  return refuses(labelOf(row, at) as Action)
}

export function isEnforced(row: TallyRow): boolean {
  return labelOf(row, DECIDED.enforced) === 'true'
}

/** Rows of what would be stopped if all were enforced, each request once: decided, and by a rule on trial alone. */
export function wouldStop(decided: readonly TallyRow[], trials: readonly TallyRow[]): readonly TallyRow[] {
  return [...decided.filter(isStopping), ...trials.filter((row) => labelOf(row, TRIAL.alone) !== '')]
}

/** The impact of rows on so many visitors. */
export function impactOf(rows: readonly TallyRow[], visitors: number): Impact {
  const people = Math.min(peopleOf(rows), visitors)
  const asked = rows.filter((row) => labelOf(row, row.subject === 'trial' ? TRIAL.action : 0) === 'challenge')
  return { people, share: shareOf(people, visitors), requests: sumOf(rows), asked: sumOf(asked) }
}
