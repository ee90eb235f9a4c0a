import { LIST_AGES, type ListKind } from '@sallyport/data/list-ages'
import fc from 'fast-check'
import t from 'tap'
import { createCrawlerRanges } from '../src/crawler/ranges.ts'
import { createCrawlerVerifier } from '../src/crawler/verifier.ts'
import { classify, createCatalogue, createReverseChecks, DAY_MS, findCountry, NETWORK_CLASSES } from '../src/index.ts'
import { lifeDays, olderSource, shareKept, shareLeft } from '../src/network/ages.ts'
import type { AgingSource, NetworkRecord, Snapshot } from '../src/ports/index.ts'
import {
  createFakeClock,
  createFakeDns,
  createFakeNetworks,
  makeAddress,
  makeHit,
  makeSnapshot,
  makeStatus,
  makeSystem,
  readPrefix,
} from '../src/testing/fakes.ts'
import { agentInspector, makeRequest } from './agents.ts'
import { splitWords } from './support.ts'

const KINDS = LIST_AGES.map(({ kind }) => kind)
const TODAY = '2026-11-21T00:00:00Z'
const clock = createFakeClock(TODAY)
const daysAgo = (days: number) => new Date(clock.now() - days * DAY_MS).toISOString()

t.test('every kind begins whole, falls to a half, and says how long it is good', async (t) => {
  const odd = LIST_AGES.filter(({ kept, goodDays, note }) => {
    const isFalling = kept.every(([day, share], at) => {
      const [dayBefore, shareBefore] = kept[at - 1] ?? [-1, 1.01]
      return day > dayBefore && share < shareBefore
    })
    return !isFalling || kept[0]?.join() !== '0,1' || kept.at(-1)?.[1] !== 0.5 || goodDays <= 0 || note === ''
  })
  t.same(odd, [])
})

t.test('the share that is kept is linear between what was measured, and halves after that', async (t) => {
  const found = [-3, 0, 1, 7, 30, 90, 180, 550, 1_100].map((days) => shareKept('tor', days))
  t.same(found, [1, 1, 0.985, 0.953, 0.889, 0.802, 0.708, 0.5, 0.25])
  t.equal(Math.round(shareKept('tor', 4) * 1e4), 9690)
  t.equal(lifeDays('tor'), 550, 'an exit of half a year ago is more likely one than not')
  const falls = (kind: ListKind) =>
    fc.property(fc.nat(9_999), fc.nat(9_999), (days, more) => shareKept(kind, days + more) <= shareKept(kind, days))
  for (const kind of KINDS) fc.assert(falls(kind))
})

t.test('nothing is made of an age that is not known', async (t) => {
  const source: AgingSource = { id: 'a', ages: 'tor', lastTrue: '2020-01-01' }
  const now = clock.now()
  t.ok(shareLeft(source, now) < 0.5)
  t.same([shareLeft({ ...source, lastTrue: undefined }, now), shareLeft({ ...source, ages: undefined }, now)], [1, 1])
  t.equal(shareLeft(source, undefined), 1)
  const one = { source: 'a', date: '2026-01-02' }
  const other = { source: 'b', date: '2025-12' }
  t.same([olderSource(one, other), olderSource(other, one)], [other, other])
  t.same([olderSource(undefined, one), olderSource(one, undefined)], [one, one])
})

/** The sources that a made answer can rest on have an age in days and a kind each. */
const IDS = splitWords('list operators organisation-names rented-systems tor vpn proxies systems city')
const forEach = <Value>(value: fc.Arbitrary<Value>) =>
  fc.record(Object.fromEntries(IDS.map((id) => [id, value]))) as fc.Arbitrary<Readonly<Record<string, Value>>>
const ages = forEach(fc.nat(3_000))
const kinds = forEach(fc.constantFrom(...KINDS))

const record: fc.Arbitrary<Partial<NetworkRecord>> = fc.record(
  {
    range: fc
      .record({ networkClass: fc.constantFrom(...NETWORK_CLASSES), single: fc.boolean() })
      .map((hit) => makeHit({ ...hit, source: 'list' })),
    system: fc
      .record({
        networkClass: fc.constantFrom(...NETWORK_CLASSES),
        type: fc.constantFrom('hosting', 'isp', 'vpn'),
        basis: fc.constantFrom('operator', 'name'),
      })
      .map((system) => makeSystem({ asn: 64_500, ...system })),
  },
  { requiredKeys: [] },
)

type ByName<Value> = Readonly<Record<string, Value>>

function agedSnapshot(known: Partial<NetworkRecord>, days: ByName<number>, kind: ByName<ListKind>): Snapshot {
  const sources = IDS.map((id) => makeStatus({ id, ages: kind[id], lastTrue: daysAgo(days[id] ?? 0) }))
  const source = (id: string) => sources.find((one) => one.id === id)
  return makeSnapshot({
    networks: createFakeNetworks([['8.0.0.0/8', known]]),
    countries: { find: () => ({ code: 'AT', source: 'city', basis: 'city' }) },
    sources,
    restsOn: { tor: source('tor'), vpn: source('vpn'), proxies: source('proxies'), systems: source('systems') },
    proxiesLoaded: true,
    clock,
  })
}

t.test('an older source never makes an answer surer, nor another one, and the oldest is named', async () => {
  const address = makeAddress('8.1.1.1')
  fc.assert(
    fc.property(record, ages, kinds, fc.constantFrom(...IDS), fc.nat(3_000), (known, days, kind, id, more) => {
      const [young, old] = [days, { ...days, [id]: (days[id] ?? 0) + more }].map((all) => {
        const snapshot = agedSnapshot(known, all, kind)
        const finding = classify(address, snapshot)
        return { finding, country: findCountry(address, finding, snapshot), all }
      })
      if (young === undefined || old === undefined) return false
      const isSame = young.finding.verdict.classification === old.finding.verdict.classification
      const isNoSurer =
        old.finding.verdict.confidence <= young.finding.verdict.confidence &&
        (old.country?.confidence ?? 0) <= (young.country?.confidence ?? 0)
      const { oldest, source = '' } = old.finding
      const named = IDS.find((one) => one === source)
      const isNamed =
        named === undefined ||
        (oldest !== undefined && Date.parse(oldest.date) <= clock.now() - (old.all[named] ?? 0) * DAY_MS)
      return isSame && isNoSurer && isNamed
    }),
    { numRuns: 2_000 },
  )
})

t.test('an old list of a crawler confirms less and less, then not at all, and never refutes', async (t) => {
  const catalogue = createCatalogue()
  const crawler = catalogue.find('gptbot')
  if (crawler === undefined) return t.fail('no crawler')
  const reverse = createReverseChecks({ clock, dns: createFakeDns({}) })
  const verifier = createCrawlerVerifier(catalogue, { reverse })
  const listing = (days: number, ages: ListKind = 'crawler') => {
    const source = { id: 'bot-gptbot', ages, lastTrue: daysAgo(days) }
    const state = days > 14 ? 'stale' : 'fresh'
    const list = { slug: 'gptbot', state, source, prefixes: [readPrefix('8.1.0.0/16')] } as const
    return makeSnapshot({ ...createCrawlerRanges([list]), clock })
  }
  const judged = (ip: string, days: number, ages?: ListKind) => {
    const snapshot = listing(days, ages)
    const address = makeAddress(ip)
    return verifier.look(crawler, { address, finding: classify(address, snapshot), snapshot }).judgement
  }
  const kept = (days: number, kind?: ListKind) => {
    const judgement = judged('8.1.1.1', days, kind)
    return judgement.outcome === 'verified' ? judgement.decidedBy.listed?.kept : judgement.outcome
  }
  t.same([kept(0), kept(104), kept(365)], [1, 0.95, 0.94])
  t.same([kept(104, 'rented'), kept(551, 'rented')], [0.6, 'unverifiable'])
  t.equal(kept(3_651), 'unverifiable')
  for (const days of [15, 279, 9_999]) t.equal(judged('9.1.1.1', days).outcome, 'unverifiable', `${days} days`)
  const snapshots = { current: () => listing(104) }
  const { inspect } = agentInspector({ crawlers: verifier, snapshots })
  const inspection = inspect(makeRequest(['User-Agent', 'GPTBot/1.2'], { peer: '8.1.1.1' }))
  const oldest = { source: 'bot-gptbot', date: '2026-08-09' }
  t.match(inspection, { agent: { confidence: 0.94 }, crawler: { kept: 0.95, oldest }, oldest })
  const first = judged('8.1.1.1', 279)
  t.match(first, { decidedBy: { listed: { oldest: { source: 'bot-gptbot', date: '2026-02-15' } } } })
})
