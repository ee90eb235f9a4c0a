import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { DATED_RANGES } from '@sallyport/data/crawlers'
import fc from 'fast-check'
import t from 'tap'
import { address4, formatAddress, parseAddress } from '../src/address/address.ts'
import { makePrefix, type Prefix, parsePrefix, prefixContains } from '../src/address/prefix.ts'
import { reservedRow } from '../src/address/reserved.ts'
import { type Crawler, createCatalogue } from '../src/crawler/catalogue.ts'
import { rangesCheck } from '../src/crawler/memory-checks.ts'
import { createCrawlerRanges, datedRanges, type LoadedRanges, type RangeList } from '../src/crawler/ranges.ts'
import { classify } from '../src/network/classify.ts'
import { createFakeClock, makeAddress, makeSnapshot, prefixOfText } from '../src/testing/fakes.ts'

const DATA = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data')
const PUBLISHED = join(DATA, 'crawlers/operator-ranges.json.gz')
const skip = existsSync(PUBLISHED) ? false : 'the published ranges are not here'

function list(id: string, state: RangeList['state'], date: string, ...cidrs: readonly string[]): RangeList {
  return { slug: id, state, date, prefixes: cidrs.map(prefixOfText) }
}

t.test('every list that holds an address is found, however they nest', async (t) => {
  const { crawlerRanges: ranges } = createCrawlerRanges([
    list('wide', 'fresh', '2026-11-01', '8.0.0.0/8', '2600::/16'),
    list('middle', 'fresh', '2026-11-01', '8.8.0.0/16'),
    list('narrow', 'fresh', '2026-11-01', '8.8.8.0/24', '2600:1::/32'),
    list('same', 'fresh', '2026-11-01', '8.8.8.0/24'),
  ])
  const find = (text: string) => [...ranges.find(makeAddress(text))].sort()
  t.same(find('8.8.8.8'), ['middle', 'narrow', 'same', 'wide'])
  t.same(find('8.8.9.1'), ['middle', 'wide'])
  t.same(find('8.9.0.1'), ['wide'])
  t.same(find('9.0.0.1'), [])
  t.same(find('2600:1::5'), ['narrow', 'wide'])
  t.same(find('::ffff:8.8.8.8'), ['middle', 'narrow', 'same', 'wide'])
})

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
      const found = createCrawlerRanges(all).crawlerRanges.find(address)
      return [...found].sort().join() === [...new Set(plainly.map(({ slug }) => slug))].sort().join()
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

t.test('fresh ranges confirm and refute, stale ones confirm, missing ones say nothing', async (t) => {
  const status = (slug: string, ip: string, lists: readonly RangeList[] | undefined) => {
    const snapshot = makeSnapshot(lists && createCrawlerRanges(lists))
    const address = makeAddress(ip)
    return rangesCheck(findCrawler(slug), { address, finding: classify(address, snapshot), snapshot }, DATED).status
  }
  const fresh = [list('googlebot', 'fresh', '2026-11-20', '8.1.0.0/16')]
  const stale = [list('googlebot', 'stale', '2026-01-01', '8.1.0.0/16')]
  t.equal(status('googlebot', '8.1.0.1', fresh), 'passed')
  t.equal(status('googlebot-image', '8.1.0.1', fresh), 'passed', 'one list for all of them')
  t.equal(status('googlebot', '8.2.0.1', fresh), 'refuted')
  t.equal(status('googlebot', '2600::1', fresh), 'could-not-run', 'a list without IPv6 says nothing of it')
  const both = [
    ...fresh,
    list('googlebot', 'fresh', '2026-11-20', '2600:1::/32'),
    list('bingbot', 'fresh', '', '2601::/32'),
  ]
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
  const parts: LoadedRanges = {
    ...createCrawlerRanges(fresh),
    crawlerStatus: [...fresh, { ...gone, state: 'missing' }],
  }
  const refuting = makeSnapshot(parts)
  const outside = makeAddress('8.2.0.1')
  const halfThere = { address: outside, finding: classify(outside, refuting), snapshot: refuting }
  t.equal(rangesCheck(findCrawler('googlebot'), halfThere, DATED).status, 'could-not-run', 'one file of two is missing')
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const { crawlerRanges, crawlerStatus } = createCrawlerRanges(fresh)
  const aging = makeSnapshot({
    crawlerRanges,
    crawlerStatus: crawlerStatus.map((row) => ({ ...row, staleAfter: clock.now() + 1000 })),
    clock,
  })
  const judge = () => rangesCheck(findCrawler('googlebot'), { ...halfThere, snapshot: aging }, DATED).status
  clock.advance(999)
  t.equal(judge(), 'refuted')
  clock.advance(1)
  t.equal(judge(), 'could-not-run', 'it grew stale while it was loaded')
  const own = [list('discordbot', 'fresh', '2026-11-20', '8.1.0.0/16')]
  t.equal(status('discordbot', '8.1.0.1', own), 'passed', 'a list of one’s own for it')
})

t.test('well-known crawlers verify on what comes with Sallyport, and nothing is refuted by it', async (t) => {
  const snapshot = makeSnapshot()
  const check = (slug: string, ip: string) => {
    const address = makeAddress(ip)
    return rangesCheck(findCrawler(slug), { address, finding: classify(address, snapshot), snapshot }, DATED).status
  }
  for (const [slug, ip] of [
    ['googlebot', '66.249.66.1'],
    ['googlebot', '2001:4860:4801:10::1'],
    ['adsbot-google', '66.249.90.77'],
    ['bingbot', '157.55.39.1'],
    ['gptbot', '20.171.206.1'],
    ['oai-searchbot', '51.8.102.1'],
    ['claudebot', '216.73.216.1'],
    ['perplexitybot', '18.97.9.97'],
    ['applebot', '17.241.75.1'],
    ['ccbot', '18.97.14.81'],
  ] as const) {
    t.equal(check(slug, ip), 'passed', `${slug} ${ip}`)
  }
  const refuted = catalogue.crawlers.filter(({ slug }) => check(slug, '73.162.10.20') === 'refuted')
  t.same(
    refuted.map(({ slug }) => slug),
    [],
  )
})

/** Lists of the data that are of no crawler of the catalogue: 3 % of its entries. */
const OF_OTHERS: ReadonlySet<string> = new Set([
  'botify',
  'freshpingbot',
  'marginalia',
  'outageowl',
  'w3c-validator',
  'webpagetestbot',
  // Stripe's API has these addresses, and Stripe's own requests come from others.
  'stripe-api',
  'stripe-armada-gator',
])

/** Lists of the data whose name is not the catalogue's. */
const LIST_NAMES: Readonly<Record<string, string>> = {
  'google-common-crawlers': 'googlebot',
  'google-special-crawlers': 'adsbot-google',
  'google-user-triggered-fetchers': 'feedfetcher-google',
  'google-user-triggered-fetchers-google': 'feedfetcher-google',
  'google-user-triggered-agents': 'google-agent',
  'facebookexternalhit-v4': 'facebookexternalhit',
  'facebookexternalhit-v6': 'facebookexternalhit',
  'twitterbot-v4': 'twitterbot',
  'twitterbot-v6': 'twitterbot',
  'pingdom-v6': 'pingdom',
  stripe: 'stripe-webhook',
  datadog: 'datadog-synthetics',
  'datadog-eu': 'datadog-synthetics',
  'newrelic-synthetics': 'newrelic',
  'updown-v4': 'updown',
  'updown-v6': 'updown',
  sentry: 'sentry-uptime',
  betteruptimebot: 'betterstack',
}

t.test('published addresses verify for their own crawler and for no other operator’s', { skip }, async (t) => {
  const published: Readonly<Record<string, readonly string[]>> = JSON.parse(
    gunzipSync(readFileSync(PUBLISHED)).toString(),
  )
  const entries = Object.entries(published).flatMap(([name, texts]) => {
    const id = LIST_NAMES[name] ?? name
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
  const check = (crawler: Crawler, prefix: Prefix) => {
    const { address } = prefix
    return rangesCheck(crawler, { address, finding: classify(address, snapshot), snapshot }, DATED).status
  }
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
  const unlisted = makeSnapshot()
  const offline = entries
    .filter(({ id }) => DATED_RANGES.some((list) => list.id === id))
    .flatMap(({ crawler, texts }) =>
      texts.flatMap((text) => read(text) ?? []).map((prefix) => ({ crawler, ...prefix })),
    )
  const verified = offline.filter(({ crawler, address }) => {
    return (
      rangesCheck(crawler, { address, finding: classify(address, unlisted), snapshot: unlisted }, DATED).status ===
      'passed'
    )
  })
  t.comment(`${verified.length} of ${offline.length} of the lists that come with it verify offline`)
  t.ok(verified.length / offline.length >= 0.8)
  t.same([...shared], [], 'no address verifies for another operator')
})
