import t from 'tap'
import { address4, classify, createFindings, findCountry, type KnownCountry, NETWORK_CLASSES } from '../src/index.ts'
import { computeConfidence, type Grounds } from '../src/network/confidence.ts'
import type { AgingSource, Observation, RangeHit, RestsOn, Snapshot } from '../src/ports/index.ts'
import {
  createFakeClock,
  createFakeNetworks,
  makeHit,
  makeSnapshot,
  makeStatus,
  makeSystem,
} from '../src/testing/fakes.ts'
import { RULE_TEXTS, type VerdictRule } from '../src/values/finding.ts'

const GROUNDS: Grounds = {
  ...{ rule: 'range_list', networkClass: 'vpn', narrow: false, agreeing: 0 },
  ...{ contradicted: false, proxiesKnown: 0, inDoubt: false },
}
const ADDRESS = address4(0x08010101)

const FRESH: AgingSource = { id: 'exits', ages: 'tor', lastTrue: '2026-11-21' }

/** Lists every combination of rule and class, with and without a row's own trust. */
const EVERY: readonly Grounds[] = (Object.keys(RULE_TEXTS) as VerdictRule[]).flatMap((rule) =>
  NETWORK_CLASSES.flatMap((networkClass) => [
    { ...GROUNDS, rule, networkClass },
    { ...GROUNDS, rule, networkClass, trust: 0.6 },
  ]),
)

function isRising(values: readonly number[]): boolean {
  return values.every((value, index) => index === 0 || value >= (values[index - 1] as number))
}

t.test('confidence is what verdicts.md says of it', async (t) => {
  for (const [grounds, confidence] of [
    [{ agreeing: 3, narrow: true }, 0.98],
    [{ rule: 'address_list', narrow: true, kept: 0.889 }, 0.85],
    [{ rule: 'exit_density' }, 0.7],
    [{ rule: 'operator_table' }, 0.85],
    [{ rule: 'mixed_system' }, 0.55],
    [{ rule: 'operator_table', networkClass: 'hosting', exitsKnown: 0.98 }, 0.83],
    [{ rule: 'operator_table', networkClass: 'hosting', exitsKnown: 0.1 }, 0.68],
    [{ rule: 'operator_table', networkClass: 'vpn', exitsKnown: 0.1 }, 0.85],
    [{ rule: 'mixed_system', agreeing: 3 }, 0.6],
    [{ rule: 'organisation_name' }, 0.7],
    [{ rule: 'system_prefixes' }, 0.6],
    [{ rule: 'override', kept: 0.1, contradicted: true }, 1],
    [{ rule: 'none' }, 0],
    [{ trust: 0.5 }, 0.5],
  ] as const)
    t.equal(computeConfidence({ ...GROUNDS, ...grounds }), confidence, JSON.stringify(grounds))
})

t.test('agreement, exactness and trust never lower it, age and contradiction never raise it', async (t) => {
  const rising: readonly (readonly [name: string, changes: readonly Partial<Grounds>[]])[] = [
    ['agreeing', [0, 1, 2, 3, 9].map((agreeing) => ({ agreeing }))],
    ['narrow', [{ narrow: false }, { narrow: true }]],
    ['trust', [0, 0.3, 0.6, 0.9, 1].map((trust) => ({ trust }))],
    ['age', [0, 0.3, 0.9, 1].map((kept) => ({ kept }))],
    ['age of the lists of exits', [0, 0.3, 0.9, 1].map((exitsKnown) => ({ exitsKnown }))],
    ['age of the lists of proxies', [0, 0.3, 0.9, 1].map((proxiesKnown) => ({ proxiesKnown }))],
    ['contradicted', [{ contradicted: true }, { contradicted: false }]],
    ['in doubt', [{ inDoubt: true }, { inDoubt: false }]],
  ]
  const falling = EVERY.flatMap((grounds) =>
    rising
      .filter(([, changes]) => !isRising(changes.map((change) => computeConfidence({ ...grounds, ...change }))))
      .map(([name]) => `${grounds.rule} ${grounds.networkClass}: ${name}`),
  )
  t.same(falling, [])
  const best = { agreeing: 9, narrow: true, trust: 1 }
  t.same(
    EVERY.filter((grounds) => computeConfidence(grounds) < 0 || computeConfidence({ ...grounds, ...best }) > 1),
    [],
  )
})

t.test('a home line is never sure while proxies cannot be seen', async (t) => {
  for (const grounds of EVERY.filter(({ networkClass }) => networkClass === 'residential_clean')) {
    if (grounds.rule === 'override' || grounds.rule === 'reserved') continue
    const best = { ...grounds, agreeing: 9, narrow: true, trust: 1 }
    t.ok(computeConfidence(best) <= 0.6, grounds.rule)
    t.ok(computeConfidence({ ...best, proxiesKnown: 1 }) <= 0.8, grounds.rule)
    t.ok(computeConfidence({ ...best, proxiesKnown: 1, inDoubt: true }) <= 0.5, grounds.rule)
  }
})

t.test('nor where its carrier has SIM cards under the same number, unless a list says which', async (t) => {
  const confidenceIn = (asn: number, range?: RangeHit) => {
    const system = makeSystem({ asn, type: 'isp', networkClass: 'residential_clean', basis: 'operator' })
    const networks = createFakeNetworks([['8.0.0.0/8', { system, ...(range === undefined ? {} : { range }) }]])
    return classify(ADDRESS, makeSnapshot({ networks, proxiesLoaded: true })).verdict.confidence
  }
  t.equal(confidenceIn(7_922), 0.8, 'lines alone')
  t.equal(confidenceIn(3_320), 0.5, 'lines and SIM cards')
  t.equal(confidenceIn(3_320, makeHit({ networkClass: 'residential_clean', source: 'geofeed' })), 0.8)
  t.equal(confidenceIn(3_320, makeHit({ networkClass: 'mobile', source: 'geofeed' })), 0.88)
})

t.test('nor is it as lists of proxies grow old', async (t) => {
  const system = makeSystem({ asn: 64_500, type: 'isp', networkClass: 'residential_clean', basis: 'operator' })
  const clock = createFakeClock('2026-11-21T12:00:00Z')
  const confidence = (more: Partial<Snapshot>) =>
    classify(ADDRESS, makeSnapshot({ networks: createFakeNetworks([['8.0.0.0/8', { system }]]), clock, ...more }))
      .verdict.confidence
  t.equal(confidence({ proxiesLoaded: false }), 0.6)
  t.equal(confidence({ proxiesLoaded: true }), 0.8, 'what nobody refreshes is not past its age')
  const listOn = (lastTrue: string) => {
    const restsOn: RestsOn = { tor: FRESH, vpn: FRESH, proxies: { id: 'proxies', ages: 'proxy', lastTrue } }
    return confidence({ proxiesLoaded: true, restsOn })
  }
  t.equal(listOn('2026-11-21'), 0.8)
  t.equal(listOn('2026-11-18'), 0.7, 'half is left')
  t.equal(listOn('2026-09-21'), 0.6)
  const without: RestsOn = { tor: FRESH }
  t.equal(confidence({ proxiesLoaded: true, restsOn: without }), 0.68, 'a missing list knows less than an old one')
})

t.test('classify hands over what it knows: agreement, width, age, and what cannot be true as well', async (t) => {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const confidence = (range: RangeHit, also: readonly RangeHit[] = [], more: object = {}, lastTrue?: string) => {
    const networks = createFakeNetworks([['8.0.0.0/8', { range, also, ...more }]])
    const sources = [makeStatus({ id: 'one', ages: 'range', lastTrue })]
    return classify(ADDRESS, makeSnapshot({ sources, networks, clock })).verdict.confidence
  }
  const list = makeHit({ networkClass: 'hosting', source: 'one' })
  t.equal(confidence(list), 0.88)
  t.equal(confidence({ ...list, narrow: true }), 0.9)
  t.equal(confidence(list, [], {}, '2025-11-21'), 0.66)
  t.equal(confidence(list, [], {}, '2026-12-01'), 0.88, 'a date to come is not an age')
  t.equal(confidence(list, [makeHit({ networkClass: 'hosting', source: 'two' })]), 0.93)
  t.equal(confidence(list, [makeHit({ networkClass: 'hosting', source: 'one' })]), 0.88, 'one with itself')
  t.equal(confidence(list, [makeHit({ networkClass: 'mobile', source: 'two' })]), 0.7)
  const home = makeSystem({ asn: 64_500, type: 'isp', networkClass: 'residential_clean' })
  t.equal(confidence(list, [], { system: home }), 0.7)
  t.equal(confidence({ ...list, networkClass: 'vpn' }, [], { system: home }), 0.88, 'a VPN can be anywhere')
})

t.test('findings of a record or country are made once a day, an observation is looked at every time', async (t) => {
  const clock = createFakeClock('2026-11-21T23:59:59Z')
  const range = makeHit({ networkClass: 'vpn', source: 'made' })
  const observed: Observation = { networkClass: 'tor', origin: 'operator', provider: '', setAt: 0, note: '' }
  const known: KnownCountry = { code: 'DE', source: 'made', basis: 'use' }
  let observation: Observation | undefined
  const snapshot = makeSnapshot({
    networks: createFakeNetworks([['8.0.0.0/8', { range, also: [] }]]),
    countries: { find: () => known },
    sources: [makeStatus({ id: 'made', ages: 'range', lastTrue: '2026-11-01' })],
    observations: { find: () => observation },
    clock,
    findings: createFindings(clock),
  })
  const first = classify(ADDRESS, snapshot)
  t.equal(classify(ADDRESS, snapshot), first, 'the same object')
  observation = observed
  t.equal(classify(ADDRESS, snapshot).verdict.classification, 'tor')
  observation = undefined
  t.equal(classify(ADDRESS, snapshot), first)
  const country = findCountry(ADDRESS, first, snapshot)
  t.equal(findCountry(ADDRESS, first, snapshot), country, 'the same country')
  clock.advance(1_000)
  const next = classify(ADDRESS, snapshot)
  t.not(next, first)
  t.not(findCountry(ADDRESS, first, snapshot), country)
  clock.advance(400 * 86_400_000)
  t.ok(classify(ADDRESS, snapshot).verdict.confidence < first.verdict.confidence)
  t.ok((findCountry(ADDRESS, first, snapshot)?.confidence ?? 1) < (country?.confidence ?? 0))
})
