import t, { type Test } from 'tap'
import { resolveFeeds } from '#datasets'
import { openFeedServer } from '#datasets/testing'
import { type ConfigInput, type NoticeCode, open, openUpdates, type Sallyport } from '../../src/open/index.ts'
import { madeConfig } from './made-sources.ts'

const VPN = 'x4bnet-vpn-ipv4'
const HOSTING = 'x4bnet-dc-ipv4'

/** A configuration whose only feeds are the named ones, on loopback. */
function feedConfig(t: Test, origin: string, ids: readonly string[], refresh: boolean): ConfigInput {
  const base = madeConfig(t.testdir())
  const off = Object.fromEntries(resolveFeeds().map(({ row }) => [row.id, { enabled: false }]))
  const own = Object.fromEntries(ids.map((id) => [id, { url: `${origin}/${id}` }]))
  return {
    ...base,
    data: { refresh, sources: { ...off, ...base.data?.sources, ...own } },
    net: { allowPrivate: ['127.0.0.1/32'] },
  }
}

function readClass(sallyport: Sallyport, peer: string): string {
  const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] } as const
  return sallyport.inspect(request).network.verdict.classification
}

/** Waits for what another loop brings about. */
async function until(condition: () => boolean): Promise<true> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 10))
  return true
}

const findSource = (sallyport: Sallyport, id: string) => sallyport.sources().find((source) => source.id === id)

t.test('a running service fetches what is due and answers from it', async (t) => {
  const server = await openFeedServer(t)
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  server.serve(`/${HOSTING}`, '8.2.0.0/16\n')
  const outcomes: string[] = []
  let swaps = 0
  const sallyport = await open(feedConfig(t, server.origin, [VPN, HOSTING], true), {
    metrics: { onOutcome: (source, state) => outcomes.push(`${source} ${state}`), onSwap: () => swaps++ },
  })
  t.teardown(() => sallyport.close())
  t.match(findSource(sallyport, VPN), { state: 'absent', reason: 'not downloaded yet' })
  t.match(await sallyport.lookup('8.2.7.1'), { isVpn: false, degraded: ['geo'] })
  t.ok(await until(() => readClass(sallyport, '8.2.7.1') === 'vpn'))
  const source = findSource(sallyport, VPN)
  t.match(source, {
    state: 'loaded',
    entries: 1,
    generation: /^[0-9a-f]{16}$/,
    checked: /^\d{4}-.+Z$/,
    staleAfter: /Z$/,
  })
  t.equal(Date.parse(source?.staleAfter ?? '') - Date.parse(source?.lastTrue ?? ''), 30 * 24 * 3_600_000)
  t.match(await sallyport.lookup('8.2.7.1'), { verdict: { method: 'range:vpn' }, degraded: ['geo'] })
  // The tables may be found on the disk before the download is reported.
  await until(() => outcomes.length === 2)
  t.same(outcomes.sort(), [`${HOSTING} updated`, `${VPN} updated`])
  t.ok(swaps === 1 || swaps === 2, 'both lists in one swap, or in two where the disk was looked at in between')
})

t.test(
  'a service learns what a publisher told another process, and no list that is made daily lives on by it',
  async (t) => {
    const server = await openFeedServer(t)
    const id = 'avastel-1day'
    // Its entries live for three days, and its file is a month old.
    const written = new Date(Date.now() - 30 * 86_400_000).toUTCString()
    server.serve(`/${id}`, (request, response) => {
      if (request.headers['if-modified-since'] === written) response.writeHead(304).end()
      else response.writeHead(200, { 'last-modified': written }).end('ip;autonomous_system\n8.2.7.1;AS1\n')
    })
    const config = feedConfig(t, server.origin, [id], false)
    const updates = openUpdates(config)
    t.match(await updates.update(), [{ source: id, state: 'updated' }])
    const sallyport = await open(config)
    t.teardown(() => sallyport.close())
    const checked = () => Date.parse(findSource(sallyport, id)?.checked ?? '')
    const before = checked()
    t.match(await updates.update(), [{ source: id, state: 'unchanged' }])
    t.ok(await until(() => checked() > before))
    t.equal(Date.parse(findSource(sallyport, id)?.lastTrue ?? ''), Date.parse(written))
    t.not(readClass(sallyport, '8.2.7.1'), 'residential_proxy')
  },
)

t.test('processes that may not write follow the one that compiles, and find no fault meanwhile', async (t) => {
  const server = await openFeedServer(t)
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  const config = feedConfig(t, server.origin, [VPN], false)
  await openUpdates(config).update()
  const writer = await open(config)
  t.teardown(() => writer.close())
  const faults: unknown[] = []
  const reading = { ...config, data: { ...config.data, readOnly: true } }
  const reader = await open(reading, {
    onFault: (error) => faults.push(error),
    onProgress: () => faults.push('compiled'),
  })
  t.teardown(() => reader.close())
  t.equal(readClass(reader, '8.2.7.1'), 'vpn')
  await writer.close()
  server.serve(`/${VPN}`, '8.2.8.0/24\n')
  await openUpdates(config).update()
  // The test looks twice at a download that no process has compiled.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  t.equal(readClass(reader, '8.2.7.1'), 'vpn', 'what is loaded stays')
  const again = await open(config)
  t.teardown(() => again.close())
  t.ok(await until(() => readClass(reader, '8.2.8.1') === 'vpn'))
  t.not(readClass(reader, '8.2.7.1'), 'vpn')
  t.same(faults, [])
})

t.test('requests see whole tables alone while others are made and swapped in', async (t) => {
  const server = await openFeedServer(t)
  // One of these two addresses is listed, in every version another.
  const versions = ['8.2.7.0/24\n', '8.2.8.0/24\n']
  server.serve(`/${VPN}`, versions[0] ?? '')
  const config = feedConfig(t, server.origin, [VPN], false)
  await openUpdates(config).update()
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const seen = new Set<string>()
  let torn = 0
  let asked = 0
  let isOver = false
  const asking = (async () => {
    while (!isOver) {
      const pair = ['8.2.7.1', '8.2.8.1'].map((peer) => readClass(sallyport, peer)).join()
      const { generation = '' } = findSource(sallyport, VPN) ?? {}
      if (pair !== 'vpn,hosting' && pair !== 'hosting,vpn') torn++
      seen.add(`${generation} ${pair}`)
      asked++
      await new Promise((resolve) => setTimeout(resolve, 1))
    }
  })()
  for (let version = 1; version <= 2; version++) {
    const before = findSource(sallyport, VPN)?.generation
    server.serve(`/${VPN}`, versions[version % 2] ?? '')
    await openUpdates(config).update()
    t.ok(await until(() => findSource(sallyport, VPN)?.generation !== before), `version ${version} is followed`)
  }
  isOver = true
  await asking
  t.equal(torn, 0, `of ${asked} pairs`)
  t.equal(seen.size, 2, 'what is said of the source is what the tables hold')
})

t.test('one of two on one dataDir downloads and both answer', async (t) => {
  const server = await openFeedServer(t)
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  const config = feedConfig(t, server.origin, [VPN], true)
  const both = await Promise.all([open(config), open(config)])
  t.teardown(() => Promise.all(both.map((sallyport) => sallyport.close())))
  t.ok(await until(() => both.every((sallyport) => readClass(sallyport, '8.2.7.1') === 'vpn')))
  t.equal(server.asked.length, 1)
})

t.test('without a network there is one notice, and what is there goes on', async (t) => {
  const server = await openFeedServer(t)
  const ids = [VPN, HOSTING, 'tor-bulk-exit', 'protonvpn-exit']
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  const config = feedConfig(t, server.origin, [VPN], false)
  await openUpdates(config).update()
  const gone = feedConfig(t, 'http://127.0.0.1:9', ids, true)
  const notices: (readonly [NoticeCode, string])[] = []
  const failures: string[] = []
  const sallyport = await open(
    { ...gone, dataDir: String(config.dataDir) },
    {
      onNotice: (code, message) => notices.push([code, message]),
      metrics: { onOutcome: (source, state) => failures.push(`${source} ${state}`) },
    },
  )
  t.ok(await until(() => notices.length > 1))
  await sallyport.close()
  t.match(notices, [['SALLYPORT_DATA_STALE'], ['SALLYPORT_OFFLINE', /ECONNREFUSED/]])
  t.equal(failures.length, ids.length)
  t.match(await sallyport.lookup('9.9.9.9'), { verdict: { classification: 'unknown' }, degraded: ['geo'] })
})

t.test('one feed down: its last good generation, and the error beside it', async (t) => {
  const server = await openFeedServer(t)
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  server.serve(`/${HOSTING}`, '8.2.0.0/16\n')
  const config = feedConfig(t, server.origin, [VPN, HOSTING], false)
  await openUpdates(config).update()
  server.serve(`/${VPN}`, (_, response) => response.writeHead(404).end())
  t.match(await openUpdates(config).update(), [{ state: 'failed' }, { state: 'unchanged' }])
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  t.equal(readClass(sallyport, '8.2.7.1'), 'vpn')
  t.match(findSource(sallyport, VPN), { state: 'loaded', error: 'the server responded with status 404' })
  t.equal(findSource(sallyport, HOSTING)?.error, undefined)
})

t.test('registries are asked where the downloaded bootstrap file says', async (t) => {
  const server = await openFeedServer(t)
  const services = [[['de'], [`${server.origin}/rdap/`]]]
  server.serve('/rdap-dns', JSON.stringify({ version: '1.0', services }))
  const config = feedConfig(t, server.origin, ['rdap-dns'], false)
  t.match(await openUpdates(config).update(), [{ state: 'updated', entries: 1 }])
  const sallyport = await open(config)
  t.teardown(() => sallyport.close())
  const { key } = await sallyport.keyring.issue({ plan: 'free' })
  const target = '/v1/whois/example.de'
  const request = { peer: '8.1.0.1', method: 'GET', target, scheme: 'http', httpVersion: '1.1' } as const
  await sallyport.api({
    ...request,
    fields: ['Authorization', `Bearer ${key}`],
    path: target,
    query: new URLSearchParams(),
    json: async () => undefined,
  })
  t.ok(server.asked.some(({ url }) => url === '/rdap/domain/example.de'))
})

t.test('delivery networks are believed from the addresses that they publish now', async (t) => {
  const server = await openFeedServer(t)
  const [id4, id6] = ['cloudflare-edge-v4', 'cloudflare-edge-v6']
  server.serve(`/${id4}`, '8.2.7.0/24\n')
  server.serve(`/${id6}`, '2a06:98c0::/29\n')
  const base = feedConfig(t, server.origin, [id4, id6], true)
  const sallyport = await open({ ...base, trustProxy: ['cloudflare'], clientHeader: 'cf-connecting-ip' })
  t.teardown(() => sallyport.close())
  const findClientAddress = (peer: string): string => {
    const fields = ['CF-Connecting-IP', '9.9.9.9']
    const request = { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields } as const
    return sallyport.inspect(request).client.address
  }
  t.equal(findClientAddress('104.16.0.1'), '9.9.9.9', 'until then those that are shipped')
  t.ok(await until(() => findClientAddress('8.2.7.1') === '9.9.9.9'))
  t.ok(await until(() => findClientAddress('104.16.0.1') === '104.16.0.1'))
  t.match(findSource(sallyport, id4), { state: 'loaded', entries: 1 })
  t.match(await sallyport.lookup('8.2.7.1'), { verdict: { method: 'asn' } }, 'it says nothing of a network')

  server.serve(`/${id4}`, '0.0.0.0/0\n')
  const updates = openUpdates({ ...base, trustProxy: ['cloudflare'] })
  t.match(await updates.update({ source: id4 }), [{ source: id4, state: 'refused' }])
  t.equal(findClientAddress('8.2.7.1'), '9.9.9.9', 'a list that is too wide changes nothing')
  t.equal(findClientAddress('9.1.1.1'), '9.1.1.1')
})
