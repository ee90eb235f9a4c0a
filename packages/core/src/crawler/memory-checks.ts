import { type Address, formatAddress } from '../address/address.ts'
import { BELIEVED, datedSource, shareLeft } from '../network/ages.ts'
import type { Clock, CrawlerRangeStatus, Snapshot } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import type { Crawler } from './catalogue.ts'
import { type Check, makeCheck } from './outcome.ts'
import type { LoadedRanges } from './ranges.ts'

/** A claim is checked against an address, the facts of its network, and the data. */
export interface ClaimedFrom {
  readonly address: Address
  readonly finding: NetworkFinding
  readonly snapshot: Snapshot
}

/** Checks whether the crawler sends requests at all. */
export function catalogueCheck(crawler: Crawler): Check {
  const { name, operator, silent } = crawler
  switch (silent) {
    case 'token-only':
      return makeCheck(
        'catalogue',
        'refuted',
        `${name} is a token for robots.txt. ${operator} sends no requests with it.`,
      )
    case 'retired':
      return makeCheck('catalogue', 'refuted', `${operator} does not send ${name} any more.`)
    default:
      return makeCheck('catalogue', 'not-applicable', `${name} is a crawler that sends requests.`)
  }
}

/**
 * Checks the operator's published egress ranges. Only a fresh list refutes, and only addresses of a family that it holds; a missing or
 * stale one could not run, and a list that has lost half its weight does not confirm either. `dated` are prefixes that came with Sallyport:
 * they confirm where no fresh list knows better.
 */
export function rangesCheck(crawler: Crawler, { address, snapshot }: ClaimedFrom, dated: LoadedRanges): Check {
  const name = 'published ranges'
  const ip = formatAddress(address)
  const slug = crawler.ranges ?? crawler.slug
  const { crawlerRanges, crawlerStatus, clock } = snapshot
  const status: CrawlerRangeStatus = findStatus(slug, crawlerStatus, clock) ?? { slug, state: 'missing' }
  const published = `the ranges that ${crawler.operator} publishes for ${crawler.name}`
  const shipped = findStatus(slug, dated.crawlerStatus)
  const listings = [
    crawlerRanges?.holds(slug, address) === true ? status : undefined,
    status.state !== 'fresh' && dated.crawlerRanges.holds(slug, address) ? shipped : undefined,
  ]
  for (const list of listings) {
    const kept = list?.source === undefined ? 1 : shareLeft(list.source, clock?.now())
    if (list === undefined || kept < BELIEVED) continue
    const listed = list.source && { kept, oldest: datedSource(list.source) }
    const detail = `${ip} is in ${published}${writeDate(list)}.`
    return { name, status: 'passed', detail, ...(listed && { listed }) }
  }
  if (status.state === 'fresh') {
    if (crawlerRanges?.covers(slug, address.family) !== true) {
      return makeCheck(name, 'could-not-run', `No IPv${address.family} address is in ${published}${writeDate(status)}.`)
    }
    return makeCheck(name, 'refuted', `${ip} is not in ${published}${writeDate(status)}.`)
  }
  const known = status.state === 'missing' ? shipped : status
  if (known !== undefined) {
    const detail = `${ip} is not in ${published}${writeDate(known)}; they may have changed since.`
    return makeCheck(name, 'could-not-run', detail)
  }
  return crawler.ranges === undefined
    ? makeCheck(name, 'not-applicable', `No list of the ranges of ${crawler.name} is known.`)
    : makeCheck(name, 'could-not-run', `The list of ${published} is not loaded.`)
}

/** Returns the worst status of a list's files, because a missing file may hold the address. */
function findStatus(
  slug: string,
  rows: readonly CrawlerRangeStatus[] = [],
  clock?: Clock,
): CrawlerRangeStatus | undefined {
  let worst: CrawlerRangeStatus | undefined
  for (const row of rows) {
    if (row.slug !== slug) continue
    const now = markStale(row, clock)
    if (worst === undefined || STATE_RANK[now.state] < STATE_RANK[worst.state]) worst = now
  }
  return worst
}

/** A list also becomes stale between two reloads. */
function markStale(row: CrawlerRangeStatus, clock: Clock | undefined): CrawlerRangeStatus {
  const isPast = row.staleAfter !== undefined && clock !== undefined && clock.now() >= row.staleAfter
  return row.state === 'fresh' && isPast ? { ...row, state: 'stale' } : row
}

/** States are ranked worst first. */
const STATE_RANK = { missing: 0, stale: 1, fresh: 2 } as const

function writeDate({ date }: Pick<CrawlerRangeStatus, 'date'>): string {
  return date === undefined ? '' : ` (as of ${date})`
}

/** Checks the operator's autonomous systems, where only the operator uses them. */
export function asnCheck(crawler: Crawler, { address, finding, snapshot }: ClaimedFrom): Check {
  const name = 'operator ASN'
  if (!crawler.exclusive) {
    const detail =
      crawler.asns.size === 0
        ? `No network is known to belong to ${crawler.name} alone.`
        : `Clients other than ${crawler.operator}'s crawlers also use ${labels(crawler.asns)}.`
    return makeCheck(name, 'not-applicable', detail)
  }
  if (snapshot.networks === undefined) {
    return makeCheck(name, 'could-not-run', 'No table of autonomous systems is loaded.')
  }
  if (finding.asn === undefined) {
    return makeCheck(name, 'could-not-run', 'The autonomous system of the address is not known.')
  }
  const found = `${formatAddress(address)} is in AS${finding.asn}`
  const alone = `which ${crawler.operator} alone uses`
  return crawler.asns.has(finding.asn)
    ? makeCheck(name, 'passed', `${found}, ${alone}.`)
    : makeCheck(name, 'refuted', `${found}, not in ${labels(crawler.asns, ' or ')}, ${alone}.`)
}

/** Reports whether the address is in a system that the operator does not send the crawler from. Unknown systems do not count. */
export function isForeignSystem({ systems }: Crawler, { finding }: ClaimedFrom): boolean {
  return systems.size > 0 && finding.asn !== undefined && !systems.has(finding.asn)
}

function labels(asns: ReadonlySet<number>, between = ', '): string {
  return [...asns].map((asn) => `AS${asn}`).join(between)
}

/**
 * Turns a refutation into a check that could not run, for an address that may not be the visitor's own, or a crawler that customers run on
 * their own machines. Otherwise a site that does not configure its proxy would accuse every crawler that comes through it.
 */
export function withoutRefutation(check: Check, why: string): Check {
  return check.status === 'refuted' && check.name !== 'catalogue' ? makeCheck(check.name, 'could-not-run', why) : check
}
