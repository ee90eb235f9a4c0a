import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { open } from '@sallyport/engine'
import { inspection } from '@sallyport/fetch'
import { listener } from '@sallyport/node'
import t, { type Test } from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { startProxy } from '../hosts/proxy.ts'

/* A policy of one mount knows regions from its first request on, where no other rule asks for them. */

const TEXAN = '47.184.10.20'
const POLICY = [{ id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'block', status: 451 }] as const

async function openService(t: Test) {
  const sallyport = await open(
    { dataDir: DATA_DIR, data: { refresh: false }, trustProxy: ['loopback'], policy: { preset: 'observe' } },
    { onNotice: () => {} },
  )
  t.teardown(() => sallyport.close())
  const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
  return { sallyport, skip: !hasCities && t.pass('no city file is installed') }
}

const ask = async (url: string): Promise<readonly [number, string | null]> => {
  const { status, headers } = await fetch(url, { headers: { 'x-forwarded-for': TEXAN } })
  return [status, headers.get('link')]
}
const LAWFUL = [451, '</>; rel="blocked-by"'] as const

t.test('in a server of Node, and a second mount waits as well', async (t) => {
  const { sallyport, skip } = await openService(t)
  if (skip) return
  const shop = listener(sallyport, (_req, res) => void res.end('shop'), { policy: [...POLICY] })
  const other = listener(sallyport, (_req, res) => void res.end('other'), { policy: [...POLICY] })
  const server = createServer((req, res) => void (req.url === '/other' ? other : shop)(req, res)).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  t.same(await Promise.all([ask(url), ask(`${url}/other`)]), [LAWFUL, LAWFUL])
  t.equal(sallyport.decider({ policy: [...POLICY] }).opening instanceof Promise, true)
  t.equal(sallyport.decider({ policy: 'observe' }).opening, undefined)
})

t.test('in a server of the web', async (t) => {
  const { sallyport, skip } = await openService(t)
  if (skip) return
  const inspect = inspection(sallyport, { policy: [...POLICY] })
  const { response } = await inspect(new Request('http://site.example/'), { address: TEXAN })
  t.equal(response?.status, 451)
  t.equal(response?.headers.get('link'), LAWFUL[1])
})

t.test('on a route of the proxy, also where a target may be read as that route', async (t) => {
  const { sallyport, skip } = await openService(t)
  if (skip) return
  const origin = createServer((_req, res) => void res.end('page')).listen(0, '127.0.0.1')
  t.teardown(() => origin.close())
  await new Promise((resolve) => origin.once('listening', resolve))
  const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
  const { url } = await startProxy(t, sallyport, {
    upstream,
    paths: 'pass',
    routes: [{ path: '/adult', policy: [...POLICY] }],
  })
  const [read, written, elsewhere] = await Promise.all([ask(`${url}/%61dult/1`), ask(`${url}/adult/1`), ask(`${url}/`)])
  t.same([read, written], [LAWFUL, LAWFUL])
  t.equal(elsewhere[0], 200)
})

t.test('the application reads the region, or that it is unknown, and no word of the client', async (t) => {
  const { sallyport, skip } = await openService(t)
  if (skip) return
  const policy = [{ id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'flag' }] as const
  const site = listener(sallyport, (req, res) => void res.end(req.headers['sallyport-region']), { policy: [...policy] })
  const server = createServer(site).listen(0, '127.0.0.1')
  t.teardown(() => server.close())
  await new Promise((resolve) => server.once('listening', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const read = async (address: string) => {
    const headers = { 'x-forwarded-for': address, 'Sallyport-Region': 'US-NY' }
    return (await fetch(url, { headers })).text()
  }
  t.same([await read(TEXAN), await read('172.56.1.1')], ['US-TX', 'unknown'])
})
