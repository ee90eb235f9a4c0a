import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, constants, type OutgoingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import type { ObservedRequest } from '@sallyport/core'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { answered, ask, begin, openHttp2 } from './http2-client.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { type Answer, OK, until } from './wire.ts'

const skip = NO_OPENSSL

t.test('a request over HTTP/2, as the origin gets it', { skip }, async (t) => {
  const { session, origin, sallyport } = await openHttp2(t)
  const answer = await ask(session, { cookie: ['a=1', 'b=2'], 'x-other': 'c', te: 'trailers' })
  t.match(answer, { status: 200, body: 'ok', headers: { 'x-request-id': /./ } })
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
  const sallyport = { ...fakeSallyport(), observe: (observed: ObservedRequest) => void seen.push(observed) }
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n${'x'.repeat(70_000)}`
  const { session } = await openHttp2(t, answer, { sallyport })
  t.equal((await ask(session, { ':method': 'POST' }, 'y'.repeat(3_000))).body.length, 70_000)
  await until(() => seen.length > 0)
  t.match(seen, [{ status: 200, bytesSent: 70_000, bytesReceived: 3_000 }])
})

t.test('the JA4 and the settings of a connection are known to each decision', { skip }, async (t) => {
  const { session, sallyport, url } = await openHttp2(t, OK, { trust: [] })
  await Promise.all([ask(session), ask(session)])
  const other = connect(url, { rejectUnauthorized: false, settings: { initialWindowSize: 6_291_456 } })
  t.teardown(() => other.destroy())
  await ask(other)
  t.ok(sallyport.asked.every(({ ja4 }) => /^t13i\d{4}h2_/.test(ja4 ?? '')))
  const windows = sallyport.asked.map(({ http2Window }) => http2Window)
  t.same(windows, [65_535, 65_535, 6_291_456])
})

t.test('a blocked client, the API, and bad heads', { skip }, async (t) => {
  const { session, origin } = await openHttp2(t)
  t.match(await ask(session, { 'x-forwarded-for': VISITOR.blocked }), { status: 403, body: '"request_blocked"' })
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

t.test('bodies, with a length and without one, and long answers with several cookies', { skip }, async (t) => {
  const site = createServer((request, response) => {
    const { 'content-length': length = '', 'transfer-encoding': coding = '' } = request.headers
    response.setHeader('set-cookie', ['a=1', 'b=2']).setHeader('connection', 'x-hop').setHeader('x-hop', '1')
    let size = 0
    request.on('data', (bytes) => (size += bytes.length))
    const tail = request.url === '/long' ? 'z'.repeat(3e6) : ''
    request.once('end', () => response.end(`${size} ${length} ${coding}${tail}`))
  })
  const { session } = await openHttp2(t, OK, { upstream: `http://127.0.0.1:${await listening(t, site)}` })
  const post = { ':method': 'POST' }
  const sized = await ask(session, { ...post, 'content-length': 5 }, 'hello')
  t.equal(sized.body, '5 5 ')
  t.same([sized.headers['set-cookie'], sized.headers['x-hop']], [['a=1', 'b=2'], undefined])
  t.match((await ask(session, post, 'hello')).body, /^5 /)
  t.match((await ask(session, post, 'x'.repeat(1_000_000))).body, /^1000000 {2}chunked$/)
  t.match((await ask(session, { ...post, ':path': '/long' })).body, /^0 .*z{100}$/)
  const many = await Promise.all(Array.from({ length: 20 }, () => ask(session, post, 'y'.repeat(100_000))))
  t.ok(many.every(({ body }) => body.startsWith('100000 ')))
})

t.test('a body that is too large, too slow, or not wanted', { skip }, async (t) => {
  const options = { limits: { bodyBytes: 1_000 }, timeouts: { idleBody: 100, minRate: 1_000 } }
  const { session, refused } = await openHttp2(t, OK, options)
  const post = { ':method': 'POST' }
  t.equal((await ask(session, { ...post, 'content-length': 2_000 }, 'x'.repeat(2_000))).status, 413)
  t.equal((await ask(session, post, 'x'.repeat(200_000))).status, 413)
  begin(session, post).destroy()
  t.match(await answered(begin(session, post, undefined, false)), { status: 408 })
  const unwanted = begin(session, { 'x-forwarded-for': VISITOR.blocked, ...post }, undefined, false)
  t.match(await answered(unwanted), { status: 403, code: constants.NGHTTP2_NO_ERROR }, 'the rest is not waited for')
  t.same(refused.slice(0, 3), ['body_bytes', 'body_bytes', 'slow_body'])
  t.equal((await ask(session)).status, 200, 'and the connection goes on')
})

t.test('a client that does not read holds its own stream alone', { skip }, async (t) => {
  const long = `HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n${'x'.repeat(9_000_000)}`
  const answer: Answer = (socket, head) => void socket.write(head.startsWith('GET /long') ? long : OK)
  const { session, refused } = await openHttp2(t, answer, { timeouts: { clientUnread: 200 } })
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

t.test('WebSocket is not offered, CONNECT is not served, and a silent connection ends', { skip }, async (t) => {
  const { session } = await openHttp2(t, OK, { timeouts: { header: 10_000, keepAlive: 50 } })
  await ask(session)
  t.notOk(session.remoteSettings.enableConnectProtocol, 'RFC 8441 3: a client that is not told asks by HTTP/1.1')
  const stream = session.request({ ':method': 'CONNECT', ':authority': 'site.example:80' })
  stream.on('error', () => {})
  t.equal((await answered(stream)).status, 405)
  await once(session, 'close')
  const silent = await openHttp2(t, OK, { timeouts: { header: 50 } })
  await once(silent.session, 'close')
})

t.test('a drain sends GOAWAY to clients, and finishes requests in flight', { skip }, async (t) => {
  let asking: Socket | undefined
  const answer: Answer = (socket) => (asking = socket)
  const { session, proxy } = await openHttp2(t, answer, { timeouts: { drain: 600_000 } })
  const asked = ask(session)
  await until(() => asking !== undefined)
  const told = once(session, 'goaway')
  const closed = proxy.close()
  const [code] = await told
  t.equal(code, constants.NGHTTP2_NO_ERROR)
  asking?.write(OK)
  t.match(await asked, { status: 200, body: 'ok' })
  await closed
})
