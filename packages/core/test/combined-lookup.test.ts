import t from 'tap'
import type { Address } from '../src/address/address.ts'
import { createLookup } from '../src/lookup/lookup.ts'
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
import type { Whois } from '../src/whois/whois.ts'

function addresses(...texts: readonly string[]): readonly Address[] {
  return texts.map(makeAddress)
}

const NETWORKS = createFakeNetworks([
  [
    '8.3.0.0/16',
    {
      system: makeSystem({
        asn: 64_503,
        name: 'Tunnels',
        type: 'vpn',
        networkClass: 'vpn',
        brand: 'Tunnels',
        country: 'SE',
      }),
    },
  ],
])

const FULL = makeSnapshot({
  networks: NETWORKS,
  rangesLoaded: true,
  geo: createFakeGeo({
    '8.3.0.1': { countryCode: 'SE', city: 'Malmö', latitude: 55.6, longitude: 13 },
    '8.3.0.9': new Error('corrupt'),
  }),
})

function lookupIn(
  snapshot: Snapshot,
  names: Readonly<Record<string, NameAnswer>> = {},
  whois: Whois = createFakeWhois(),
) {
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

t.test('unknown members are left out, and always-present ones stay', async (t) => {
  const result = await lookupIn(FULL).lookup('9.9.9.9')
  t.match(result, { provider: '', networkType: 'unknown', isVpn: false, isProxy: false, isTor: false, riskScore: 20 })
  t.same(result.geo, { ip: '9.9.9.9' })
  t.same(result.asn, { ip: '9.9.9.9', type: 'unknown' })
})

t.test('a sub-lookup that fails is named and the rest answers', async (t) => {
  t.match(await lookupIn(FULL).lookup('8.3.0.9'), { degraded: ['geo'], isVpn: true })
  t.same((await lookupIn(makeSnapshot()).lookup('8.3.0.1')).degraded, ['geo', 'asn', 'ranges'])
  t.same((await lookupIn({ ...FULL, rangesLoaded: false }).lookup('8.3.0.1')).degraded, [], 'the verdict is given')
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

t.test('a reserved address needs no data at all', async (t) => {
  const result = await lookupIn(makeSnapshot()).lookup('192.168.1.1')
  t.match(result, {
    reserved: { reserved: true, label: 'private' },
    verdict: { method: 'reserved' },
    riskScore: 0,
    degraded: [],
  })
})

t.test('a range is judged by its first address', async (t) => {
  t.match(await lookupIn(FULL).lookup('8.3.77.5/16'), {
    target: { raw: '8.3.77.5/16', kind: 'cidr', ip: '8.3.0.0', network: '8.3.0.0/16', addresses: 65_536 },
    isVpn: true,
  })
})

t.test('a URL with an address is that address', async (t) => {
  t.match((await lookupIn(FULL).lookup('https://user@8.3.0.1:8443/path')).target, { kind: 'ipv4', ip: '8.3.0.1' })
})

t.test('a hostname says which of its addresses was looked at', async (t) => {
  const names = {
    'one.example.com': { state: 'found', addresses: addresses('2a00:1::1', '10.0.0.1', '8.3.0.1') },
    'six.example.com': { state: 'found', addresses: addresses('2a00:1::1') },
  } as const
  const lookup = lookupIn(FULL, names)
  t.match(await lookup.lookup('https://One.Example.com./x'), {
    target: { kind: 'hostname', hostname: 'one.example.com', ip: '8.3.0.1' },
  })
  t.match(await lookup.lookup('six.example.com'), { target: { ip: '2a00:1::1' } })
})

t.test('a name tells nothing of the addresses inside a network', async (t) => {
  const inside = [
    '10.0.0.1',
    '127.0.0.1',
    '169.254.169.254',
    '100.64.0.1',
    '::1',
    'fd00::1',
    'fe80::1',
    '64:ff9b::a00:1',
  ]
  const [first = ''] = inside
  const names = Object.fromEntries([
    ['inside.example.com', { state: 'found', addresses: addresses(...inside) } as const],
    ['both.example.com', { state: 'found', addresses: addresses(...inside, '8.3.0.1', '2a00:1::1') } as const],
    ...inside.map(
      (text, at) => [`n${at}.example.com`, { state: 'found', addresses: addresses(text) } as const] as const,
    ),
  ])
  const whois = createFakeWhois()
  const lookup = lookupIn(FULL, names, whois)
  const readRefusal = async (name: string) =>
    lookup.lookup(name).then(
      () => 'answered',
      ({ code, message, details }) => [code, message.replaceAll(name, 'NAME'), details],
    )
  const absent = await readRefusal('nowhere.example.com')
  t.strictSame(absent, [
    'unresolved_target',
    'The hostname NAME could not be resolved: it has no public address.',
    undefined,
  ])
  for (const name of Object.keys(names).filter((name) => name !== 'both.example.com')) {
    t.strictSame(await readRefusal(name), absent, `${name}: as a name that is not there`)
  }
  t.strictSame(whois.asked, [], 'and no registry hears of it')
  const both = await lookup.lookup('both.example.com')
  t.match(both, { target: { ip: '8.3.0.1' }, reserved: { reserved: false }, degraded: [] })
  for (const text of inside) t.notOk(JSON.stringify(both).includes(`"${text}"`), text)
  t.match(await lookup.lookup(first), { target: { ip: first }, reserved: { reserved: true } }, 'a literal is answered')
  t.match(await lookup.lookup(`http://${first}/`), { target: { ip: first }, reserved: { reserved: true } })
})

t.test('a hostname comes with the registration of its domain', async (t) => {
  const found = { state: 'found', addresses: addresses('8.3.0.1') } as const
  const record = {
    registrar: 'Example Registrar',
    nameservers: ['ns.example.com'],
    status: ['ok'],
    privacyProtection: true,
  }
  const whois = createFakeWhois({
    'example.com': { state: 'registered', domain: 'example.com', record },
    'example.co.uk': { state: 'failed', domain: 'example.co.uk', reason: 'throttled' },
    'example.net': { state: 'reserved', domain: 'example.net' },
  })
  const names = ['www.example.com', 'a.b.example.co.uk', 'example.net', 'example.org', 'co.uk']
  const lookup = lookupIn(FULL, Object.fromEntries(names.map((name) => [name, found])), whois)
  const read = async (target: string) => {
    const { whois, degraded } = await lookup.lookup(target)
    return { whois, degraded }
  }
  t.strictSame(await read('https://www.example.com/'), { whois: { domain: 'example.com', ...record }, degraded: [] })
  t.strictSame(await read('a.b.example.co.uk'), { whois: undefined, degraded: ['whois'] }, 'it is unknown')
  for (const name of ['example.net', 'example.org', 'co.uk']) {
    t.strictSame(await read(name), { whois: undefined, degraded: [] }, `${name}: told, and there is none`)
  }
  for (const target of ['8.3.0.1', '8.3.0.0/16', 'http://8.3.0.1/', 'nowhere.example.com']) {
    await lookup.lookup(target).catch(() => undefined)
  }
  t.strictSame(whois.asked, ['example.com', 'example.co.uk', 'example.net', 'example.org'])
})

t.test('WHOIS has what the resolver left of four seconds', async (t) => {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const given: (number | undefined)[] = []
  const lookup = createLookup({
    clock,
    dns: {
      async resolve() {
        clock.advance(450)
        return { state: 'found', addresses: addresses('8.3.0.1') }
      },
      resolvePtr: async () => ({ state: 'absent' }),
    },
    snapshots: { current: () => FULL },
    whois: {
      async find({ domain }, withinMs) {
        given.push(withinMs)
        return { state: 'free', domain }
      },
    },
  })
  await lookup.lookup('www.example.com')
  t.strictSame(given, [3_550])
})

t.test('a target that cannot be read or resolved has its own code', async (t) => {
  const lookup = lookupIn(FULL, { 'down.example.com': { state: 'failed', reason: 'timeout' } })
  await t.rejects(lookup.lookup('not a target'), { code: 'invalid_target' })
  await t.rejects(lookup.lookup('localhost'), { code: 'invalid_target' })
  await t.rejects(lookup.lookup('nowhere.example.com'), { code: 'unresolved_target', message: /no public address/ })
  await t.rejects(lookup.lookup('down.example.com'), { code: 'unresolved_target', message: /no answer/ })
})
