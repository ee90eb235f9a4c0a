import t from 'tap'
import { createLookup, type Whois } from '../src/index.ts'
import type { NameAnswer, Snapshot } from '../src/ports/index.ts'
import {
  createFakeClock,
  createFakeDns,
  createFakeGeo,
  createFakeNetworks,
  createFakeWhois,
  makeAddress,
  makeSnapshot,
  makeSystem,
} from '../src/testing/fakes.ts'
import { splitWords } from './support.ts'

const found = (...texts: readonly string[]) => ({ state: 'found', addresses: texts.map(makeAddress) }) as const

const VPN = { type: 'vpn', networkClass: 'vpn' } as const
const NETWORKS = createFakeNetworks([
  ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, name: 'Tunnels', ...VPN, brand: 'Tunnels', country: 'SE' }) }],
])

const FULL = makeSnapshot({
  networks: NETWORKS,
  rangesLoaded: true,
  geo: createFakeGeo({ '8.3.0.1': { countryCode: 'SE', city: 'Malmö', latitude: 55.6, longitude: 13 } }),
})

type Names = Readonly<Record<string, NameAnswer>>

function lookupIn(snapshot: Snapshot, names: Names = {}, whois: Whois = createFakeWhois()) {
  return createLookup({
    clock: createFakeClock('2026-11-21T00:00:00Z'),
    dns: createFakeDns(names),
    snapshots: { current: () => snapshot },
    whois,
  })
}

t.test('an address is answered whole', async (t) => {
  t.same(await lookupIn(FULL).lookup('8.3.0.1'), {
    target: { raw: '8.3.0.1', kind: 'ipv4', ip: '8.3.0.1' },
    reserved: { reserved: false },
    verdict: { classification: 'vpn', anonymized: true, confidence: 0.85, method: 'asn' },
    purity: {
      score: 45,
      grade: 'B',
      verdict: 'dirty',
      deductions: [{ factor: 'vpn', points: -55, detail: 'The address is an exit of a VPN or relay service.' }],
    },
    isVpn: true,
    isProxy: true,
    isTor: false,
    provider: 'Tunnels',
    riskScore: 63,
    networkType: 'vpn',
    geo: { ip: '8.3.0.1', country: 'Sweden', countryCode: 'SE', city: 'Malmö', latitude: 55.6, longitude: 13 },
    asn: { ip: '8.3.0.1', asn: 'AS64503', name: 'Tunnels', type: 'vpn', country: 'SE' },
    degraded: [],
    at: '2026-11-21T00:00:00.000Z',
  })
})

t.test('lists that are old or missing make the verdict less sure, and degrade nothing', async (t) => {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const list = { id: 'operators', title: '', state: 'loaded', licence: '', credit: '', ages: 'range' } as const
  const at = async (lastTrue: string) => {
    const sources = [{ ...list, lastTrue }]
    return lookupIn({ ...FULL, clock, sources, rangesLoaded: false, restsOn: {} }).lookup('8.3.0.1')
  }
  const [young, old] = [await at('2026-11-21'), await at('2025-11-21')]
  t.same([young.degraded, old.degraded], [[], []])
  t.ok(old.verdict.confidence < young.verdict.confidence)
  t.same(old.oldest, { source: 'operators', date: '2025-11-21' })
  t.equal(old.isVpn, true)
})

t.test('a hostname says which of its addresses was looked at', async (t) => {
  const names = {
    'one.example.com': found('2a00:1::1', '10.0.0.1', '8.3.0.1'),
    'six.example.com': found('2a00:1::1'),
  }
  const lookup = lookupIn(FULL, names)
  t.match(await lookup.lookup('https://One.Example.com./x'), {
    target: { kind: 'hostname', hostname: 'one.example.com', ip: '8.3.0.1' },
  })
  t.match(await lookup.lookup('six.example.com'), { target: { ip: '2a00:1::1' } })
})

t.test('a lookup by name discloses no address inside a network', async (t) => {
  const inside = splitWords('10.0.0.1 127.0.0.1 169.254.169.254 100.64.0.1 ::1 fd00::1 fe80::1 64:ff9b::a00:1')
  const [first = ''] = inside
  const names = Object.fromEntries([
    ['inside.example.com', found(...inside)],
    ['both.example.com', found(...inside, '8.3.0.1', '2a00:1::1')],
    ...inside.map((text, at) => [`n${at}.example.com`, found(text)] as const),
  ])
  const whois = createFakeWhois()
  const lookup = lookupIn(FULL, names, whois)
  const readRefusal = async (name: string) =>
    lookup.lookup(name).then(
      () => 'answered',
      ({ code, message, details }) => [code, message.replaceAll(name, 'NAME'), details],
    )
  const absent = await readRefusal('nowhere.example.com')
  const sentence = 'The hostname NAME could not be resolved: it has no public address.'
  t.strictSame(absent, ['unresolved_target', sentence, undefined])
  for (const name of Object.keys(names).filter((name) => name !== 'both.example.com'))
    t.strictSame(await readRefusal(name), absent, `${name}: as a name that is not there`)
  const down = lookupIn(FULL, { 'down.example.com': { state: 'failed', reason: 'timeout' } })
  await t.rejects(down.lookup('down.example.com'), { code: 'unresolved_target', message: /no answer/ })
  t.strictSame(whois.asked, [], 'and no registry hears of it')
  const both = await lookup.lookup('both.example.com')
  t.match(both, { target: { ip: '8.3.0.1' }, reserved: { reserved: false }, degraded: [] })
  for (const text of inside) t.notOk(JSON.stringify(both).includes(`"${text}"`), text)
  t.match(await lookup.lookup(first), { target: { ip: first }, reserved: { reserved: true } }, 'a literal is answered')
  t.match(await lookup.lookup(`http://${first}/`), { target: { ip: first }, reserved: { reserved: true } })
})

t.test('a hostname comes with the registration of its domain', async (t) => {
  const registrar = { registrar: 'Example Registrar', nameservers: ['ns.example.com'] }
  const record = { ...registrar, status: ['ok'], privacyProtection: true }
  const whois = createFakeWhois({
    'example.com': { state: 'registered', domain: 'example.com', record },
    'example.co.uk': { state: 'failed', domain: 'example.co.uk', reason: 'throttled' },
    'example.net': { state: 'reserved', domain: 'example.net' },
  })
  const names = ['www.example.com', 'a.b.example.co.uk', 'example.net', 'example.org', 'co.uk']
  const lookup = lookupIn(FULL, Object.fromEntries(names.map((name) => [name, found('8.3.0.1')])), whois)
  const read = async (target: string) => {
    const { whois, degraded } = await lookup.lookup(target)
    return { whois, degraded }
  }
  t.strictSame(await read('https://www.example.com/'), { whois: { domain: 'example.com', ...record }, degraded: [] })
  t.strictSame(await read('a.b.example.co.uk'), { whois: undefined, degraded: ['whois'] }, 'it is unknown')
  for (const name of ['example.net', 'example.org', 'co.uk'])
    t.strictSame(await read(name), { whois: undefined, degraded: [] }, `${name}: the registry has none`)
  for (const target of ['8.3.0.1', '8.3.0.0/16', 'http://8.3.0.1/', 'nowhere.example.com'])
    await lookup.lookup(target).catch(() => undefined)
  t.strictSame(whois.asked, ['example.com', 'example.co.uk', 'example.net', 'example.org'])
})

t.test('WHOIS has what the resolver left of four seconds', async (t) => {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const given: (number | undefined)[] = []
  const resolve = async () => {
    clock.advance(450)
    return found('8.3.0.1')
  }
  const find: Whois['find'] = async ({ domain }, withinMs) => {
    given.push(withinMs)
    return { state: 'free', domain }
  }
  const dns = { ...createFakeDns({}), resolve }
  await createLookup({ clock, dns, snapshots: { current: () => FULL }, whois: { find } }).lookup('www.example.com')
  t.strictSame(given, [3_550])
})
