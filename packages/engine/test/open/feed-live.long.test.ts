import t, { type Test } from 'tap'
import { openFeedServer } from '#datasets/testing'
import { type ConfigInput, type NoticeCode, open, openUpdates, type Sallyport } from '../../src/open/index.ts'
import { feedConfig } from './made-sources.ts'
import { openService, until } from './opened.ts'
import { requestFrom } from './requests.ts'

const VPN = 'x4bnet-vpn-ipv4'
const HOSTING = 'x4bnet-dc-ipv4'

/** A configuration whose only feeds are the named ones, on one server. */
function feedsAt(t: Test, origin: string, ids: readonly string[], refresh = false): ConfigInput {
  return feedConfig(t.testdir(), Object.fromEntries(ids.map((id) => [id, `${origin}/${id}`])), { refresh })
}

async function serveVpns(t: Test) {
  const server = await openFeedServer(t)
  server.serve(`/${VPN}`, '8.2.7.0/24\n')
  return server
}

/** A server of a list of VPNs, and a configuration of that list whose first copy is on the disk. */
async function downloaded(t: Test) {
  const server = await serveVpns(t)
  const config = feedsAt(t, server.origin, [VPN])
  await openUpdates(config).update()
  return { server, config }
}

const readClass = (sallyport: Sallyport, peer: string) =>
  sallyport.inspect(requestFrom(peer)).network.verdict.classification

const findSource = (sallyport: Sallyport, id: string) => sallyport.sources().find((source) => source.id === id)

t.test('a running service fetches what is due and answers from it', async (t) => {
  const server = await serveVpns(t)
  server.serve(`/${HOSTING}`, '8.2.0.0/16\n')
  const outcomes: string[] = []
  let swaps = 0
  const sallyport = await openService(t, feedsAt(t, server.origin, [VPN, HOSTING], true), {
    metrics: { onOutcome: (source, state) => outcomes.push(`${source} ${state}`), onSwap: () => swaps++ },
  })
  t.match(findSource(sallyport, VPN), { state: 'absent', reason: 'not downloaded yet' })
  t.match(await sallyport.lookup('8.2.7.1'), { isVpn: false, degraded: ['geo'] })
  await until(() => readClass(sallyport, '8.2.7.1') === 'vpn')
  const source = findSource(sallyport, VPN)
  t.match(source, { state: 'loaded', entries: 1, generation: /^[0-9a-f]{16}$/, checked: /Z$/, staleAfter: /Z$/ })
  t.equal(Date.parse(source?.staleAfter ?? '') - Date.parse(source?.lastTrue ?? ''), 30 * 24 * 3_600_000)
  t.match(await sallyport.lookup('8.2.7.1'), { verdict: { method: 'range:vpn' }, degraded: ['geo'] })
  // The tables may be found on the disk before the download is reported.
  await until(() => outcomes.length === 2)
  t.same(outcomes.sort(), [`${HOSTING} updated`, `${VPN} updated`])
  t.ok(swaps === 1 || swaps === 2, 'both lists in one swap, or in two where the disk was looked at in between')
})

t.test('a process learns that another one confirmed a list, and a daily list still expires', async (t) => {
  const server = await openFeedServer(t)
  const id = 'avastel-1day'
  // Entries of this list live for three days, and its file is a month old.
  const written = new Date(Date.now() - 30 * 86_400_000).toUTCString()
  server.serve(`/${id}`, (request, response) => {
    if (request.headers['if-modified-since'] === written) response.writeHead(304).end()
    else response.writeHead(200, { 'last-modified': written }).end('ip;autonomous_system\n8.2.7.1;AS1\n')
  })
  const config = feedsAt(t, server.origin, [id])
  const updates = openUpdates(config)
  t.match(await updates.update(), [{ source: id, state: 'updated' }])
  const sallyport = await openService(t, config)
  const checked = () => Date.parse(findSource(sallyport, id)?.checked ?? '')
  const before = checked()
  t.match(await updates.update(), [{ source: id, state: 'unchanged' }])
  await until(() => checked() > before)
  t.equal(Date.parse(findSource(sallyport, id)?.lastTrue ?? ''), Date.parse(written))
  t.not(readClass(sallyport, '8.2.7.1'), 'residential_proxy')
})

t.test('processes that may not write follow the one that compiles, and find no fault meanwhile', async (t) => {
  const { server, config } = await downloaded(t)
  const writer = await openService(t, config)
  const faults: unknown[] = []
  const reading = { ...config, data: { ...config.data, readOnly: true } }
  const onFault = (error: unknown) => faults.push(error)
  const reader = await openService(t, reading, { onFault, onProgress: () => faults.push('compiled') })
  t.equal(readClass(reader, '8.2.7.1'), 'vpn')
  await writer.close()
  server.serve(`/${VPN}`, '8.2.8.0/24\n')
  await openUpdates(config).update()
  // The test looks twice at a download that no process has compiled.
  await new Promise((resolve) => setTimeout(resolve, 2_500))
  t.equal(readClass(reader, '8.2.7.1'), 'vpn', 'what is loaded stays')
  await openService(t, config)
  await until(() => readClass(reader, '8.2.8.1') === 'vpn')
  t.not(readClass(reader, '8.2.7.1'), 'vpn')
  t.same(faults, [])
})

t.test('requests see whole tables alone while others are made and swapped in', async (t) => {
  const { server, config } = await downloaded(t)
  // One of these two addresses is listed, in every version another.
  const versions = ['8.2.7.0/24\n', '8.2.8.0/24\n']
  const sallyport = await openService(t, config)
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
    await until(() => findSource(sallyport, VPN)?.generation !== before)
  }
  isOver = true
  await asking
  t.equal(torn, 0, `of ${asked} pairs`)
  t.equal(seen.size, 2, 'what is said of the source is what the tables hold')
})

t.test('one of two on one dataDir downloads and both answer', async (t) => {
  const server = await serveVpns(t)
  const config = feedsAt(t, server.origin, [VPN], true)
  const both = await Promise.all([openService(t, config), openService(t, config)])
  await until(() => both.every((sallyport) => readClass(sallyport, '8.2.7.1') === 'vpn'))
  t.equal(server.asked.length, 1)
})

t.test('without a network there is one notice, and what is there goes on', async (t) => {
  const { config } = await downloaded(t)
  const ids = [VPN, HOSTING, 'tor-bulk-exit', 'protonvpn-exit']
  const gone = feedsAt(t, 'http://127.0.0.1:9', ids, true)
  const notices: (readonly [NoticeCode, string])[] = []
  const failures: string[] = []
  const sallyport = await open(
    { ...gone, dataDir: String(config.dataDir) },
    {
      onNotice: (code, message) => notices.push([code, message]),
      metrics: { onOutcome: (source, state) => failures.push(`${source} ${state}`) },
    },
  )
  await until(() => notices.length > 1)
  await sallyport.close()
  t.match(notices, [['SALLYPORT_DATA_STALE'], ['SALLYPORT_OFFLINE', /ECONNREFUSED/]])
  t.equal(failures.length, ids.length)
  t.match(await sallyport.lookup('9.9.9.9'), { verdict: { classification: 'unknown' }, degraded: ['geo'] })
})

t.test('delivery networks are believed from the addresses that they publish now', async (t) => {
  const server = await openFeedServer(t)
  const [id4, id6] = ['cloudflare-edge-v4', 'cloudflare-edge-v6']
  server.serve(`/${id4}`, '8.2.7.0/24\n')
  server.serve(`/${id6}`, '2a06:98c0::/29\n')
  const base = feedsAt(t, server.origin, [id4, id6], true)
  const sallyport = await openService(t, { ...base, trustProxy: ['cloudflare'], clientHeader: 'cf-connecting-ip' })
  const findClientAddress = (peer: string): string =>
    sallyport.inspect(requestFrom(peer, ['CF-Connecting-IP', '9.9.9.9'])).client.address
  t.equal(findClientAddress('104.16.0.1'), '9.9.9.9', 'until then those that are shipped')
  await until(() => findClientAddress('8.2.7.1') === '9.9.9.9')
  await until(() => findClientAddress('104.16.0.1') === '104.16.0.1')
  t.match(findSource(sallyport, id4), { state: 'loaded', entries: 1 })
  t.match(await sallyport.lookup('8.2.7.1'), { verdict: { method: 'asn' } }, 'it says nothing of a network')

  server.serve(`/${id4}`, '0.0.0.0/0\n')
  const updates = openUpdates({ ...base, trustProxy: ['cloudflare'] })
  t.match(await updates.update({ source: id4 }), [{ source: id4, state: 'refused' }])
  t.equal(findClientAddress('8.2.7.1'), '9.9.9.9', 'a list that is too wide changes nothing')
  t.equal(findClientAddress('9.1.1.1'), '9.1.1.1')
})
