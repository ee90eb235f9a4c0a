import t from 'tap'
import { compilePolicy, type InspectionRequest, parseTrust } from '../src/index.ts'
import type { InspectorOptions } from '../src/inspection/inspector.ts'
import {
  createFakeCountries,
  createFakeGeo,
  createFakeNetworks,
  makeSnapshots,
  makeSystem,
} from '../src/testing/fakes.ts'
import { agentInspector } from './agents.ts'

const HOME = makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean', country: 'DE' })
const NETWORKS = createFakeNetworks([['8.1.0.0/16', { system: HOME }]])
const COUNTRIES = createFakeCountries({ '8.1.1.1': 'AT' })
const SNAPSHOTS = makeSnapshots({ networks: NETWORKS, countries: COUNTRIES, geo: createFakeGeo({}) })
const CLOCK = { now: () => Date.parse('2026-11-21T01:02:03.004Z') }

const inspector = (options: Partial<InspectorOptions> = {}) =>
  agentInspector({ clock: CLOCK, snapshots: SNAPSHOTS, trust: parseTrust(['loopback'], 'x-forwarded-for'), ...options })

const ABOUT = { method: 'GET', target: '/a?b', scheme: 'http', httpVersion: '1.1' } as const
const REQUEST: InspectionRequest = { peer: '127.0.0.1', fields: [], ...ABOUT }
const FROM_HOME = ['X-Forwarded-For', '8.1.1.1']

t.test('an inspection is frozen, serialisable and says where everything came from', async (t) => {
  const inspection = inspector().inspect({ ...REQUEST, fields: FROM_HOME })
  t.match(inspection, {
    at: '2026-11-21T01:02:03.004Z',
    peer: '127.0.0.1',
    client: { address: '8.1.1.1', via: 'header', malformed: false },
    request: { method: 'GET', path: '/a' },
    network: { asn: 64_501, asName: 'Home', asCountry: 'DE', verdict: { method: 'asn' } },
    country: 'AT',
    countryFrom: { code: 'AT', source: 'city', basis: 'city', confidence: 0.98 },
    degraded: ['ranges'],
  })
  t.ok(deeplyFrozen(inspection))
  t.same(JSON.parse(JSON.stringify(inspection)), inspection)
})

t.test('a socket that is already gone is nobody, not everybody', async (t) => {
  const { client, network } = inspector().inspect({ ...REQUEST, peer: '' })
  t.same(client, { address: '', via: 'none', malformed: false })
  t.match(network, { reserved: { reserved: false }, verdict: { classification: 'unknown', confidence: 0 } })
})

t.test('a browser is one by its name and by the verdict', async (t) => {
  const faults: unknown[] = []
  const { isBrowser } = inspector({ onFault: (error) => faults.push(error) })
  const asked = (userAgent: string, ...more: readonly string[]) =>
    isBrowser({ ...REQUEST, fields: [...FROM_HOME, 'User-Agent', userAgent, 'Accept', '*/*', ...more] })
  for (const reader of ['Links (2.29; Linux 6.1 x86_64; text)', 'ELinks/0.16.1.1 (textmode)', 'NetSurf/3.10 (Linux)'])
    t.ok(asked(reader), reader)
  for (const other of ['', 'okhttp/4.12.0', 'Shop/2 CFNetwork/1494 Darwin/23.4.0', 'GPTBot/1.2', 'HeadlessChrome/142'])
    t.notOk(asked(other), other)
  const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0'
  t.ok(asked(firefox))
  t.notOk(asked(firefox, 'sec-ch-ua', '"Chromium";v="142"'), 'what contradicts itself is no person')
  t.notOk(isBrowser(REQUEST))
  t.same(faults, [])
})

t.test('forwarding headers that nobody is trusted to send are reported once', async (t) => {
  let told = 0
  const deaf = inspector({ trust: parseTrust([]), onForwardedUntrusted: () => told++ })
  deaf.inspect(REQUEST)
  t.equal(told, 0)
  for (let time = 0; time < 2; time++) deaf.inspect({ ...REQUEST, fields: FROM_HOME })
  t.equal(told, 1)
  inspector({ onForwardedUntrusted: () => told++ }).inspect({ ...REQUEST, fields: FROM_HOME })
  t.equal(told, 1, 'a trusted proxy is no news')
})

t.test('a client of this machine is reported once where no proxy is trusted', async (t) => {
  const peers = { '127.9.9.9': 1, '::1': 1, '::ffff:127.0.0.1': 1, '10.0.0.1': 0, '::2': 0, '8.1.1.1': 0 }
  for (const [peer, told] of Object.entries(peers)) {
    const count = { untrusting: 0, trusting: 0 }
    const untrusting = inspector({ trust: parseTrust([]), onLocalClient: () => count.untrusting++ })
    const trusting = inspector({ trust: parseTrust(['loopback']), onLocalClient: () => count.trusting++ })
    for (const one of [untrusting, untrusting, trusting]) one.inspect({ ...REQUEST, peer })
    t.same(count, { untrusting: told, trusting: 0 }, peer)
  }
})

t.test('a fault inside is data, never an exception at the host', async (t) => {
  const faults: unknown[] = []
  const current = (): never => {
    throw new Error('boom')
  }
  const snapshots = { current }
  const open = inspector({ snapshots, onFault: (error) => faults.push(error) })
  t.match(open.decide(REQUEST), { action: 'allow', enforced: true, reasons: [{ id: 'inspection_failed' }] })
  const policy = compilePolicy({ preset: 'observe', rules: [], onError: 'block' })
  t.match(inspector({ snapshots, policy }).decide(REQUEST), { action: 'block', enforced: true })
  t.match(inspector({ snapshots, policy, mode: 'monitor' }).decide(REQUEST), { action: 'block', enforced: false })
  t.equal(faults.length, 1)
  t.match(open.inspect(REQUEST), {
    client: { address: '', via: 'none' },
    network: { verdict: { classification: 'unknown', confidence: 0 } },
    degraded: ['geo', 'asn', 'ranges'],
  })
  t.equal(faults.length, 2)
})

t.test('an inspection names the oldest source that it rests on', async (t) => {
  const home = { ...REQUEST, fields: FROM_HOME }
  const source = { title: '', state: 'loaded', licence: '', credit: '', ages: 'route' } as const
  const clock = { now: () => Date.parse('2026-11-21T00:00:00Z') }
  const oldest = (table: string, city: string) => {
    const sources = [{ ...source, id: 'city', lastTrue: city }]
    const restsOn = { systems: { id: 'asn', ages: 'route', lastTrue: table } } as const
    const snapshots = { current: () => ({ ...SNAPSHOTS.current(), sources, restsOn, clock }) }
    return inspector({ snapshots }).inspect(home)
  }
  t.same(oldest('2026-06-17T00:00:00Z', '2026-06-05').oldest, { source: 'city', date: '2026-06-05' })
  t.same(oldest('2026-05-17T00:00:00Z', '2026-06-05').oldest, { source: 'asn', date: '2026-05-17' })
  t.match(oldest('2026-06-17', '2026-11-21').countryFrom, { confidence: 0.98, date: '2026-11-21' })
  t.match(oldest('2026-06-17', '2023-06-05').countryFrom, { confidence: 0.64 }, 'an old database is less sure')
  t.same(inspector().inspect(home).oldest, undefined, 'nothing says how old they are')
})

function deeplyFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true
  return Object.isFrozen(value) && Object.values(value).every(deeplyFrozen)
}
