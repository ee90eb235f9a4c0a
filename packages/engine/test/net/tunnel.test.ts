import { createServer, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import { fetchText } from '@sallyport/core'
import { createFakeDns, makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { listening } from '#stores/testing'
import { createFetch } from '../../src/net/index.ts'
import { makeCertificate, NO_OPENSSL } from './certificate.ts'
import { openTcpServer, openWebServer } from './web-server.ts'

/** A proxy that leads every CONNECT to one port of loopback, or answers with a status; `asked` is what it was asked. */
async function openConnectProxy(t: Test, port: number, status = 200) {
  const asked: { readonly target: string | undefined; readonly credentials: string | undefined }[] = []
  const sockets = new Set<Socket>()
  const server = createServer((request, response) => {
    asked.push({ target: request.url, credentials: undefined })
    response.writeHead(405).end()
  })
  server.on('connect', (request, socket: Socket) => {
    asked.push({ target: request.url, credentials: request.headers['proxy-authorization'] })
    socket.on('error', () => undefined)
    if (status !== 200) return socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
    const far = connect(port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n')
      far.pipe(socket).pipe(far)
    })
    sockets.add(socket).add(far)
    far.on('error', () => socket.destroy())
  })
  const url = `http://user:p%40ss@127.0.0.1:${await listening(t, server)}`
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  return { asked, url, findProxy: () => new URL(url) }
}

/** Opens lists.example with TLS behind a proxy, and a way out through the proxy. */
async function openTunnel(t: Test, listener: RequestListener) {
  const { key, cert } = makeCertificate(t, 'lists.example')
  const server = await openWebServer(t, listener, '127.0.0.1', { key, cert })
  const proxy = await openConnectProxy(t, server.port)
  return { server, proxy, outbound: createFetch({ dns: DNS, ca: cert, findProxy: proxy.findProxy }) }
}

const DNS = createFakeDns({ 'intranet.example': { state: 'found', addresses: [makeAddress('10.0.0.7')] } })

const ask = (outbound: ReturnType<typeof createFetch>, url: string, redirects = 0) =>
  fetchText(outbound, { url, maxBytes: 100, timeoutMs: 5_000, redirects })

t.test('https goes through a proxy, which resolves the name', { skip: NO_OPENSSL }, async (t) => {
  const { server, proxy, outbound } = await openTunnel(t, (_request, response) => response.end('listed'))
  t.match(await ask(outbound, 'https://lists.example/a'), { status: 200, body: 'listed' })
  const credentials = `Basic ${Buffer.from('user:p@ss').toString('base64')}`
  t.strictSame(proxy.asked, [{ target: 'lists.example:443', credentials }])
  t.equal(server.asked[0]?.headers['proxy-authorization'], undefined, 'what is for the proxy stays with it')
  t.match(await ask(outbound, 'https://other.example/'), { state: 'failed', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' })
  await server.idle()
})

t.test('an answer that ends early is a failure through a proxy too', { skip: NO_OPENSSL }, async (t) => {
  const { outbound } = await openTunnel(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 50 }).write('half')
    setImmediate(() => response.destroy())
  })
  t.match(await ask(outbound, 'https://lists.example/'), { state: 'failed' })
})

t.test('an inside address is refused before the proxy is asked', { skip: NO_OPENSSL }, async (t) => {
  const places = ['https://10.0.0.7/', 'https://[::1]/', 'https://0x7f.1/', 'https://intranet.example/']
  const { proxy, outbound } = await openTunnel(t, ({ url = '' }, response) =>
    response.writeHead(302, { location: places[Number(url.slice(1))] }).end(),
  )
  for (const [index, place] of places.entries()) {
    t.match(await ask(outbound, place), { state: 'failed', reason: /is not a public address$/ }, place)
    t.match(await ask(outbound, `https://lists.example/${index}`, 1), { reason: /is not a public address$/ }, place)
  }
  t.strictSame([...new Set(proxy.asked.map(({ target }) => target))], ['lists.example:443'])
})

t.test('plain http never goes through a proxy, and is refused as it is without one', async (t) => {
  const proxy = await openConnectProxy(t, 1)
  const outbound = createFetch({ dns: DNS, findProxy: proxy.findProxy })
  t.match(await ask(outbound, 'http://8.8.8.8/'), { state: 'failed', reason: /plain http is not permitted/ })
  t.strictSame(proxy.asked, [])
})

t.test('a proxy that refuses, is not there or says nothing is a failure in time, without its password', async (t) => {
  const refusing = await openConnectProxy(t, 1, 407)
  const silent = await openTcpServer(t, () => undefined)
  const closed = await openTcpServer(t, (socket) => socket.destroy())
  const reasons: unknown[] = []
  // Only what never comes is waited for by the clock.
  for (const [url, timeoutMs] of [
    [refusing.url, 60_000],
    [`http://user:secret@127.0.0.1:${silent}`, 400],
    [`http://user:secret@127.0.0.1:${closed}`, 60_000],
  ] as const) {
    const outbound = createFetch({ dns: DNS, findProxy: () => new URL(url) })
    const answer = await outbound.fetch({ url: 'https://lists.example/', maxBytes: 10, timeoutMs })
    reasons.push(answer.state === 'failed' ? answer.reason : answer)
  }
  t.match(reasons, ['the proxy responded with status 407', 'no result within 400 ms', /./])
  t.notMatch(JSON.stringify(reasons), /secret|p@ss|p%40ss/)
})
