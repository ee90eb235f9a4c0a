import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import { connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import { request } from 'node:https'
import { setTimeout as delay } from 'node:timers/promises'
import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { answered, ask, begin, openHttp2 } from './http2-client.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { type Answer, OK, until } from './wire.ts'

const skip = NO_OPENSSL

t.test('a request over HTTP/2, as the origin gets it', { skip }, async (t) => {
  const { session, origin, sallyport } = await openHttp2(t)
  const { status, body, headers } = await ask(session, { cookie: ['a=1', 'b=2'], 'x-other': 'c', te: 'trailers' })
  t.equal(status, 200)
  t.equal(body, 'ok')
  t.ok(headers['x-request-id'])
  const [head = ''] = origin.heads
  t.match(head, /^GET \/ HTTP\/1\.1\r\nHost: site\.example\r\n/i)
  t.match(head, 'Cookie: a=1; b=2\r\n')
  t.match(head, 'X-Forwarded-Proto: https\r\n')
  t.match(head, 'Via: 2 sallyport\r\n')
  t.match(head, 'x-other: c\r\n')
  t.notMatch(head, /\r\n(?:te|:\w+):/i)
  t.match(sallyport.asked[0], { httpVersion: '2.0', scheme: 'https', peer: '127.0.0.1' })
})

t.test('the bytes of a body are observed', { skip }, async (t) => {
  const seen: ObservedRequest[] = []
  const ended = new EventEmitter()
  const observe = (observed: ObservedRequest): void => {
    seen.push(observed)
    ended.emit('one')
  }
  const sallyport = { ...fakeSallyport({ trust: ['loopback'] }), observe }
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`
  const { session } = await openHttp2(t, answer, { sallyport })
  for (const [headers, body, received] of [
    [{}, undefined, 0],
    [{ ':method': 'POST' }, 'y'.repeat(3_000), 3_000],
  ] as const) {
    const one = once(ended, 'one')
    t.equal((await ask(session, headers, body)).body.length, 70_000)
    await one
    t.match(seen.at(-1), { status: 200, bytesSent: 70_000, bytesReceived: received })
  }
})

t.test('the JA4 belongs to every request of a connection', { skip }, async (t) => {
  const { session, sallyport } = await openHttp2(t, OK, { trust: [] })
  await Promise.all([ask(session), ask(session)])
  t.match(
    sallyport.asked.map(({ ja4 }) => ja4),
    [/^t13i\d{4}h2_/, /^t13i\d{4}h2_/],
  )
})

t.test('a blocked client, the API, and bad heads', { skip }, async (t) => {
  const { session, origin } = await openHttp2(t)
  const blocked = await ask(session, { 'x-forwarded-for': VISITOR.blocked })
  t.equal(blocked.status, 403)
  t.equal(JSON.parse(blocked.body).error, 'request_blocked')
  const api = await ask(session, { ':path': '/v1/x', ':method': 'POST', 'content-type': 'application/json' }, '{"a":1}')
  t.same(JSON.parse(api.body), { path: '/v1/x', body: { a: 1 } })
  for (const [headers, status] of [
    [{ host: 'other.example' }, 400],
    [{ ':path': '/a%00' }, 400],
    [{ ':path': '/a//../b' }, 400],
    [{ ':method': 'TRACE' }, 405],
    [{ ':path': '/'.padEnd(9_000, 'a') }, 414],
    [Object.fromEntries(Array.from({ length: 101 }, (_, at) => [`x-${at}`, '1'])), 431],
  ] as const) {
    const { status: got } = await ask(session, headers as OutgoingHttpHeaders)
    t.equal(got, status, JSON.stringify(headers).slice(0, 60))
  }
  t.same(origin.heads, [])
  t.equal((await ask(session)).status, 200, 'and the connection goes on')
  t.equal((await ask(session, { ':authority': 'SITE.example', host: 'site.example' })).status, 200)
})

t.test('HEAD, empty answers, several fields of one name, and long answers', { skip }, async (t) => {
  const site = createServer((request, response) => {
    if (request.url === '/cookies') response.setHeader('set-cookie', ['a=1', 'b=2'])
    if (request.url === '/204') response.statusCode = 204
    response.setHeader('connection', 'x-hop').setHeader('x-hop', '1')
    if (request.method === 'HEAD') response.setHeader('content-length', 4)
    response.end(request.url === '/long' ? 'x'.repeat(3_000_000) : request.url === '/204' ? undefined : 'text')
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => void site.close().closeAllConnections())
  const address = site.address()
  const upstream = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const { session } = await openHttp2(t, OK, { upstream })
  const head = await ask(session, { ':method': 'HEAD' })
  t.match(head, { status: 200, body: '', headers: { 'content-length': '4' } })
  t.equal((await ask(session, { ':path': '/204' })).status, 204)
  const cookies = await ask(session, { ':path': '/cookies' })
  t.same(cookies.headers['set-cookie'], ['a=1', 'b=2'])
  t.notOk('x-hop' in cookies.headers)
  t.equal((await ask(session, { ':path': '/long' })).body.length, 3_000_000)
})

t.test('bodies, with a length and without one', { skip }, async (t) => {
  const site = createServer((request, response) => {
    const { 'content-length': length = '', 'transfer-encoding': coding = '' } = request.headers
    let size = 0
    request.on('data', (bytes) => (size += bytes.length)).once('end', () => response.end(`${size} ${length} ${coding}`))
  })
  site.listen(0, '127.0.0.1')
  await once(site, 'listening')
  t.teardown(() => void site.close().closeAllConnections())
  const address = site.address()
  const upstream = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  const { session } = await openHttp2(t, OK, { upstream })
  const post = { ':method': 'POST' }
  t.equal((await ask(session, { ...post, 'content-length': 5 }, 'hello')).body, '5 5 ')
  t.match((await ask(session, post, 'hello')).body, /^5 /)
  t.match((await ask(session, post, 'x'.repeat(1_000_000))).body, /^1000000 {2}chunked$/)
  t.match((await ask(session, post)).body, /^0 /)
  const many = await Promise.all(Array.from({ length: 20 }, () => ask(session, post, 'y'.repeat(100_000))))
  t.ok(many.every(({ body }) => body.startsWith('100000 ')))
})

t.test('a body that is too large, too slow, or not wanted', { skip }, async (t) => {
  const { session, refused } = await openHttp2(t, OK, {
    limits: { bodyBytes: 1_000 },
    timeouts: { idleBody: 100, minRate: 1_000 },
  })
  const post = { ':method': 'POST' }
  t.equal((await ask(session, { ...post, 'content-length': 2_000 }, 'x'.repeat(2_000))).status, 413)
  t.equal((await ask(session, post, 'x'.repeat(200_000))).status, 413)
  const slow = begin(session, post, undefined)
  slow.destroy()
  const silent = session.request({ ':path': '/', ':authority': 'site.example', ...post }, { endStream: false })
  silent.on('error', () => {})
  t.match(await answered(silent), { status: 408 })
  const unwanted = session.request(
    { ':path': '/', ':authority': 'site.example', 'x-forwarded-for': VISITOR.blocked, ...post },
    { endStream: false },
  )
  unwanted.on('error', () => {})
  t.match(await answered(unwanted), { status: 403, code: constants.NGHTTP2_NO_ERROR }, 'the rest is not waited for')
  t.same(refused.slice(0, 3), ['body_bytes', 'body_bytes', 'slow_body'])
  t.equal((await ask(session)).status, 200, 'and the connection goes on')
})

t.test('a client that does not read holds its own stream alone', { skip }, async (t) => {
  const { session, refused } = await openHttp2(
    t,
    (socket, head) => {
      if (head.startsWith('GET /long')) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n`)
      socket.write(head.startsWith('GET /long') ? 'x'.repeat(9_000_000) : OK)
    },
    { timeouts: { clientUnread: 200 } },
  )
  const unread = begin(session, { ':path': '/long' })
  const closed = new Promise((resolve) => unread.once('close', resolve))
  await once(unread, 'response')
  t.equal((await ask(session)).status, 200)
  await until(() => refused.length > 0)
  t.same(refused, ['slow_reader'])
  unread.resume()
  await closed
  t.equal(unread.rstCode, constants.NGHTTP2_INTERNAL_ERROR, 'what came of it is not the whole')
  t.equal((await ask(session)).status, 200)
})

t.test('WebSocket over HTTP/2 is not offered, and CONNECT is not served', { skip }, async (t) => {
  const { session } = await openHttp2(t)
  await ask(session)
  t.notOk(session.remoteSettings.enableConnectProtocol, 'RFC 8441 3: a client that is not told asks by HTTP/1.1')
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'site.example:80' })
  stream.on('error', () => {})
  t.equal((await answered(stream)).status, 405)
})

t.test('a connection without a request ends', { skip }, async (t) => {
  const { session } = await openHttp2(t, OK, { timeouts: { header: 10_000, keepAlive: 50 } })
  await ask(session)
  await once(session, 'close')
  const silent = await openHttp2(t, OK, { timeouts: { header: 50 } })
  await once(silent.session, 'close')
})

t.test('a drain tells clients, and finishes what is in flight', { skip }, async (t) => {
  let finish = (): void => {}
  const answer: Answer = (socket) => {
    finish = () => void socket.write(OK)
  }
  const { session, proxy } = await openHttp2(t, answer, { timeouts: { drain: 600_000 } })
  const asked = ask(session)
  while (finish.toString() === '() => { }') await delay(5)
  const told = once(session, 'goaway')
  const closed = proxy.close()
  const [code] = await told
  t.equal(code, constants.NGHTTP2_NO_ERROR)
  finish()
  t.match(await asked, { status: 200, body: 'ok' })
  await closed
})

t.test('clients that speak no HTTP/2, or may not, get HTTP/1.1', { skip }, async (t) => {
  const tls = { certificates: [makeCertificate(certificateFolder(t), ['site.example'])], http2: false }
  const { url } = await proxyBefore(t, OK, { tls })
  const session = connect(url, { rejectUnauthorized: false })
  const [error] = await once(session, 'error')
  t.match(error.message, /no application protocol/)
  const asked = request(url, { rejectUnauthorized: false, agent: false }).end()
  const [response] = await once(asked, 'response')
  t.equal(response.httpVersion, '1.1')
  response.resume()
})

t.test('the settings of a connection are known to the decision', { skip }, async (t) => {
  const { session, sallyport, url } = await openHttp2(t)
  await ask(session)
  const other = connect(url, { rejectUnauthorized: false, settings: { initialWindowSize: 6_291_456 } })
  t.teardown(() => other.destroy())
  await ask(other)
  t.same(
    sallyport.asked.map(({ http2Window }) => http2Window),
    [65_535, 6_291_456],
  )
})
