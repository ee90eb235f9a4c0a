import { HOUR_MS } from '@sallyport/core'
import {
  byLabels,
  computeShare,
  groupRows,
  iso,
  listShares,
  pickRows,
  readLabel,
  type Share,
  sumCounts,
  sumWith,
} from './sums.ts'
import type { TallyReading, TallyRow } from './tally-file.ts'

/** The outcome of a claim: proved, only said, or refuted. */
export type CrawlerClaim = 'verified' | 'unverifiable' | 'spoofed'

/** Counts requests in one name and with one purpose. */
export interface CrawlerReading {
  readonly name: string
  readonly purpose: string
  readonly requests: number
  /** Pages that were answered; images, styles and scripts are not. */
  readonly pages: number
  readonly bytes: number
  /** Counts requests that robots.txt refuses to the crawler: the policy's or the origin's as it was last read. */
  readonly disallowed: number
  /** Counts requests beyond a limit. */
  readonly beyond: number
}

/** Counts requests of an operator, or of any client that uses its name. */
export interface OperatorReading extends Omit<CrawlerReading, 'name' | 'purpose'> {
  readonly operator: string
  readonly claim: CrawlerClaim
  readonly purposes: readonly string[]
  /** The part of all requests of crawlers that are its own, 0 to 1. */
  readonly share: number
  /** Counts requests for which no robots.txt was read. */
  readonly unread: number
  /** Counts requests that were stopped, and that would have been. */
  readonly stopped: number
  readonly would: number
  /** The hours in which the first and the last request came, ISO 8601 in UTC. */
  readonly first: string
  readonly last: string
  /** Counts requests by the day (UTC), and by the hour of the day. */
  readonly days: readonly { readonly day: string; readonly requests: number }[]
  readonly hours: readonly number[]
  /** Counts the requests of the same span a week before, or weeks before for a longer span. */
  readonly before: number
  readonly crawlers: readonly CrawlerReading[]
  readonly paths: readonly (Share & { readonly pages: number; readonly disallowed: number })[]
}

/** Counts visits that came from answers of an AI. */
export interface Referrals {
  readonly service: string
  /** Counts visits of people. */
  readonly visits: number
  /** Counts visits that may be of people or of programs. */
  readonly unclear: number
  readonly before: number
  readonly paths: readonly Share[]
}

/** Reports everything that AI and crawlers read, and the outcomes. Times are ISO 8601 in UTC, on the hour. */
export interface CrawlerReport {
  readonly from: string
  readonly until: string
  readonly requests: number
  readonly pages: number
  readonly bytes: number
  readonly operators: readonly OperatorReading[]
  readonly referrals: readonly Referrals[]
  /** Counts the requests that a rule offered an answer for a price, by their outcome. */
  readonly offers: readonly { readonly rule: string; readonly outcome: string; readonly requests: number }[]
}

const DAY_HOURS = 24
const MAX_PATHS = 20
const MAX_OPERATORS = 100

/** Labels of `crawler`, in their order; those of `read` begin alike. */
const AT = { operator: 0, claim: 1, purpose: 2, name: 3, robots: 4, limit: 5, effect: 6 } as const
const READ = { pattern: 2, robots: 3 } as const
const REFERRAL = { service: 0, pattern: 1, visitor: 2 } as const

/** Sums up a span; `earlier` is the span that it is compared with. */
export function reportCrawlers(reading: TallyReading, earlier: TallyReading): CrawlerReport {
  const rows = pickRows(reading.rows, 'crawler')
  // Proven requests and unproven ones in the name of an operator are never counted together.
  const byClaim = byLabels(AT.operator, AT.claim)
  const before = groupRows(pickRows(earlier.rows, 'crawler'), byClaim)
  const paths = groupRows(pickRows(reading.rows, 'read'), byClaim)
  const requests = sumCounts(rows)
  return {
    from: iso(reading.from),
    until: iso(reading.until),
    requests,
    pages: sumCounts(rows, 'pages'),
    bytes: sumCounts(rows, 'bytes'),
    operators: [...groupRows(rows, byClaim)]
      .slice(0, MAX_OPERATORS)
      .map(([name, group]) => readOperator(group, paths.get(name) ?? [], sumCounts(before.get(name) ?? []), requests)),
    referrals: listReferrals(pickRows(reading.rows, 'referral'), pickRows(earlier.rows, 'referral')),
    offers: listOffers(pickRows(reading.rows, 'payment')),
  }
}

function readOperator(
  rows: readonly [TallyRow, ...TallyRow[]],
  read: readonly TallyRow[],
  before: number,
  whole: number,
): OperatorReading {
  const [first] = rows
  const hours = rows.map(({ hour }) => hour)
  const sums = sumRows(rows)
  return {
    operator: readLabel(first, AT.operator),
    claim: readLabel(first, AT.claim) as CrawlerClaim,
    purposes: [...groupRows(rows, byLabels(AT.purpose)).keys()].filter((purpose) => purpose !== ''),
    ...sums,
    share: computeShare(sums.requests, whole),
    unread: sumWith(rows, AT.robots, 'unread'),
    stopped: sumWith(rows, AT.effect, 'stopped'),
    would: sumWith(rows, AT.effect, 'would'),
    first: iso(Math.min(...hours) * HOUR_MS),
    last: iso(Math.max(...hours) * HOUR_MS),
    days: [...groupRows(rows, ({ hour }) => iso(hour * HOUR_MS).slice(0, 10))]
      .map(([day, group]) => ({ day, requests: sumCounts(group) }))
      .sort((one, other) => (one.day < other.day ? -1 : 1)),
    hours: Array.from({ length: DAY_HOURS }, (_, at) => sumCounts(rows.filter(({ hour }) => hour % DAY_HOURS === at))),
    before,
    crawlers: [...groupRows(rows, byLabels(AT.name, AT.purpose)).values()].map((group) => {
      return { name: readLabel(group[0], AT.name), purpose: readLabel(group[0], AT.purpose), ...sumRows(group) }
    }),
    paths: listPaths(read),
  }
}

function sumRows(rows: readonly TallyRow[]): Omit<CrawlerReading, 'name' | 'purpose'> {
  return {
    requests: sumCounts(rows),
    pages: sumCounts(rows, 'pages'),
    bytes: sumCounts(rows, 'bytes'),
    disallowed: sumWith(rows, AT.robots, 'disallowed'),
    beyond: sumWith(rows, AT.limit, 'beyond'),
  }
}

function listPaths(read: readonly TallyRow[]): OperatorReading['paths'] {
  const byPattern = byLabels(READ.pattern)
  const groups = groupRows(read, byPattern)
  return listShares(read, byPattern, MAX_PATHS).map((share) => {
    const rows = groups.get(share.name) ?? []
    return { ...share, pages: sumCounts(rows, 'pages'), disallowed: sumWith(rows, READ.robots, 'disallowed') }
  })
}

function listReferrals(rows: readonly TallyRow[], earlier: readonly TallyRow[]): readonly Referrals[] {
  const byService = byLabels(REFERRAL.service)
  const before = groupRows(earlier, byService)
  return [...groupRows(rows, byService)].map(([service, group]) => {
    const visits = sumWith(group, REFERRAL.visitor, 'person')
    return {
      service,
      visits,
      unclear: sumCounts(group) - visits,
      before: sumWith(before.get(service) ?? [], REFERRAL.visitor, 'person'),
      paths: listShares(group, byLabels(REFERRAL.pattern), MAX_PATHS),
    }
  })
}

function listOffers(rows: readonly TallyRow[]): CrawlerReport['offers'] {
  return [...groupRows(rows, byLabels(0, 1)).values()].map((group) => {
    return { rule: readLabel(group[0], 0), outcome: readLabel(group[0], 1), requests: sumCounts(group) }
  })
}
