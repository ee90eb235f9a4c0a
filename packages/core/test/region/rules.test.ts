import fc from 'fast-check'
import t from 'tap'
import { classify, locateRegion, type Match, policyFaults, type Rule } from '../../src/index.ts'
import { policyWarnings } from '../../src/policy/check/warnings.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { RegionTable, Snapshot } from '../../src/ports/index.ts'
import { createFakeNetworks, makeAddress, makeSnapshot, makeSnapshots, makeSystem } from '../../src/testing/fakes.ts'
import type { NetworkClass } from '../../src/vocabulary.ts'
import { agentInspector, makeRequest } from '../agents.ts'

/** Each visitor has a network of its own, and the data names a region for most of them. */
const LINES: Readonly<Record<string, string>> = {
  ...{ texan: 'US-TX', newYorker: 'US-NY', neighbour: 'US-NJ', basel: 'CH-BS', loerrach: 'DE-BW' },
  ...{ saintLouis: 'FR-GES', ulster: 'IE-U', northernIrish: 'GB-NIR', belfast: 'GB-BFS' },
  ...{ crimea: 'UA-43', sevastopol: 'UA-40', pristina: 'RS-25', kyiv: 'UA-30' },
}
const HIDDEN = { vpn: 'vpn', tor: 'tor', proxy: 'residential_proxy' } as const
const TEXANS: Record<string, NetworkClass> = { ...HIDDEN, carrier: 'mobile', server: 'hosting', cloud: 'datacenter' }
const lineAt = (code?: string) => ({ networkClass: 'residential_clean' as NetworkClass, asn: 64_500, code })
const PLACES: Readonly<Record<string, { networkClass: NetworkClass; asn: number; code?: string | undefined }>> = {
  ...Object.fromEntries(Object.entries(LINES).map(([name, code]) => [name, lineAt(code)])),
  nameless: lineAt(),
  ...Object.fromEntries(
    Object.entries(TEXANS).map(([name, networkClass]) => [name, { ...lineAt('US-TX'), networkClass }]),
  ),
  satellite: { ...lineAt('US-TX'), asn: 14_593 },
}
const NAMES = Object.keys(PLACES)
const KNOWN = NAMES.slice(0, NAMES.indexOf('crimea'))
const UNKNOWN = ['crimea', 'sevastopol', 'pristina', ...NAMES.slice(NAMES.indexOf('nameless'))]

const writeAddress = (name: string): string =>
  !NAMES.includes(name) ? 'no address' : `8.${NAMES.indexOf(name) + 1}.0.1`

const REGIONS: RegionTable = {
  find({ d }) {
    const { code } = PLACES[NAMES[((d >>> 16) & 255) - 1] ?? ''] ?? {}
    return code === undefined ? undefined : { code, source: 'made', basis: 'city' }
  },
}

const WITH_DATA: Partial<Snapshot> = {
  networks: createFakeNetworks(
    NAMES.map((name, at) => {
      const { networkClass = 'unknown', asn = 64_500 } = PLACES[name] ?? {}
      return [`8.${at + 1}.0.0/16`, { system: makeSystem({ asn, type: 'isp', networkClass }) }]
    }),
  ),
  regions: REGIONS,
  rangesLoaded: true,
}
const { regions: _, ...WITHOUT_DATA } = WITH_DATA

function createDecider(rules: readonly Rule[], snapshot: Partial<Snapshot> = WITH_DATA) {
  const policy = compilePolicy({ preset: 'observe', rules })
  const { decide } = agentInspector({ snapshots: makeSnapshots(snapshot), policy })
  return (name: string) => decide(makeRequest([], { peer: writeAddress(name) }))
}

const rule = (match: Match, more: Partial<Rule> = {}): Rule => {
  return { id: 'border', match, action: 'block', unknown: 'ignore', ...more }
}

const hits = (one: Rule, snapshot?: Partial<Snapshot>): readonly string[] => {
  const decide = createDecider([one], snapshot)
  return NAMES.filter((name) => decide(name).action === one.action)
}

t.test('a rule by region matches those in it, and says what the region rests on', async (t) => {
  const rows: Readonly<Record<string, readonly string[]>> = {
    'US-TX': ['texan'],
    'US-NY': ['newYorker'],
    'CH-BS CH-BL': ['basel'],
    'DE-BW': ['loerrach'],
    // A district is in the region that holds it, and Ulster is a province of Ireland too.
    'GB-NIR': ['northernIrish', 'belfast'],
    'GB-UKM': ['northernIrish', 'belfast'],
    'IE-U': ['ulster'],
  }
  for (const [codes, names] of Object.entries(rows)) t.same(hits(rule({ region: codes.split(' ') })), names, codes)
  const { region } = createDecider([])('texan').inspection
  t.same(region, { code: 'US-TX', source: 'made', basis: 'city', confidence: 0.75 })
  const decide = createDecider([rule({ region: ['US-TX'] }, { unknown: 'match' })])
  t.match(decide('nobody'), { action: 'block', inspection: { region: { doubt: 'no_data' } } })
})

t.test('a place of lines of other regions is not known, nor is that of a reserved address', async (t) => {
  const snapshot = makeSnapshot(WITH_DATA)
  const locate = (text: string, found: object) => {
    const regions = { find: () => ({ code: 'US-DC', source: 'made', basis: 'city', ...found }) as const }
    return locateRegion(makeAddress(text), classify(makeAddress(text), snapshot), { regions })
  }
  t.same(locate('8.1.0.1', { isVague: true }), { doubt: 'unsure' })
  t.same(locate('10.0.0.1', {}), { doubt: 'reserved' })
  t.match(locate('8.1.0.1', {}), { code: 'US-DC', confidence: 0.75 })
  t.match(locate('8.1.0.1', { basis: 'geofeed' }), { confidence: 0.98 })
})

t.test('Crimea and other disputed regions are not known, whatever the data says', async (t) => {
  for (const region of ['UA-43', 'UA-40', 'RS-25', 'RS-KM']) t.same(hits(rule({ region: [region] })), [], region)
  for (const name of ['crimea', 'sevastopol', 'pristina']) {
    t.same(createDecider([])(name).inspection.region, { doubt: 'disputed' }, name)
    t.ok(hits(rule({ region: ['sanctions:eu'] }, { unknown: 'match' })).includes(name), name)
    t.notOk(hits(rule({ not: { region: ['UA-30'] } })).includes(name), `${name} is not known to be elsewhere`)
  }
  t.same(hits(rule({ region: ['UA-30'] })), ['kyiv'], 'the rest of Ukraine is known')
})

t.test('VPNs, proxies, Tor, carriers, satellites and servers hide the region, and it is said why', async (t) => {
  const decide = createDecider([])
  const doubts = Object.fromEntries(NAMES.map((name) => [name, decide(name).inspection.region?.doubt]))
  t.match(doubts, { vpn: 'hidden', tor: 'hidden', proxy: 'hidden', carrier: 'carrier', server: 'server' })
  t.match(doubts, { cloud: 'server', satellite: 'satellite', nameless: 'no_data' })
})

for (const action of ['block', 'allow'] as const) {
  t.test(`a rule that ${action}s matches unknown regions only where it says so`, async (t) => {
    const fallback: Rule = { id: 'rest', match: {}, action: action === 'block' ? 'flag' : 'block' }
    const matches = (match: Match, unknown: 'match' | 'ignore', snapshot?: Partial<Snapshot>) => {
      const decide = createDecider([rule(match, { action, unknown }), fallback], snapshot)
      return NAMES.filter((name) => decide(name).reasons[0]?.id === 'policy:border')
    }
    const texas = { region: ['US-TX'] }
    t.same(matches(texas, 'ignore'), ['texan'])
    t.same(matches(texas, 'match').sort(), ['texan', ...UNKNOWN.filter((name) => name !== 'kyiv')].sort())
    t.same(matches(texas, 'ignore', WITHOUT_DATA), [], 'nobody without the city file')
    t.same(matches(texas, 'match', WITHOUT_DATA), NAMES, 'everybody without the city file')
    const abroad = { not: texas }
    t.same(matches(abroad, 'ignore').sort(), [...KNOWN.slice(1), 'kyiv'].sort())
    t.same(matches(abroad, 'match').sort(), NAMES.filter((name) => name !== 'texan').sort())
    t.same(matches(abroad, 'ignore', WITHOUT_DATA), [])
    t.same(matches(abroad, 'match', WITHOUT_DATA), NAMES)
  })
}

t.test('a region that the data knows less exactly than the rule is not known', async (t) => {
  const { region } = createDecider([])('northernIrish').inspection
  t.equal(region?.code, 'GB-NIR')
  t.same(hits(rule({ region: ['GB-BFS'] })), ['belfast'])
  t.ok(hits(rule({ region: ['GB-BFS'] }, { unknown: 'match' })).includes('northernIrish'))
  t.notOk(hits(rule({ not: { region: ['GB-BFS'] } })).includes('northernIrish'))
  t.notOk(hits(rule({ region: ['GB-BFS'] }, { unknown: 'match' })).includes('texan'))
})

t.test('beside a country a rule on unknown regions reaches no further than it', async (t) => {
  const countries = { find: () => ({ code: 'US', source: 'made', basis: 'city' }) as const }
  const match = { country: ['UA'], region: ['sanctions:eu'] }
  t.same(hits(rule(match, { unknown: 'match' }), { ...WITH_DATA, countries }), [])
  t.ok(hits(rule({ ...match, country: ['US'] }, { unknown: 'match' }), { ...WITH_DATA, countries }).includes('carrier'))
})

t.test('under a negation an unknown place never counts as outside, unless the rule says so', async (t) => {
  const codes = ['US-TX', 'US-NY', 'UA-43', 'GB-NIR', 'GB-BFS', 'CH-BS', 'sanctions:uk']
  const others: Match[] = [{}, { path: ['/**'] }, { method: ['GET'] }, { networkClass: ['tor', 'mobile', 'vpn'] }]
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.constantFrom(...codes), { minLength: 1 }),
      fc.constantFrom(...others),
      fc.constantFrom('block', 'allow', 'challenge', 'flag'),
      fc.constantFrom(...UNKNOWN.filter((name) => name !== 'kyiv')),
      fc.constantFrom(WITH_DATA, WITHOUT_DATA),
      (region, more, action, name, snapshot) => {
        const negated = rule({ not: { ...more, region } }, { action: action as Rule['action'] })
        const [reason] = createDecider([negated], snapshot)(name).reasons
        // Another word of the negation may fail alone, and then the negation holds in any region.
        const failsAlone = more.networkClass?.includes(PLACES[name]?.networkClass ?? 'unknown') === false
        return (reason?.id === 'policy:border') === failsAlone
      },
    ),
  )
  t.pass()
})

t.test('the status 451 goes with the decision of its rule, and with no other', async (t) => {
  const texas = rule({ region: ['US-TX'] }, { status: 451 })
  const decide = createDecider([texas, { id: 'all', match: {}, action: 'block' }])
  t.match(decide('texan'), { action: 'block', status: 451, reasons: [{ id: 'policy:border' }] })
  t.match(decide('newYorker'), { action: 'block', status: undefined })
  const tried = createDecider([rule({ region: ['US-TX'] }, { status: 451, monitor: true })])
  t.match(tried('texan'), { action: 'allow', status: undefined, trial: { action: 'block' } })
})

function listFaults(one: object): readonly string[] {
  const faults = policyFaults({ preset: 'observe', rules: [{ id: 'border', action: 'block', ...one } as Rule] })
  return faults.map(({ path, message }) => `${path.slice(2).join('.')}: ${message}`)
}

t.test('codes that are none are refused, and the one that is meant is named', async (t) => {
  for (const [code, message] of [
    ['US', /"US" is a country\. Use match\.country, or list its regions/],
    ['us-tx', /"us-tx" is unknown; did you mean "US-TX"\?/],
    ['USTX', /did you mean "US-TX"\?/],
    ['Texas', /did you mean "US-TX"\?/],
    ['UK', /"GB" is a country/],
    ['US–TX', /did you mean "US-TX"\?/],
    ['UK-NIR', /did you mean "GB-NIR"\?/],
    ['US-TXX', /did you mean "US-TX"\?/],
    ['FR-75', /"FR-75" is no longer a code of ISO 3166-2\. Use FR-75C/],
    ['NO-30', /ISO 3166-2\. Use NO-31, NO-32, NO-33/],
    ['XX-TX', /is unknown: expected an ISO 3166-2 code, like US-TX/],
    ['__proto__', /is unknown: expected an ISO 3166-2 code/],
    ['sanctions:usa', /"sanctions:usa" is unknown; did you mean "sanctions:us"\?/],
  ] as const) {
    const [fault = '', ...more] = listFaults({ match: { region: [code] }, unknown: 'ignore' })
    t.match(fault, message, code)
    t.match(fault, /^match\.region\.0: /)
    t.ok(more.every((one) => one.includes('no list')))
    t.match(listFaults({ match: { not: { region: [code] } }, unknown: 'ignore' })[0], message, `not ${code}`)
  }
})

t.test('a rule with a region says what holds where it is not known, and a permission needs a known one', async (t) => {
  const missing = /^unknown: a rule with match\.region must say .* match or ignore$/
  t.match(listFaults({ match: { region: ['US-TX'] } }), [missing])
  t.match(listFaults({ match: { not: { region: ['US-TX'] } } }), [/^unknown: a rule with match\.region must say/])
  t.match(listFaults({ match: { region: ['US-TX'] }, unknown: 'block' }), [/^unknown: "block" is unknown/])
  t.match(listFaults({ match: { country: ['US'] }, unknown: 'match' }), [/^unknown: applies only to rules with/])
  t.same(listFaults({ match: { region: ['US-TX'] }, unknown: 'match' }), [])
  const allows = { match: { region: ['US-TX'], userAgent: ['=curl/8'] }, action: 'allow' }
  t.same(listFaults({ ...allows, unknown: 'ignore' }), [])
  t.match(listFaults({ ...allows, unknown: 'match' }), [/clients can forge this/])
})

t.test('a status is 451, and for a rule that blocks without counting', async (t) => {
  const match = { path: ['/adult/**'] }
  t.same(listFaults({ match, status: 451 }), [])
  for (const status of [403, 200, 404, '451', 0]) t.match(listFaults({ match, status }), [/^status: .* expected 451/])
  for (const action of ['allow', 'flag', 'challenge'])
    t.match(listFaults({ match, status: 451, action }), [/^status: applies only to the action block/])
  const limit = { key: 'client', max: 1, window: '1m' }
  t.match(listFaults({ match, status: 451, limit }), [/^status: a rule with a limit/])
})

t.test('rules that never match, or match nearly everybody, are warned of', async (t) => {
  const listWarnings = (one: Rule) => policyWarnings({ preset: 'observe', rules: [one] }).map(({ message }) => message)
  t.match(listWarnings(rule({ region: ['UA-43', 'sanctions:us'] })), [/never matches, because no data covers these/])
  t.same(listWarnings(rule({ region: ['UA-43', 'US-TX'] })), [])
  t.match(listWarnings(rule({ region: ['US-TX'] }, { unknown: 'match' })), [/every client whose region is unknown/])
  t.same(listWarnings(rule({ region: ['US-TX'], country: ['US'] }, { unknown: 'match' })), [])
})
