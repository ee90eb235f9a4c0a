import { DATED_RANGES } from '@sallyport/data/crawlers'
import fc from 'fast-check'
import t from 'tap'
import { type Address, address4, formatAddress, parseAddress } from '../src/address/address.ts'
import { makePrefix, type Prefix, parsePrefix, prefixContains } from '../src/address/prefix.ts'
import { rangesCheck } from '../src/crawler/memory-checks.ts'
import { createCrawlerRanges, datedRanges, type LoadedRanges, type RangeList } from '../src/crawler/ranges.ts'
import { type Crawler, classify, createCatalogue, reservedRow } from '../src/index.ts'
import type { Snapshot } from '../src/ports/index.ts'
import { createFakeClock, makeAddress, makeSnapshot, readPrefix } from '../src/testing/fakes.ts'
import { readShared, skipWithout, splitWords } from './support.ts'

const PUBLISHED = 'crawlers/operator-ranges.json.gz'
const skip = skipWithout(PUBLISHED)

function list(id: string, state: RangeList['state'], date: string, ...cidrs: readonly string[]): RangeList {
  return { slug: id, state, date, prefixes: cidrs.map(readPrefix) }
}

t.test('it agrees with looking into every prefix', async (t) => {
  const cidr = fc
    .tuple(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 2, max: 8 }))
    .map(([value, length]) => makePrefix(address4(value), length))
  const lists = fc.array(
    fc
      .tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.array(cidr, { maxLength: 6 }))
      .map(([slug, prefixes]): RangeList => ({ slug, state: 'fresh', date: '2026-11-01', prefixes })),
    { maxLength: 5 },
  )
  fc.assert(
    fc.property(lists, fc.integer({ min: 0, max: 2 ** 32 - 1 }), (all, value) => {
      const address = address4(value)
      const plainly = all.filter(({ prefixes }) => prefixes.some((prefix) => prefixContains(prefix, address)))
      const { crawlerRanges } = createCrawlerRanges(all)
      return all.every(({ slug }) => crawlerRanges.holds(slug, address) === plainly.some((one) => one.slug === slug))
    }),
    { numRuns: 500 },
  )
  t.pass('no counterexample')
})

const catalogue = createCatalogue()
const DATED = datedRanges()
function findCrawler(slug: string): Crawler {
  const crawler = catalogue.find(slug)
  if (crawler === undefined) throw new TypeError(slug)
  return crawler
}

function rangesStatus(crawler: Crawler, address: Address, snapshot: Snapshot) {
  return rangesCheck(crawler, { address, finding: classify(address, snapshot), snapshot }, DATED).status
}

t.test('fresh ranges confirm and refute, stale ones confirm, missing ones say nothing', async (t) => {
  const status = (slug: string, ip: string, lists: readonly RangeList[] | undefined) =>
    rangesStatus(findCrawler(slug), makeAddress(ip), makeSnapshot(lists && createCrawlerRanges(lists)))
  const fresh = [list('googlebot', 'fresh', '2026-11-20', '8.1.0.0/16')]
  const stale = [list('googlebot', 'stale', '2026-01-01', '8.1.0.0/16')]
  t.equal(status('googlebot', '8.1.0.1', fresh), 'passed')
  t.equal(status('googlebot-image', '8.1.0.1', fresh), 'passed', 'one list for all of them')
  t.equal(status('googlebot', '8.2.0.1', fresh), 'refuted')
  t.equal(status('googlebot', '2600::1', fresh), 'could-not-run', 'a list without IPv6 says nothing of it')
  const six = list('googlebot', 'fresh', '2026-11-20', '2600:1::/32')
  const both = [...fresh, six, list('bingbot', 'fresh', '', '2601::/32')]
  t.equal(status('googlebot', '2600::1', both), 'refuted')
  t.equal(status('bingbot', '8.1.0.1', both), 'could-not-run', 'nor one without IPv4, whatever others publish')
  t.equal(status('googlebot', '8.1.0.1', stale), 'passed')
  t.equal(status('googlebot', '8.2.0.1', stale), 'could-not-run')
  t.equal(status('bingbot', '8.1.0.1', fresh), 'could-not-run', 'its list is missing')
  t.equal(status('googlebot', '8.1.0.1', []), 'could-not-run')
  t.equal(status('googlebot', '8.1.0.1', undefined), 'could-not-run')
  t.equal(status('discordbot', '8.1.0.1', fresh), 'not-applicable', 'its operator publishes none')
  t.equal(status('googlebot', '66.249.66.1', stale), 'passed', 'by a prefix that came with it')
  t.equal(status('googlebot', '66.249.66.1', undefined), 'passed')
  t.equal(status('googlebot', '66.249.66.1', fresh), 'refuted', 'a fresh list knows better: the operator gave it up')
  const { prefixes: _, ...gone } = list('googlebot', 'fresh', '2026-11-20')
  const crawlerRow: LoadedRanges['crawlerStatus'] = [...fresh, { ...gone, state: 'missing' }]
  const halfThere = makeSnapshot({ ...createCrawlerRanges(fresh), crawlerStatus: crawlerRow })
  const outside = (snapshot: Snapshot) => rangesStatus(findCrawler('googlebot'), makeAddress('8.2.0.1'), snapshot)
  t.equal(outside(halfThere), 'could-not-run', 'one file of two is missing')
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const { crawlerRanges, crawlerStatus } = createCrawlerRanges(fresh)
  const untilStale = crawlerStatus.map((row) => ({ ...row, staleAfter: clock.now() + 1000 }))
  const aging = makeSnapshot({ crawlerRanges, crawlerStatus: untilStale, clock })
  clock.advance(999)
  t.equal(outside(aging), 'refuted')
  clock.advance(1)
  t.equal(outside(aging), 'could-not-run', 'it grew stale while it was loaded')
  const own = [list('discordbot', 'fresh', '2026-11-20', '8.1.0.0/16')]
  t.equal(status('discordbot', '8.1.0.1', own), 'passed', 'a list of one’s own for it')
})

t.test('well-known crawlers verify on what comes with Sallyport, and nothing is refuted by it', async (t) => {
  const check = (slug: string, ip: string) => rangesStatus(findCrawler(slug), makeAddress(ip), makeSnapshot())
  for (const pair of splitWords(`
    googlebot=66.249.66.1 googlebot=2001:4860:4801:10::1 adsbot-google=66.249.90.77 bingbot=157.55.39.1
    gptbot=20.171.206.1 oai-searchbot=51.8.102.1 claudebot=216.73.216.1 perplexitybot=18.97.9.97
    applebot=17.241.75.1 ccbot=18.97.14.81
  `)) {
    const [slug = '', ip = ''] = pair.split('=')
    t.equal(check(slug, ip), 'passed', pair)
  }
  const refuted = catalogue.crawlers.filter(({ slug }) => check(slug, '73.162.10.20') === 'refuted')
  const wrong = refuted.map(({ slug }) => slug)
  t.same(wrong, [])
})

/** Lists of the data that are of no crawler of the catalogue: 3 % of its entries. */
const OF_OTHERS: ReadonlySet<string> = new Set(
  // Stripe's API has the last two, and Stripe's own requests come from others.
  splitWords('botify freshpingbot marginalia outageowl w3c-validator webpagetestbot stripe-api stripe-armada-gator'),
)

/** Lists of the data whose name is not the catalogue's. */
const LIST_NAMES = new Map(
  splitWords(`
    google-common-crawlers=googlebot google-special-crawlers=adsbot-google
    google-user-triggered-fetchers=feedfetcher-google google-user-triggered-fetchers-google=feedfetcher-google
    google-user-triggered-agents=google-agent facebookexternalhit-v4=facebookexternalhit
    facebookexternalhit-v6=facebookexternalhit twitterbot-v4=twitterbot twitterbot-v6=twitterbot
    pingdom-v6=pingdom stripe=stripe-webhook datadog=datadog-synthetics datadog-eu=datadog-synthetics
    newrelic-synthetics=newrelic updown-v4=updown updown-v6=updown sentry=sentry-uptime
    betteruptimebot=betterstack
  `).map((pair) => pair.split('=') as [string, string]),
)

t.test('published addresses verify for their own crawler and for no other operator’s', { skip }, async (t) => {
  const published: Readonly<Record<string, readonly string[]>> = JSON.parse(readShared(PUBLISHED))
  const entries = Object.entries(published).flatMap(([name, texts]) => {
    const id = LIST_NAMES.get(name) ?? name
    const crawler = catalogue.crawlers.find(({ slug, ranges }) => (ranges ?? slug) === id)
    t.equal(crawler === undefined, OF_OTHERS.has(name), name)
    return crawler === undefined ? [] : [{ id, crawler, texts }]
  })
  const read = (text: string) => {
    const address = parseAddress(text)
    return address === undefined ? parsePrefix(text) : makePrefix(address, address.family === 4 ? 32 : 128)
  }
  const lists = entries.map(
    ({ id, texts }): RangeList => ({
      slug: id,
      state: 'fresh',
      date: '2026-05-09',
      // The collector of these lists took page text for prefixes here and there; what is not public is no operator's.
      prefixes: texts.flatMap((text) => read(text) ?? []).filter(({ address }) => reservedRow(address) === undefined),
    }),
  )
  const snapshot = makeSnapshot(createCrawlerRanges(lists))
  const check = (crawler: Crawler, { address }: Prefix) => rangesStatus(crawler, address, snapshot)
  let own = 0
  let all = 0
  const shared = new Set<string>()
  for (const { crawler, texts } of entries) {
    for (const text of texts) {
      const prefix = read(text)
      if (prefix === undefined) continue
      all++
      if (check(crawler, prefix) === 'passed') own++
      for (const { crawler: other } of entries) {
        if (other.operator === crawler.operator || check(other, prefix) !== 'passed') continue
        shared.add(`${formatAddress(prefix.address)} ${[crawler.slug, other.slug].sort().join(' ')}`)
      }
    }
  }
  t.ok(own / all >= 0.995, `${own} of ${all} verify`)
  const offline = entries
    .filter(({ id }) => DATED_RANGES.some((list) => list.id === id))
    .flatMap(({ crawler, texts }) => texts.flatMap((text) => read(text) ?? []).map((of) => ({ crawler, ...of })))
  const verified = offline.filter(({ crawler, address }) => rangesStatus(crawler, address, makeSnapshot()) === 'passed')
  t.ok(verified.length / offline.length >= 0.8, `${verified.length} of ${offline.length} verify offline`)
  t.same([...shared], [], 'no address verifies for another operator')
})
