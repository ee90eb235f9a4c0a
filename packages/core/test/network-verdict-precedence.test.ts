import t from 'tap'
import { parseAddress } from '../src/address/address.ts'
import { CLASS_PRECEDENCE, classify } from '../src/network/classify.ts'
import type { AutonomousSystem, RangeHit, Snapshot } from '../src/ports.ts'
import { createFakeNetworks, snapshotOf, systemOf } from '../src/testing/fakes.ts'
import { anonymises, NETWORK_CLASSES, type NetworkClass } from '../src/vocabulary.ts'

const ADDRESS = '198.18.0.0'

function address(text: string) {
  const parsed = parseAddress(text)
  if (parsed === undefined) throw new TypeError(text)
  return parsed
}

function rangeOf(networkClass: NetworkClass, single = false): RangeHit {
  return { networkClass, single, provider: 'Listed', source: 'list' }
}

function snapshotWith(system: AutonomousSystem | undefined, range: RangeHit | undefined): Snapshot {
  const record = { ...(system === undefined ? {} : { system }), ...(range === undefined ? {} : { range }) }
  const sources = [
    { id: 'list', title: 'List', state: 'loaded', date: '2026-11-01', licence: 'CC0-1.0', credit: '' },
  ] as const
  return snapshotOf({ networks: createFakeNetworks([['8.0.0.0/8', record]]), sources })
}

t.test('a reserved address needs no table', async (t) => {
  const finding = classify(address(ADDRESS), snapshotOf())
  t.equal(finding.reserved.reserved, true)
  t.match(finding.reserved.detail, /RFC 2544/)
  t.same(finding.verdict, { classification: 'unknown', anonymized: false, confidence: 1, method: 'reserved' })
})

t.test('a reserved address stays reserved whatever the table holds', async (t) => {
  const networks = createFakeNetworks([['0.0.0.0/0', { range: rangeOf('tor') }]])
  t.equal(classify(address('10.1.2.3'), snapshotOf({ networks })).verdict.method, 'reserved')
})

t.test('nothing known is unknown with confidence 0, never residential', async (t) => {
  for (const snapshot of [
    snapshotOf(),
    snapshotWith(undefined, undefined),
    snapshotWith(systemOf({ asn: 64_500 }), undefined),
  ]) {
    const { verdict } = classify(address('8.1.1.1'), snapshot)
    t.same(verdict, { classification: 'unknown', anonymized: false, confidence: 0, method: 'asn' })
  }
})

t.test('an observation of the one address beats every prefix and operator', async (t) => {
  for (const networkClass of NETWORK_CLASSES) {
    const system = systemOf({ asn: 64_500, type: 'tor', networkClass: 'tor' })
    const { verdict } = classify(address('8.1.1.1'), snapshotWith(system, rangeOf(networkClass, true)))
    t.equal(verdict.classification, networkClass)
    t.equal(verdict.method, 'ip_state')
    t.equal(verdict.anonymized, anonymises(networkClass))
  }
})

t.test('of a range and an operator the stronger class wins, and a tie goes to the range', async (t) => {
  for (const [rangeRank, rangeClass] of CLASS_PRECEDENCE.entries()) {
    for (const [systemRank, systemClass] of CLASS_PRECEDENCE.entries()) {
      const system = systemOf({ asn: 64_500, type: 'hosting', networkClass: systemClass })
      const { verdict, source } = classify(address('8.1.1.1'), snapshotWith(system, rangeOf(rangeClass)))
      const rangeWins = rangeRank <= systemRank
      t.equal(verdict.classification, rangeWins ? rangeClass : systemClass)
      t.equal(verdict.method, rangeWins ? `range:${rangeClass}` : 'asn')
      t.equal(source, rangeWins ? 'list' : 'operators')
    }
  }
})

t.test('only the anonymising classes are anonymised', async (t) => {
  const anonymised = NETWORK_CLASSES.filter(
    (name) => classify(address('8.1.1.1'), snapshotWith(undefined, rangeOf(name))).verdict.anonymized,
  )
  t.same(anonymised, ['vpn', 'residential_proxy', 'tor'])
})

t.test('a home line is never sure while proxies cannot be seen', async (t) => {
  for (const basis of ['operator', 'name'] as const) {
    const system = systemOf({ asn: 64_500, type: 'isp', networkClass: 'residential_clean', basis })
    const { verdict } = classify(address('8.1.1.1'), snapshotWith(system, undefined))
    t.equal(verdict.classification, 'residential_clean')
    t.ok(verdict.confidence > 0 && verdict.confidence <= 0.6)
  }
})

t.test('a verdict names the data it came from', async (t) => {
  const ranged = classify(address('8.1.1.1'), snapshotWith(systemOf({ asn: 64_500, name: 'Example' }), rangeOf('vpn')))
  t.match(ranged, { source: 'list', sourceDate: '2026-11-01', asn: 64_500, asName: 'Example', provider: 'Listed' })
  const named = systemOf({ asn: 64_500, type: 'hosting', networkClass: 'hosting', basis: 'name', brand: 'Brand' })
  t.match(classify(address('8.1.1.1'), snapshotWith(named, undefined)), {
    source: 'organisation-names',
    provider: 'Brand',
  })
})

t.test('a provider is the brand of a service, not the carrier of a home line', async (t) => {
  const branded = (networkClass: NetworkClass) =>
    classify(address('8.1.1.1'), snapshotWith(systemOf({ asn: 64_500, networkClass, brand: 'Brand' }), undefined))
      .provider
  t.same(
    NETWORK_CLASSES.filter((name) => branded(name) === 'Brand'),
    ['hosting', 'datacenter', 'vpn', 'residential_proxy', 'tor'],
  )
})
