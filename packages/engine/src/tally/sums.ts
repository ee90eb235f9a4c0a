import type { Action, Visitor } from '@sallyport/core'
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

/** Visitors that are hit by what was decided: challenged, throttled or blocked. */
export interface Impact {
  /** About so many, each counted once a day (UTC). */
  readonly people: number
  /** 0 to 1, of the same visitors. */
  readonly share: number
  readonly requests: number
  /** The part of `requests` that was shown a challenge, after which its visitor can go on. */
  readonly asked: number
}

/** A label of `decided`, in its order. */
export const DECIDED = { outcome: 0, enforced: 1, class: 2, network: 3, rule: 4, visitor: 5, unshown: 6 } as const
/** A label of `trial`. */
export const TRIAL = { rule: 0, action: 1, class: 2, alone: 3, visitor: 4 } as const

export function labelOf({ labels }: TallyRow, at: number): string {
  return labels[at] ?? ''
}

export function sumOf(rows: readonly TallyRow[], count: 'requests' | 'bytes' | 'pages' = 'requests'): number {
  return rows.reduce((sum, row) => sum + row[count], 0)
}

/** Clients by the day: the key of a day goes with it, so that nobody is found again in another. */
export type Days = ReadonlyMap<number, { readonly all: Uint8Array; readonly requests: number }>

/** The clients of some rows, and of `others`. */
export function daysOf(rows: readonly TallyRow[], others: Days = new Map()): Days {
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
  return [...days.values()].reduce((sum, { all, requests }) => sum + Math.min(countOf(all), requests), 0)
}

/** About how many different clients some rows had, each counted once a day. */
export function peopleOf(rows: readonly TallyRow[]): number {
  return countDays(daysOf(rows))
}

/** The same without the clients of others. */
export function peopleBeside(rows: readonly TallyRow[], others: Days): number {
  const people = peopleOf(rows)
  if (people === 0 || others.size === 0) return people
  return Math.max(0, Math.min(people, countDays(daysOf(rows, others)) - countDays(others)))
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

export function pickRows(rows: readonly TallyRow[], subject: TallyRow['subject']): readonly TallyRow[] {
  return rows.filter((row) => row.subject === subject)
}

/** Rows of one kind of visitor. Of those that an earlier version counted as human nobody can tell. */
export function rowsBy(visitor: Visitor, rows: readonly TallyRow[]): readonly TallyRow[] {
  return rows.filter((row) => {
    const at = row.subject === 'trial' ? TRIAL : DECIDED
    return (labelOf(row, at.visitor) || (labelOf(row, at.class) === 'human' ? 'unclear' : 'program')) === visitor
  })
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

/** The impact of rows on so many visitors, `others` apart. */
export function impactOf(rows: readonly TallyRow[], visitors: number, others: Days = new Map()): Impact {
  const people = Math.min(peopleBeside(rows, others), visitors)
  const asked = rows.filter((row) =>
    row.subject === 'trial'
      ? labelOf(row, TRIAL.action) === 'challenge'
      : labelOf(row, DECIDED.outcome) === 'challenge' && labelOf(row, DECIDED.unshown) === '',
  )
  return { people, share: shareOf(people, visitors), requests: sumOf(rows), asked: sumOf(asked) }
}
