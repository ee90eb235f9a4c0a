import { createFakeNetworks, createFakeSystems, makeSnapshot, makeSystem } from '@sallyport/core/testing'
import t from 'tap'
import { createWire } from './wire.ts'

const DIRECTORY = '/v1/asn/directory'

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
    const { json } = await wire.call('GET', DIRECTORY + query)
    t.notOk('query' in json)
    return [json.by, json.results.map(({ label }: { label: string }) => label)]
  }
  t.same(await names('?by=prefixes'), ['prefixes', ['AS645', 'AS64500', 'AS64501', 'AS64502']])
  for (const query of ['', '?by=addresses', '?by=', '?by=Prefixes', '?by=__proto__', '?q=', '?q=%20%20']) {
    t.same(await names(query), ['addresses', ['AS64501', 'AS64500', 'AS64502', 'AS645']], query)
  }
})

t.test('a list names its kind, and counts itself and the database', async (t) => {
  const wire = createWire()
  const top = (await wire.call('GET', `${DIRECTORY}?top=2`)).json
  t.same(Object.keys(top), ['total', 'count', 'by', 'results'])
  t.same([top.total, top.count, top.results.length], [4, 2, 2])
  const search = (await wire.call('GET', `${DIRECTORY}?q=home`)).json
  const home = { asn: 64501, label: 'AS64501', org: 'Home Telecom', networkType: 'isp' }
  const counted = { ipv4Prefixes: 2, ipv6Prefixes: 0, prefixes: 2, addresses: 196_608 }
  t.same(search, { total: 4, count: 1, query: 'home', results: [{ ...home, ...counted }] })
  t.same(Object.keys(search), ['total', 'count', 'query', 'results'])
  const trimmed = (await wire.call('GET', `${DIRECTORY}?q=%20%20home%20%20`)).json
  t.same(trimmed.results, search.results)
})

t.test('top is clamped to 1-1000, limit to 1-100, and neither is refused', async (t) => {
  const systems = manySystems()
  const wire = createWire({ snapshots: { current: () => systems } })
  const rows = {
    '': 100,
    '?top=': 100,
    '?top=abc': 100,
    '?top=5.5': 100,
    '?top=1e3': 100,
    '?top=1': 1,
    '?top=0': 1,
    '?top=-5': 1,
    '?top=%2B7': 7,
    '?top=1000': 1000,
    '?top=1001': 1000,
    '?top=99999999999999999999999': 1000,
    '?top=3&top=9': 3,
    '?limit=5': 100,
    '?q=network': 20,
    '?q=network&limit=': 20,
    '?q=network&limit=x': 20,
    '?q=network&limit=0': 1,
    '?q=network&limit=100': 100,
    '?q=network&limit=101': 100,
    '?q=network&top=3': 20,
    '?q=nothing+of+the+kind': 0,
  }
  for (const [query, count] of Object.entries(rows)) {
    const { status, json } = await wire.call('GET', DIRECTORY + query)
    t.same([status, json.count, json.results.length, json.total], [200, count, count, 1200], query)
  }
})

t.test('an entry is found by its number in any spelling, or the number is 400 or 404', async (t) => {
  const wire = createWire()
  for (const asn of ['AS64500', '64500', 'as64500']) {
    const { status, json } = await wire.call('GET', `${DIRECTORY}/${asn}`)
    t.hasStrict([status, json], [200, { org: 'Cloud Nine Ltd', vpnRangePrefixes: 0, datacenterRangePrefixes: 1 }], asn)
    t.same(json.samplePrefixes, [
      { prefix: '11.0.0.0/16', version: 4, addresses: 65_536 },
      { prefix: '11.1.0.0/16', version: 4, addresses: 65_536 },
      { prefix: '2600::/32', version: 6 },
    ])
  }
  for (const [texts, status, error] of [
    ['AS ASx -1 1.5 0x10 AS4294967296 AS%2064500 %00', 400, 'invalid_asn'],
    ['AS1 1 0 AS4294967295', 404, 'asn_not_found'],
  ] as const) {
    for (const asn of texts.split(' ')) {
      t.match(await wire.call('GET', `${DIRECTORY}/${asn}`), { status, json: { error } }, asn)
    }
  }
})

t.test('a 200 may be cached for an hour by anyone, nothing else', async (t) => {
  const wire = createWire()
  const cache = async (more: string) => (await wire.call('GET', DIRECTORY + more)).headers['Cache-Control']
  for (const more of ['', '?q=a', '/64500']) t.equal(await cache(more), 'public, max-age=3600')
  for (const more of ['/x', '/1']) t.equal(await cache(more), 'no-store')
})

t.test('a new snapshot is a new directory', async (t) => {
  let current = manySystems()
  const wire = createWire({ snapshots: { current: () => current } })
  t.equal((await wire.call('GET', DIRECTORY)).json.total, 1200)
  const systems = createFakeSystems([[makeSystem({ asn: 7 }), ['20.0.0.0/24']]])
  current = makeSnapshot({ systems, networks: createFakeNetworks([]) })
  t.equal((await wire.call('GET', DIRECTORY)).json.total, 1)
})
