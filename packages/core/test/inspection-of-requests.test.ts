import t from 'tap'
import { parseTrust } from '../src/address/client.ts'
import { createInspector, type InspectorOptions } from '../src/inspection/inspector.ts'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import {
  createFakeClock,
  createFakeCountries,
  createFakeGeo,
  createFakeNetworks,
  makeSnapshots,
  makeSystem,
} from '../src/testing/fakes.ts'
import type { InspectionRequest } from '../src/values/request.ts'

const SNAPSHOTS = makeSnapshots({
  networks: createFakeNetworks([
    [
      '8.1.0.0/16',
      {
        system: makeSystem({
          asn: 64_501,
          name: 'Home',
          type: 'isp',
          networkClass: 'residential_clean',
          country: 'DE',
        }),
      },
    ],
    ['2a00:1::/32', { system: makeSystem({ asn: 64_502, name: 'Racks', type: 'hosting', networkClass: 'hosting' }) }],
  ]),
  countries: createFakeCountries({ '8.1.1.1': 'AT', '10.0.0.1': 'XX' }),
  geo: createFakeGeo({}),
})

function inspector(options: Partial<InspectorOptions> = {}) {
  return createInspector({
    clock: createFakeClock('2026-11-21T01:02:03.004Z'),
    snapshots: SNAPSHOTS,
    trust: parseTrust(['loopback'], 'x-forwarded-for'),
    policy: compilePolicy({ preset: 'low-friction', rules: [] }),
    mode: 'enforce',
    ...options,
  })
}

const REQUEST: InspectionRequest = {
  peer: '127.0.0.1',
  method: 'GET',
  target: '/a?b',
  scheme: 'http',
  httpVersion: '1.1',
  fields: [],
}

t.test('an inspection is frozen, serialisable and says where everything came from', async (t) => {
  const inspection = inspector().inspect({ ...REQUEST, fields: ['X-Forwarded-For', '8.1.1.1'] })
  t.match(inspection, {
    at: '2026-11-21T01:02:03.004Z',
    peer: '127.0.0.1',
    client: { address: '8.1.1.1', via: 'header', malformed: false },
    request: { method: 'GET', path: '/a' },
    network: {
      asn: 64_501,
      asName: 'Home',
      asCountry: 'DE',
      verdict: { classification: 'residential_clean', method: 'asn' },
    },
    country: 'AT',
    countryFrom: { code: 'AT', source: 'city', basis: 'city', confidence: 0.98 },
    degraded: ['ranges'],
  })
  t.ok(deeplyFrozen(inspection))
  t.same(JSON.parse(JSON.stringify(inspection)), inspection)
})

t.test('a browser is one by its name and by the verdict', async (t) => {
  const faults: unknown[] = []
  const { isBrowser } = inspector({ onFault: (error) => faults.push(error) })
  const asked = (userAgent: string, ...fields: readonly string[]) =>
    isBrowser({
      ...REQUEST,
      fields: ['X-Forwarded-For', '8.1.1.1', 'User-Agent', userAgent, 'Accept', '*/*', ...fields],
    })
  const readers = [
    'Links (2.29; Linux 6.1 x86_64; text)',
    'ELinks/0.16.1.1 (textmode)',
    'w3m/0.5.3',
    'NetSurf/3.10 (Linux)',
  ]
  for (const reader of readers) t.ok(asked(reader), reader)
  const others = [
    '',
    'curl/8.5.0',
    'okhttp/4.12.0',
    'Shop/2 CFNetwork/1494.0.7 Darwin/23.4.0',
    'GPTBot/1.2',
    'HeadlessChrome/142',
  ]
  for (const other of others) t.notOk(asked(other), other)
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
  t.ok(asked(firefox))
  t.notOk(asked(firefox, 'sec-ch-ua', '"Chromium";v="142"'), 'what contradicts itself is no person')
  t.notOk(isBrowser(REQUEST))
  t.same(faults, [])
})

t.test('a reserved client has no country', async (t) => {
  const inspection = inspector({ trust: parseTrust([]) }).inspect({ ...REQUEST, peer: '10.0.0.1' })
  t.equal(inspection.network.verdict.method, 'reserved')
  t.notOk('country' in inspection)
})

t.test('a socket that is already gone is nobody, not everybody', async (t) => {
  const inspection = inspector().inspect({ ...REQUEST, peer: '' })
  t.same(inspection.client, { address: '', via: 'none', malformed: false })
  t.match(inspection.network, { reserved: { reserved: false }, verdict: { classification: 'unknown', confidence: 0 } })
})

t.test('forwarding headers that nobody is trusted to send are reported once', async (t) => {
  let told = 0
  const deaf = inspector({ trust: parseTrust([]), onForwardedUntrusted: () => told++ })
  deaf.inspect(REQUEST)
  t.equal(told, 0)
  deaf.inspect({ ...REQUEST, fields: ['X-Forwarded-For', '8.1.1.1'] })
  deaf.inspect({ ...REQUEST, fields: ['X-Forwarded-For', '8.1.1.1'] })
  t.equal(told, 1)
  inspector({ onForwardedUntrusted: () => told++ }).inspect({ ...REQUEST, fields: ['X-Forwarded-For', '8.1.1.1'] })
  t.equal(told, 1, 'a trusted proxy is no news')
})

t.test('a client of this machine is reported once where no proxy is trusted', async (t) => {
  for (const [peer, told] of [
    ['127.0.0.1', 1],
    ['127.9.9.9', 1],
    ['::1', 1],
    ['::ffff:127.0.0.1', 1],
    ['10.0.0.1', 0],
    ['::2', 0],
    ['8.1.1.1', 0],
  ] as const) {
    const count = { untrusting: 0, trusting: 0 }
    const untrusting = inspector({ trust: parseTrust([]), onLocalClient: () => count.untrusting++ })
    const trusting = inspector({ trust: parseTrust(['loopback']), onLocalClient: () => count.trusting++ })
    for (const one of [untrusting, untrusting, trusting]) one.inspect({ ...REQUEST, peer })
    t.same(count, { untrusting: told, trusting: 0 }, peer)
  }
})

t.test('a fault inside is data, never an exception at the host', async (t) => {
  const faults: unknown[] = []
  const snapshots = {
    current: () => {
      throw new Error('boom')
    },
  }
  const open = inspector({ snapshots, onFault: (error) => faults.push(error) })
  t.match(open.decide(REQUEST), { action: 'allow', enforced: true, reasons: [{ id: 'inspection_failed' }] })
  const policy = compilePolicy({ preset: 'observe', rules: [], onError: 'block' })
  t.match(inspector({ snapshots, policy }).decide(REQUEST), { action: 'block', enforced: true })
  t.match(inspector({ snapshots, policy, mode: 'monitor' }).decide(REQUEST), {
    action: 'block',
    enforced: false,
  })
  t.equal(faults.length, 1)
  t.match(open.inspect(REQUEST), {
    client: { address: '', via: 'none' },
    network: { verdict: { classification: 'unknown', confidence: 0 } },
    degraded: ['geo', 'asn', 'ranges'],
  })
  t.equal(faults.length, 2)
})

t.test('an inspection names the oldest source that it rests on', async (t) => {
  const home = { ...REQUEST, fields: ['X-Forwarded-For', '8.1.1.1'] }
  const source = { title: '', state: 'loaded', licence: '', credit: '', ages: 'route' } as const
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const oldest = (table: string, city: string) => {
    const sources = [{ ...source, id: 'city', lastTrue: city }]
    const restsOn = { systems: { id: 'asn', ages: 'route', lastTrue: table } } as const
    return inspector({ snapshots: { current: () => ({ ...SNAPSHOTS.current(), sources, restsOn, clock }) } }).inspect(
      home,
    )
  }
  t.same(oldest('2026-06-17T00:00:00Z', '2026-06-05').oldest, { source: 'city', date: '2026-06-05' })
  t.same(oldest('2026-05-17T00:00:00Z', '2026-06-05').oldest, { source: 'asn', date: '2026-05-17' })
  t.match(oldest('2026-06-17', '2026-11-21').countryFrom, { confidence: 0.98, date: '2026-11-21' })
  t.match(oldest('2026-06-17', '2023-06-05').countryFrom, { confidence: 0.64 }, 'an old database is less sure')
  t.same(inspector().inspect(home).oldest, undefined, 'nothing says how old they are')
})

t.test('nothing loaded is said, not guessed', async (t) => {
  const decision = inspector({ snapshots: makeSnapshots() }).decide({ ...REQUEST, peer: '8.1.1.1' })
  t.match(decision, {
    action: 'flag',
    inspection: { network: { verdict: { classification: 'unknown' } }, degraded: ['geo', 'asn', 'ranges'] },
  })
})

function deeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(deeplyFrozen)
}
