import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { openProxy } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { dial, exchange, get, OK, readUntil, statusOf, until } from './wire.ts'

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0' }

t.test('closing waits for requests in flight and takes no new ones', async (t) => {
  let finish: () => void = () => {}
  const { proxy, origin } = await proxyBefore(
    t,
    (socket, head) => {
      socket.write(head.startsWith('GET /ok ') ? OK : 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha')
      finish = () => socket.write('lf')
    },
    { drainMs: 10_000 },
  )
  const idle = await dial(proxy.url)
  idle.write('GET /ok HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(idle, /ok$/)
  const client = await dial(proxy.url)
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(client, 'ha')
  const rest = readUntil(client)
  const admin = String(proxy.adminUrl)
  const closing = proxy.close()
  await readUntil(idle)
  await t.rejects(dial(proxy.url), { code: 'ECONNREFUSED' })
  t.equal(statusOf(await exchange(admin, get('/readyz'))), 503, 'and says that it is not ready')
  t.equal(statusOf(await exchange(admin, get('/healthz'))), 200)
  finish()
  t.equal(await rest, 'lf', 'the answer is whole, and the connection is closed after it')
  await closing
  await until(() => origin.open() === 0)
})

t.test('closing cuts what takes longer than the drain', async (t) => {
  const { proxy, origin } = await proxyBefore(t, 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha', { drainMs: 50 })
  const client = await dial(proxy.url)
  client.write(get('/'))
  await readUntil(client, 'ha')
  await proxy.close()
  await readUntil(client)
  await until(() => origin.open() === 0)
})

t.test('closing ends tunnels without waiting for them', async (t) => {
  const { proxy, origin } = await proxyBefore(
    t,
    (socket) =>
      void socket.write(
        'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n',
      ),
    { drainMs: 600_000 },
  )
  const client = await dial(proxy.url)
  const fields = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  client.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${fields.join('\r\n')}\r\n\r\n`)
  t.match(await readUntil(client, '\r\n\r\n'), ' 101 ')
  await proxy.close()
  await readUntil(client)
  await until(() => origin.open() === 0)
  await proxy.close()
})

t.test('an address that is taken, and one that is none', async (t) => {
  const taken = createServer().listen(0, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const address = `127.0.0.1:${(taken.address() as AddressInfo).port}`
  const sallyport = fakeSallyport()
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen: address }), {
    code: 'cannot_listen',
    message: `cannot listen on ${address}: another program listens there already`,
  })
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, admin: address }), { code: 'cannot_listen' })
  for (const listen of ['nowhere', '127.0.0.1', '127.0.0.1:99999', '::1:80', ':80']) {
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen }), { code: 'invalid_config' }, listen)
  }
  for (const upstream of ['', 'nowhere', 'ftp://a', 'http://a/path', 'http://user@a', 'http://a?b']) {
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, upstream }), { code: 'invalid_config' }, upstream)
  }
})

t.test('the health listener at its usual place is done without where that is taken', async (t) => {
  const notices: string[] = []
  const options = { listen: '127.0.0.1:0', onNotice: (notice: string) => void notices.push(notice) }
  const first = await openProxy(fakeSallyport(), options)
  const second = await openProxy(fakeSallyport(), options)
  t.teardown(() => Promise.all([first.close(), second.close()]))
  t.notOk(second.adminUrl)
  t.match(notices.at(-1), /^no health listener: cannot listen on 127.0.0.1:9090: another program/)
  t.equal(statusOf(await exchange(second.url, get('/'))), 200, 'and the proxy works')
})

t.test('the health listener', async (t) => {
  const { proxy } = await proxyBefore(t, OK)
  const admin = String(proxy.adminUrl)
  t.match(await exchange(admin, get('/healthz')), /^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}/)
  t.match(await exchange(admin, get('/readyz?verbose')), /"status":"ready","sources":\[\{"id":"asn".*"state":"loaded"/)
  t.equal(statusOf(await exchange(admin, get('/metrics'))), 404)
  t.equal(statusOf(await exchange(admin, get('/healthz').replace('GET', 'POST'))), 405)
  t.equal(statusOf(await exchange(admin, get('/toString'))), 404)
})

t.test('without an origin there is an example site that shows the verdict', async (t) => {
  const proxy = await openProxy(fakeSallyport(), LOOPBACK)
  t.teardown(() => proxy.close())
  for (const page of ['/', '/articles/gates', '/articles/walls', '/admin', '/login']) {
    t.match(await exchange(proxy.url, get(page)), /^HTTP\/1\.1 200 [\s\S]*<!doctype html>/, page)
  }
  t.equal(statusOf(await exchange(proxy.url, get('/nothing'))), 404)
  t.equal(statusOf(await exchange(proxy.url, get('/login').replace('GET', 'POST'))), 200)
  const flagged = await exchange(proxy.url, get('/', `X-Forwarded-For: ${VISITOR.flagged}`, 'X: <script>'))
  t.match(flagged, /sallyport-action<\/td><td>flag/)
  t.match(flagged, `<td>${VISITOR.flagged}, 127.0.0.1</td>`)
})

t.test('an IPv6 address to listen on', async (t) => {
  const proxy = await openProxy(fakeSallyport(), { listen: '[::1]:0', admin: '127.0.0.1:0' }).catch(() => undefined)
  if (proxy === undefined) return void t.pass('skipped: this machine has no IPv6 loopback', { skip: true })
  t.match(proxy.url, /^http:\/\/\[::1\]:\d+$/)
  t.equal((await fetch(proxy.url)).status, 200)
  await proxy.close()
})
