import { createFakeNetworks, createFakeSystems, makeSnapshot, makeSystem } from '@sallyport/core/testing'
import t from 'tap'
import { createWire } from './wire.ts'

const CACHED = 'public, max-age=3600'

/** 1,200 systems of one /24 each, so that the bounds of the lists can be met. */
function manySystems() {
  const rows = Array.from({ length: 1200 }, (_, index) => {
    const system = makeSystem({ asn: index + 1, name: `Network ${index + 1}` })
    return [system, [`${20 + (index >> 8)}.0.${index & 255}.0/24`]] as const
  })
  return makeSnapshot({ systems: createFakeSystems(rows), networks: createFakeNetworks([]) })
}

t.test('the top list is by addresses, or by prefixes when asked', async (t) => {
  const wire = createWire()
  const names = async (query: string) => {
    const { json } = await wire.call('GET', `/v1/asn/directory${query}`)
    return [json.by, json.results.map(({ label }: { label: string }) => label)]
  }
  const byAddresses = ['addresses', ['AS64501', 'AS64500', 'AS64502', 'AS645']]
  t.same(await names(''), byAddresses)
  t.same(await names('?by=addresses'), byAddresses)
  t.same(await names('?by=prefixes'), ['prefixes', ['AS645', 'AS64500', 'AS64501', 'AS64502']])
  for (const query of ['?by=', '?by=Prefixes', '?by=size', '?by=__proto__', '?by=toString']) {
    t.same(await names(query), byAddresses, query)
  }
})

t.test('a list names its kind, and counts itself and the database', async (t) => {
  const wire = createWire()
  const top = (await wire.call('GET', '/v1/asn/directory?top=2')).json
  t.same(Object.keys(top), ['total', 'count', 'by', 'results'])
  t.hasStrict(top, { total: 4, count: 2 })
  t.equal(top.results.length, 2)
  const search = (await wire.call('GET', '/v1/asn/directory?q=home')).json
  t.same(Object.keys(search), ['total', 'count', 'query', 'results'])
  t.hasStrict(search, { total: 4, count: 1, query: 'home' })
  t.same(search.results, [
    {
      asn: 64501,
      label: 'AS64501',
      org: 'Home Telecom',
      networkType: 'isp',
      ipv4Prefixes: 2,
      ipv6Prefixes: 0,
      prefixes: 2,
      addresses: 196_608,
    },
  ])
})

t.test('a search for accents alone finds nothing', async (t) => {
  const { json } = await createWire().call('GET', '/v1/asn/directory?q=%CC%81')
  t.hasStrict(json, { count: 0, query: '\u0301', results: [] })
})

t.test('top is clamped to 1-1000 and defaults to 100; it is never refused', async (t) => {
  const wire = createWire({ snapshots: { current: () => SYSTEMS } })
  const SYSTEMS = manySystems()
  const rows = {
    '': 100,
    '?top=': 100,
    '?top=abc': 100,
    '?top=5.5': 100,
    '?top=1e3': 100,
    '?top=0x10': 100,
    '?top=NaN': 100,
    '?top=%00': 100,
    '?top=1': 1,
    '?top=0': 1,
    '?top=-5': 1,
    '?top=%2B7': 7,
    '?top=1000': 1000,
    '?top=1001': 1000,
    '?top=99999999999999999999999': 1000,
    '?top=3&top=9': 3,
    '?limit=5': 100,
  }
  for (const [query, count] of Object.entries(rows)) {
    const { status, json } = await wire.call('GET', `/v1/asn/directory${query}`)
    t.same([status, json.count, json.results.length, json.total], [200, count, count, 1200], query)
  }
})

t.test('limit is clamped to 1-100 and defaults to 20, with q alone', async (t) => {
  const SYSTEMS = manySystems()
  const wire = createWire({ snapshots: { current: () => SYSTEMS } })
  const rows = {
    '?q=network': 20,
    '?q=network&limit=': 20,
    '?q=network&limit=x': 20,
    '?q=network&limit=0': 1,
    '?q=network&limit=-1': 1,
    '?q=network&limit=100': 100,
    '?q=network&limit=101': 100,
    '?q=network&top=3': 20,
    '?q=nothing+of+the+kind': 0,
  }
  for (const [query, count] of Object.entries(rows)) {
    const { status, json } = await wire.call('GET', `/v1/asn/directory${query}`)
    t.same([status, json.count, json.results.length], [200, count, count], query)
  }
})

t.test('a search takes a part of the name, a number or AS<number>, an exact number first', async (t) => {
  const wire = createWire()
  const found = async (q: string) => {
    const { json } = await wire.call('GET', `/v1/asn/directory?q=${encodeURIComponent(q)}`)
    return json.results.map(({ asn }: { asn: number }) => asn)
  }
  t.same(await found('hide'), [64502])
  t.same(await found('TELE'), [64501])
  t.same(await found('64500'), [64500, 645], 'the number before a name that holds it')
  t.same((await found('AS64500'))[0], 64500)
  t.same((await found('as645'))[0], 645)
  t.same(await found('  hide  '), [64502], 'spaces around are not part of it')
  t.same(await found('%'), [])
  t.same(await found('.*'), [])
})

t.test('an empty q is no search', async (t) => {
  const wire = createWire()
  for (const query of ['?q=', '?q=%20%20']) {
    const { json } = await wire.call('GET', `/v1/asn/directory${query}`)
    t.equal(json.by, 'addresses', query)
    t.notOk('query' in json)
  }
})

t.test('an entry adds samples and range counts', async (t) => {
  const wire = createWire()
  const { status, json } = await wire.call('GET', '/v1/asn/directory/AS64500')
  t.equal(status, 200)
  t.same(json, {
    asn: 64500,
    label: 'AS64500',
    org: 'Cloud Nine Ltd',
    networkType: 'hosting',
    ipv4Prefixes: 2,
    ipv6Prefixes: 1,
    prefixes: 3,
    addresses: 131_072,
    samplePrefixes: [
      { prefix: '11.0.0.0/16', version: 4, addresses: 65_536 },
      { prefix: '11.1.0.0/16', version: 4, addresses: 65_536 },
      { prefix: '2600::/32', version: 6 },
    ],
    vpnRangePrefixes: 0,
    datacenterRangePrefixes: 1,
    rangesLoaded: true,
  })
  t.same((await wire.call('GET', '/v1/asn/directory/64500')).json, json, 'the number alone is the same request')
  t.same((await wire.call('GET', '/v1/asn/directory/as64500')).json, json)
})

t.test('an unreadable number is 400, one that is not in the database 404', async (t) => {
  const wire = createWire()
  for (const asn of [
    'AS',
    'ASx',
    'cloud',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'AS4294967296',
    '99999999999',
    'AS%2064500',
    '%00',
  ]) {
    const { status, json } = await wire.call('GET', `/v1/asn/directory/${asn}`)
    t.same([status, json.error], [400, 'invalid_asn'], asn)
  }
  for (const asn of ['AS1', '1', '0', 'AS4294967295']) {
    const { status, json } = await wire.call('GET', `/v1/asn/directory/${asn}`)
    t.same([status, json.error], [404, 'asn_not_found'], asn)
  }
})

t.test('a 200 may be cached for an hour by anyone, nothing else', async (t) => {
  const wire = createWire()
  const cache = async (url: string) => (await wire.call('GET', url)).headers['Cache-Control']
  for (const url of ['/v1/asn/directory', '/v1/asn/directory?q=a', '/v1/asn/directory/64500'])
    t.equal(await cache(url), CACHED)
  for (const url of ['/v1/asn/directory/x', '/v1/asn/directory/1']) t.equal(await cache(url), 'no-store')
})

t.test('a new snapshot is a new directory', async (t) => {
  let current = manySystems()
  const wire = createWire({ snapshots: { current: () => current } })
  t.equal((await wire.call('GET', '/v1/asn/directory')).json.total, 1200)
  const systems = createFakeSystems([[makeSystem({ asn: 7 }), ['20.0.0.0/24']]])
  current = makeSnapshot({ systems, networks: createFakeNetworks([]) })
  t.equal((await wire.call('GET', '/v1/asn/directory')).json.total, 1)
})
