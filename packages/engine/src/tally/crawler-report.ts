import { HOUR_MS } from '@sallyport/core'
import { groupsOf, labelOf, pickRows, type Share, shareOf, sharesOf, sumOf } from './sums.ts'
import type { TallyReading, TallyRow } from './tally-file.ts'

/** The outcome of a claim: proved, only said, or refuted. */
export type CrawlerClaim = 'verified' | 'unverifiable' | 'spoofed'

/** Requests in one name and with one purpose. */
export interface CrawlerReading {
  readonly name: string
  readonly purpose: string
  readonly requests: number
  /** Pages that were answered; images, styles and scripts are not. */
  readonly pages: number
  readonly bytes: number
  /** Requests for what robots.txt refuses to it, the policy's or the origin's as it was last read. */
  readonly disallowed: number
  /** Requests beyond a limit. */
  readonly beyond: number
}

/** Requests of an operator, or of somebody in its name. */
export interface OperatorReading extends Omit<CrawlerReading, 'name' | 'purpose'> {
  readonly operator: string
  readonly claim: CrawlerClaim
  readonly purposes: readonly string[]
  /** 0 to 1, of all requests of crawlers. */
  readonly share: number
  /** Requests that no robots.txt was read for. */
  readonly unread: number
  /** Requests that were stopped, and that would have been. */
  readonly stopped: number
  readonly would: number
  /** The hours of the first and last request, ISO 8601 in UTC. */
  readonly first: string
  readonly last: string
  /** Requests by the day (UTC), and by the hour of the day. */
  readonly days: readonly { readonly day: string; readonly requests: number }[]
  readonly hours: readonly number[]
  /** Requests of the same span a week before, or weeks for a longer one. */
  readonly before: number
  readonly crawlers: readonly CrawlerReading[]
  readonly paths: readonly (Share & { readonly pages: number; readonly disallowed: number })[]
}

/** Visits that came from answers of an AI. */
export interface Referrals {
  readonly service: string
  /** Those of people. */
  readonly visits: number
  /** Those of which nobody can tell whether they are people's. */
  readonly unclear: number
  readonly before: number
  readonly paths: readonly Share[]
}

/** Everything that AI and crawlers read, and what came of it. Times are ISO 8601 in UTC, on the hour. */
export interface CrawlerReport {
  readonly from: string
  readonly until: string
  readonly requests: number
  readonly pages: number
  readonly bytes: number
  readonly operators: readonly OperatorReading[]
  readonly referrals: readonly Referrals[]
}

const DAY_HOURS = 24
const MAX_PATHS = 20
const MAX_OPERATORS = 100

/** Labels of `crawler`, in their order; those of `read` begin alike. */
const AT = { operator: 0, claim: 1, purpose: 2, name: 3, robots: 4, limit: 5, effect: 6 } as const
const READ = { pattern: 2, robots: 3 } as const

/** Sums up a span; `earlier`: what it is held against. */
export function reportCrawlers(reading: TallyReading, earlier: TallyReading): CrawlerReport {
  const rows = pickRows(reading.rows, 'crawler')
  const before = groupsOf(pickRows(earlier.rows, 'crawler'), nameOf)
  const paths = groupsOf(pickRows(reading.rows, 'read'), nameOf)
  const requests = sumOf(rows)
  return {
    from: iso(reading.from),
    until: iso(reading.until),
    requests,
    pages: sumOf(rows, 'pages'),
    bytes: sumOf(rows, 'bytes'),
    operators: [...groupsOf(rows, nameOf)]
      .slice(0, MAX_OPERATORS)
      .map(([name, group]) => operatorOf(group, paths.get(name) ?? [], sumOf(before.get(name) ?? []), requests)),
    referrals: referralsOf(pickRows(reading.rows, 'referral'), pickRows(earlier.rows, 'referral')),
  }
}

/** An operator by its claim: what is proved and what is said in its name are never one. */
function nameOf(row: TallyRow): string {
  return `${labelOf(row, AT.operator)}\n${labelOf(row, AT.claim)}`
}

function operatorOf(
  rows: readonly TallyRow[],
  read: readonly TallyRow[],
  before: number,
  whole: number,
): OperatorReading {
  const [first] = rows as readonly [TallyRow, ...TallyRow[]]
  const hours = rows.map(({ hour }) => hour)
  const groups = groupsOf(rows, (row) => `${labelOf(row, AT.name)}\n${labelOf(row, AT.purpose)}`)
  const sums = sumsOf(rows)
  return {
    operator: labelOf(first, AT.operator),
    claim: labelOf(first, AT.claim) as CrawlerClaim,
    purposes: [...groupsOf(rows, (row) => labelOf(row, AT.purpose)).keys()].filter((purpose) => purpose !== ''),
    ...sums,
    share: shareOf(sums.requests, whole),
    unread: sumOf(rows.filter((row) => labelOf(row, AT.robots) === 'unread')),
    stopped: sumOf(rows.filter((row) => labelOf(row, AT.effect) === 'stopped')),
    would: sumOf(rows.filter((row) => labelOf(row, AT.effect) === 'would')),
    first: iso(Math.min(...hours) * HOUR_MS),
    last: iso(Math.max(...hours) * HOUR_MS),
    days: [...groupsOf(rows, ({ hour }) => iso(hour * HOUR_MS).slice(0, 10))]
      .map(([day, group]) => ({ day, requests: sumOf(group) }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    hours: Array.from({ length: DAY_HOURS }, (_, at) => sumOf(rows.filter(({ hour }) => hour % DAY_HOURS === at))),
    before,
    crawlers: [...groups.values()].map((group) => {
      const [one] = group as [TallyRow, ...TallyRow[]]
      return { name: labelOf(one, AT.name), purpose: labelOf(one, AT.purpose), ...sumsOf(group) }
    }),
    paths: pathsOf(read),
  }
}

function sumsOf(rows: readonly TallyRow[]): Omit<CrawlerReading, 'name' | 'purpose'> {
  return {
    requests: sumOf(rows),
    pages: sumOf(rows, 'pages'),
    bytes: sumOf(rows, 'bytes'),
    disallowed: sumOf(rows.filter((row) => labelOf(row, AT.robots) === 'disallowed')),
    beyond: sumOf(rows.filter((row) => labelOf(row, AT.limit) === 'beyond')),
  }
}

function pathsOf(read: readonly TallyRow[]): OperatorReading['paths'] {
  const groups = groupsOf(read, (row) => labelOf(row, READ.pattern))
  return sharesOf(read, (row) => labelOf(row, READ.pattern), MAX_PATHS).map((share) => {
    const rows = groups.get(share.name) ?? []
    const disallowed = sumOf(rows.filter((row) => labelOf(row, READ.robots) === 'disallowed'))
    return { ...share, pages: sumOf(rows, 'pages'), disallowed }
  })
}

function referralsOf(rows: readonly TallyRow[], earlier: readonly TallyRow[]): readonly Referrals[] {
  const isPerson = (row: TallyRow): boolean => labelOf(row, 2) === 'person'
  const before = groupsOf(earlier.filter(isPerson), (row) => labelOf(row, 0))
  return [...groupsOf(rows, (row) => labelOf(row, 0))].map(([service, group]) => ({
    service,
    visits: sumOf(group.filter(isPerson)),
    unclear: sumOf(group.filter((row) => !isPerson(row))),
    before: sumOf(before.get(service) ?? []),
    paths: sharesOf(group, (row) => labelOf(row, 1), MAX_PATHS),
  }))
}

function iso(at: number): string {
  return new Date(at).toISOString()
}
