import { constants, type OutgoingHttpHeaders } from 'node:http2'
import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { answered, openHttp2 } from './http2-client.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { type Answer, exchange, get, OK, readStatus } from './wire.ts'

const skip = NO_OPENSSL
const TRAILER = ['X-Sum: 1', 'x-sum: 2', 'Server-Timing: a', 'Content-Type: a', 'Set-Cookie: a=1', 'Sallyport-A: x']
const HEAD = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n'
const END = ['0', ...TRAILER, 'ETag: "a"', 'ETag: "a"', '', ''].join('\r\n')
const trailing: Answer = (socket) => void socket.write(`${HEAD}2\r\nok\r\n${END}`)
const trailingLater: Answer = (socket) =>
  void socket.write(`${HEAD}2\r\nok\r\n`, () => setTimeout(() => socket.write(END), 20))

async function open(t: Test, answer: Answer | string = OK) {
  const observed: ObservedRequest[] = []
  const sallyport = { ...fakeSallyport(), observe: (one: ObservedRequest) => void observed.push(one) }
  const before = await openHttp2(t, answer, { sallyport, http: '127.0.0.1:0' })
  const ask = async (headers: OutgoingHttpHeaders, body?: string, trailers?: OutgoingHttpHeaders) => {
    const options = { endStream: body === undefined, waitForTrailers: trailers !== undefined }
    const sent = { ':path': '/', ':authority': 'site.example', ...headers }
    const stream = before.session.request(sent, options).on('error', () => {})
    stream.on('wantTrailers', () => stream.sendTrailers(trailers ?? {}))
    if (body !== undefined) stream.end(body)
    let [isAll, tail] = [false, undefined as OutgoingHttpHeaders | undefined]
    stream.on('response', (_, flags) => (isAll = (flags & constants.NGHTTP2_FLAG_END_STREAM) !== 0))
    stream.on('trailers', (fields) => (tail = fields))
    return { ...(await answered(stream)), isAll, tail }
  }
  return { ...before, ask, observed, http: String(before.proxy.httpUrl) }
}

for (const [name, answer] of Object.entries({ 'in one piece': trailing, later: trailingLater })) {
  t.test(`the trailer section of an answer, ${name}`, { skip }, async (t) => {
    const { ask, http } = await open(t, answer)
    const { tail, body, code } = await ask({})
    const passed = { 'x-sum': '1, 2', 'server-timing': 'a', etag: '"a"' }
    t.same(Object.entries(tail ?? {}), Object.entries(passed), 'what may stand in one')
    t.same([body, code], ['ok', 0])
    const taken = await exchange(http, get('/', 'TE: deflate;q=0.5, trailers'))
    t.match(taken, /2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: 2\r\nServer-Timing: a\r\nETag: "a"\r\n\r\n$/i)
    t.match(await exchange(http, get('/')), /2\r\nok\r\n0\r\n\r\n$/, 'a client that does not say so gets none')
    const old = await exchange(http, get('/', 'TE: trailers').replace('HTTP/1.1', 'HTTP/1.0'))
    t.match(old, /\r\n\r\nok$/, 'nor one of HTTP/1.0')
    const head = await exchange(http, get('/', 'TE: trailers').replace('GET', 'HEAD'))
    t.match(head, /\r\n\r\n$/)
  })
}

t.test('a trailer section that is none cuts the answer, which does not look whole', { skip }, async (t) => {
  for (const bad of ['X-Sum: a\u007fb', 'X-Sum: a\u0000b', ': a', ':status: 200', 'Content-Length: 9', 'X Sum: 1']) {
    const answer: Answer = (socket) => void socket.write(`${HEAD}2\r\nok\r\n0\r\n${bad}\r\n\r\n`)
    const { ask, http } = await open(t, answer)
    t.not((await ask({})).code, 0, bad)
    t.notMatch(await exchange(http, get('/', 'TE: trailers')), /\r\n0\r\n/, bad)
  }
})

t.test('the trailer section of a request ends here', { skip }, async (t) => {
  const { ask, origin } = await open(t)
  const { status } = await ask({ ':method': 'POST', trailer: 'x-sum' }, 'text', { 'x-sum': '1' })
  t.equal(status, 200)
  t.match(origin.received[0], /^POST \/ HTTP\/1\.1\r\n[\s\S]*\r\n\r\ntext$/)
  t.notMatch(origin.received.join(''), /x-sum/i)
})

t.test('gRPC is refused in its own words, once it is let in', { skip }, async (t) => {
  const { ask, origin, http, observed } = await open(t)
  const call = { ':method': 'POST', ':path': '/pkg.Service/Method', te: 'trailers' }
  for (const type of ['application/grpc', 'application/grpc+proto', 'Application/gRPC; charset=utf-8']) {
    const { status, headers, isAll, tail, body, code } = await ask({ ...call, 'content-type': type }, '\0\0\0\0\0')
    t.ok(isAll, 'its head ends the stream: clients read the status there alone')
    t.match(headers, { 'content-type': 'application/grpc', 'grpc-status': '12', 'grpc-message': /HTTP\/1\.1/ })
    t.same([status, tail, body, code], [200, undefined, '', 0])
  }
  t.match(observed, [{ answeredBy: 'refusal', refusedFor: 'grpc' }, {}, {}])
  const blocked = await ask({ ...call, 'content-type': 'application/grpc', 'x-forwarded-for': VISITOR.blocked }, '')
  t.equal(blocked.status, 403)
  t.same(origin.heads, [])
  t.equal((await ask({ ...call, 'content-type': 'application/grpc-web+proto' }, '')).status, 200)
  t.equal((await ask({ ...call, 'content-type': 'application/grpcx' }, '')).headers['grpc-status'], undefined)
  t.equal(readStatus(await exchange(http, get('/', 'Content-Type: application/grpc'))), 200)
  t.equal(origin.heads.length, 3)
})
