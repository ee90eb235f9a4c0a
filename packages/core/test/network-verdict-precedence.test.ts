import t from 'tap'
import { anonymises, classify, NETWORK_CLASSES, type NetworkClass, PRIVATE_RELAY, riskScore } from '../src/index.ts'
import { CLASS_PRECEDENCE, compareHits } from '../src/network/precedence.ts'
import { ratePurity } from '../src/network/purity.ts'
import type { AutonomousSystem, NetworkRecord, Observation, RangeHit, Snapshot } from '../src/ports/index.ts'
import { createFakeNetworks, makeAddress, makeHit, makeSnapshot, makeSystem } from '../src/testing/fakes.ts'

const VISITOR = '8.1.1.1'
/** The operator table says that this host rents to VPN services and to others. */
const M247 = 9_009
const NOTHING = { classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' }

function makeObservation(origin: Observation['origin'], networkClass: NetworkClass, provider = ''): Observation {
  return { origin, networkClass, provider, setAt: Date.UTC(2026, 10, 2), note: '' }
}

interface Known {
  readonly observation?: Observation | undefined
  readonly hits?: readonly RangeHit[] | undefined
  readonly system?: AutonomousSystem | undefined
}

function snapshotWith({ observation, hits = [], system }: Known): Snapshot {
  const [range, ...also] = hits.toSorted(compareHits)
  const record: Partial<NetworkRecord> = { system, ...(range === undefined ? {} : { range, also }) }
  return makeSnapshot({
    networks: createFakeNetworks([['8.0.0.0/8', record]]),
    ...(observation === undefined ? {} : { observations: { find: () => observation } }),
  })
}

const find = (known: Known) => classify(makeAddress(VISITOR), snapshotWith(known))
const verdictFor = (known: Known) => find(known).verdict

const system = (networkClass: NetworkClass) =>
  makeSystem({ asn: 64_500, type: networkClass === 'vpn' ? 'vpn' : 'hosting', networkClass })
const range = (networkClass: NetworkClass) => makeHit({ networkClass, source: 'list' })
const listed = (networkClass: NetworkClass) => makeHit({ networkClass, single: true, source: 'addresses' })

t.test('the steps of the precedence, each against all that come after it', async (t) => {
  // Every step as what alone would lead to it, and what it then says; strongest first.
  const steps: readonly (readonly [name: string, known: Known, classification: NetworkClass, method: string])[] = [
    ['operator override', { observation: makeObservation('operator', 'mobile') }, 'mobile', 'ip_state'],
    ['ip_state, listed', { hits: [listed('residential_proxy')] }, 'residential_proxy', 'ip_state'],
    ['tor', { hits: [range('tor')] }, 'tor', 'range:tor'],
    ['vpn', { hits: [range('vpn')] }, 'vpn', 'range:vpn'],
    ['residential_proxy', { hits: [range('residential_proxy')] }, 'residential_proxy', 'range:residential_proxy'],
    ['cloud, crawlers, services', { hits: [range('datacenter')] }, 'datacenter', 'range:datacenter'],
    ['other hosting', { hits: [range('hosting')] }, 'hosting', 'range:hosting'],
    ['mobile', { hits: [range('mobile')] }, 'mobile', 'range:mobile'],
    ['access networks', { system: system('residential_clean') }, 'residential_clean', 'asn'],
  ]
  for (const [step, [name, known, classification, method]] of steps.entries()) {
    t.match(verdictFor(known), { classification, method, anonymized: anonymises(classification) }, name)
    const weaker = steps.slice(step).map(([, other]) => other)
    const all = { ...Object.assign({}, ...weaker), hits: weaker.flatMap(({ hits = [] }) => hits) } as Known
    t.match(verdictFor(all), { classification, method }, `${name}, before ${weaker.length - 1} others`)
  }
})

t.test('an observation that an address is no VPN exit leaves no VPN brand as its provider', async (t) => {
  const mullvad = makeSystem({ asn: 39_351, type: 'vpn', networkClass: 'vpn', brand: 'Mullvad VPN' })
  const providerAs = (networkClass: NetworkClass, hits: Known['hits'] = []) =>
    find({ observation: makeObservation('operator', networkClass), system: mullvad, hits }).provider
  t.equal(providerAs('hosting'), '')
  t.equal(providerAs('hosting', [makeHit({ networkClass: 'vpn', source: 'list', provider: 'Mullvad VPN' })]), '')
  t.same([providerAs('vpn'), providerAs('tor')], ['Mullvad VPN', 'Mullvad VPN'])
})

t.test('a reserved address is reserved whatever is set, and nothing known is unknown, never residential', async (t) => {
  const observed = snapshotWith({ observation: makeObservation('operator', 'vpn') })
  const record = { range: listed('tor'), system: system('vpn') }
  const all = { ...observed, networks: createFakeNetworks([['0.0.0.0/0', record]]) }
  for (const visitor of ['10.1.2.3', '198.18.0.0']) {
    const finding = classify(makeAddress(visitor), all)
    t.same(finding.verdict, { classification: 'unknown', anonymized: false, confidence: 1, method: 'reserved' })
    t.equal(finding.rule, 'reserved')
    t.match(finding, { source: 'reserved', sourceDate: '2025-10-09' })
  }
  t.match(classify(makeAddress('198.18.0.0'), makeSnapshot()).reserved.detail, /RFC 2544/, 'and needs no table')
  t.same(classify(makeAddress(VISITOR), makeSnapshot()).verdict, NOTHING)
  t.same(verdictFor({}), NOTHING)
  t.same(verdictFor({ system: makeSystem({ asn: 64_500 }) }), NOTHING)
})

t.test('within ip_state the stronger class speaks, and what was set by hand before all', async (t) => {
  const seen = makeObservation('reverse-name', 'vpn', 'Tunnels')
  t.match(verdictFor({ observation: seen, hits: [listed('residential_proxy')] }), { classification: 'vpn' })
  t.match(verdictFor({ observation: seen, hits: [listed('tor')] }), { classification: 'tor' })
  t.match(verdictFor({ hits: [listed('mobile'), range('tor')], system: system('tor') }), { classification: 'mobile' })
  t.match(verdictFor({ observation: seen, hits: [range('tor')] }), { classification: 'vpn', method: 'ip_state' })
  t.match(verdictFor({ observation: makeObservation('operator', 'residential_clean'), hits: [listed('tor')] }), {
    classification: 'residential_clean',
    confidence: 1,
  })
})

t.test('the stronger class of a range and a system wins, and a tie goes to the range', async (t) => {
  const ranks = [...CLASS_PRECEDENCE.entries()]
  const pairs = ranks.flatMap(([rangeRank, rangeClass]) =>
    ranks.map(([rank, systemClass]) => ({ rangeClass, systemClass, rangeWins: rangeRank <= rank })),
  )
  for (const { rangeClass, systemClass, rangeWins } of pairs) {
    const known = snapshotWith({ hits: [range(rangeClass)], system: system(systemClass) })
    const { verdict, source, rule } = classify(makeAddress(VISITOR), known)
    const byRange = [rangeClass, `range:${rangeClass}`, 'list', 'range_list']
    const expected = rangeWins ? byRange : [systemClass, 'asn', 'operators', 'operator_table']
    t.same([verdict.classification, verdict.method, source, rule], expected, `${rangeClass} and ${systemClass}`)
  }
})

t.test('the private relay is distinguished from the VPN lists that hold it too', async (t) => {
  const relay = makeHit({ networkClass: 'vpn', provider: PRIVATE_RELAY, source: 'relay' })
  const known: Known = {
    hits: [makeHit({ networkClass: 'vpn', provider: 'Tunnels' }), range('vpn'), relay, range('datacenter')],
    system: makeSystem({ asn: 64_500, type: 'hosting', networkClass: 'datacenter', brand: 'Cloud' }),
  }
  const finding = find(known)
  t.match(finding, { provider: PRIVATE_RELAY, source: 'relay', verdict: { classification: 'vpn', anonymized: true } })
  t.ok(riskScore(finding) <= 35)
  const density = makeHit({ networkClass: 'vpn', rule: 'density', source: 'density' })
  t.match(find({ hits: [density, range('vpn')] }), { source: 'list' })
})

t.test('a verdict names the rule, the data it came from, its date, and who agrees', async (t) => {
  const dated = makeHit({ networkClass: 'vpn', source: 'list', date: '2026-11-01', provider: 'Listed' })
  const second = makeHit({ networkClass: 'vpn', source: 'second' })
  const agreeing = [range('hosting'), second, second]
  t.match(find({ hits: [dated, ...agreeing], system: system('vpn') }), {
    rule: 'range_list',
    source: 'list',
    sourceDate: '2026-11-01',
    asn: 64_500,
    provider: 'Listed',
    agreeing: ['second', 'operators'],
  })
  for (const [known, rule, source] of [
    [{ observation: makeObservation('operator', 'vpn') }, 'override', 'operator-overrides'],
    [{ observation: makeObservation('reverse-name', 'vpn') }, 'reverse_name', 'reverse-names'],
    [{ hits: [listed('tor')] }, 'address_list', 'addresses'],
    [{ hits: [makeHit({ networkClass: 'vpn', rule: 'density', source: 'dense' })] }, 'exit_density', 'dense'],
    [{ system: { ...system('hosting'), basis: 'operator' } }, 'operator_table', 'operators'],
    [{ system: { ...system('hosting'), basis: 'name' } }, 'organisation_name', 'organisation-names'],
    [{ system: { ...system('hosting'), basis: 'prefixes' } }, 'system_prefixes', 'system-prefixes'],
    [{ system: makeSystem({ asn: 64_500, type: 'hosting', networkClass: 'vpn' }) }, 'mixed_system', 'rented-systems'],
    [{ system: makeSystem({ asn: M247, type: 'hosting', networkClass: 'vpn' }) }, 'mixed_system', 'operators'],
  ] as const)
    t.match(find(known), { rule, source })
  t.equal(find({ observation: makeObservation('operator', 'vpn') }).sourceDate, '2026-11-02')
})

t.test('a provider is the brand of a service, not the carrier of a home line', async (t) => {
  const branded = (networkClass: NetworkClass, hits: readonly RangeHit[] = []) =>
    find({ system: makeSystem({ asn: 64_500, networkClass, brand: 'Brand' }), hits }).provider
  const found = NETWORK_CLASSES.filter((name) => branded(name) === 'Brand')
  t.same(found, ['hosting', 'datacenter', 'vpn', 'residential_proxy', 'tor'])
  t.equal(branded('residential_clean', [listed('residential_proxy')]), '', 'nor of a proxy on one')
  t.equal(branded('hosting', [range('vpn')]), 'Brand', 'whose machines they are, where the list does not say')
  t.equal(branded('residential_clean', [makeHit({ networkClass: 'mobile', provider: 'Carrier' })]), '')
})

t.test('lists of an operator’s machines come after lists that name a service', async (t) => {
  const machine = makeHit({ networkClass: 'datacenter', rule: 'published', source: 'edges', provider: 'Edge' })
  const classWith = (...hits: readonly RangeHit[]) => verdictFor({ hits: [machine, ...hits] }).classification
  t.equal(classWith(range('vpn')), 'datacenter')
  t.equal(classWith(range('residential_proxy')), 'datacenter')
  t.equal(classWith(makeHit({ networkClass: 'vpn', rule: 'density' })), 'datacenter')
  t.equal(classWith(makeHit({ networkClass: 'vpn', provider: 'Tunnels' })), 'vpn')
  t.equal(classWith(range('tor')), 'tor')
  t.equal(classWith(listed('vpn')), 'vpn')
  t.equal(verdictFor({ hits: [machine], system: system('vpn') }).classification, 'datacenter')
})

t.test('nothing of a mixed hoster wider than a /24 is a sign, and a list that names an owner is', async (t) => {
  const mixed = { ...system('vpn'), type: 'hosting' } as const
  const findingWith = (...hits: readonly RangeHit[]) => find({ hits, system: mixed })
  t.match(findingWith(range('vpn')), { rule: 'mixed_system', agreeing: ['list'], verdict: { confidence: 0.6 } })
  t.match(findingWith(range('hosting')), { rule: 'mixed_system', verdict: { classification: 'vpn', confidence: 0.55 } })
  t.match(findingWith({ ...range('vpn'), narrow: true }), { rule: 'range_list', verdict: { classification: 'vpn' } })
  t.match(findingWith({ ...range('hosting'), narrow: true }), { rule: 'mixed_system' })
  const owned = makeHit({ networkClass: 'hosting', provider: 'A Cloud' })
  t.match(findingWith(range('vpn'), owned), { rule: 'range_list', provider: 'A Cloud' })
  t.match(findingWith(listed('vpn')), { rule: 'address_list' })
})

t.test('listed proxies beside a line raise its risk, change no class, and end', async (t) => {
  const near = makeHit({ networkClass: 'residential_proxy', rule: 'neighbours', source: 'near', expires: 20_778 })
  const home = makeSystem({ asn: 64_500, type: 'isp', networkClass: 'residential_clean' })
  const findingAt = (day: number, line: AutonomousSystem) => {
    const networks = createFakeNetworks([['8.0.0.0/8', { system: line, near }]])
    return classify(makeAddress(VISITOR), makeSnapshot({ networks, clock: { now: () => day * 86_400_000 } }))
  }
  const suspect = findingAt(20_778, home)
  t.match(suspect, { near: 'near', verdict: { classification: 'residential_clean' } })
  t.ok(riskScore(suspect) >= riskScore(findingAt(20_779, home)) + 20)
  t.match(ratePurity(suspect).deductions, [{ factor: 'proxies_beside_it' }])
  t.equal(findingAt(20_779, home).near, undefined)
  t.equal(findingAt(20_778, system('hosting')).near, undefined, 'a machine is no line')
})
