import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:tls'
import t from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { answered, ask, begin, openHttp2 } from './http2-client.ts'
import { BEGIN, END_HEADERS, field, frame, headers, PSEUDO, TYPE } from './http2-wire.ts'
import { fakeSallyport } from './sallyport.ts'
import { dial, OK, until } from './wire.ts'

/* Bodies over HTTP/2 that do not come to their end, and answers in pieces. */

const skip = NO_OPENSSL
const PIECE = 'x'.repeat(100_000)

for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_INTERNAL_ERROR, constants.NGHTTP2_CANCEL]) {
  t.test(`a body that its client breaks off with ${code} is not sent on as a whole one`, { skip }, async (t) => {
    const { url, origin } = await openHttp2(t, () => {})
    const socket = await dial(url)
    const secured = connect({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    secured.resume()
    t.teardown(() => secured.destroy())
    await once(secured, 'secureConnect')
    const post = headers(1, END_HEADERS, field(':method', 'POST'), ...PSEUDO.slice(1))
    secured.write(Buffer.concat([BEGIN, post, frame(TYPE.data, 0, 1, Buffer.from('half'))]))
    await until(() => (origin.received[0] ?? '').includes('half'))
    secured.write(frame(TYPE.reset, 0, 1, [0, 0, 0, code]))
    await until(() => origin.open() === 0)
    t.notMatch(origin.received[0], /\r\n0\r\n/)
  })
}

t.test('answers that the origin breaks off are none that the client took back', { skip }, async (t) => {
  const { session, refused } = await openHttp2(t, (socket, head) => {
    if (head.startsWith('GET /whole')) socket.write(OK)
    else socket.end('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
  })
  // More than a client may take back within ten seconds.
  for (let round = 0; round < 6; round++) {
    const broken = await Promise.all(Array.from({ length: 40 }, () => ask(session)))
    t.ok(broken.every(({ status, code }) => status === 200 && code === constants.NGHTTP2_INTERNAL_ERROR))
  }
  t.equal((await ask(session, { ':path': '/whole' })).status, 200)
  t.same(
    refused.filter((cause) => cause === 'http2_resets'),
    [],
  )
})

t.test('a HEAD with a body is answered before what is left of that is refused', { skip }, async (t) => {
  const { session } = await openHttp2(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n')
  const stream = session.request(
    { ':method': 'HEAD', ':path': '/', ':authority': 'site.example' },
    { endStream: false },
  )
  stream.on('error', () => {})
  stream.write('x')
  t.match(await answered(stream), { status: 200, code: constants.NGHTTP2_NO_ERROR })
})

t.test('answers of the API in pieces, at the pace of their client', { skip }, async (t) => {
  const sallyport = fakeSallyport()
  let made = 0
  let ended = 0
  const pieces = async function* (path: string): AsyncGenerator<string> {
    try {
      for (let at = 0; at < 100; at++) {
        made++
        yield PIECE
        if (path === '/v1/broken') throw new Error('broken')
      }
    } finally {
      ended++
    }
  }
  const api: typeof sallyport.api = async ({ path }) => ({ status: 200, headers: {}, body: pieces(path) })
  const { session } = await openHttp2(t, () => {}, { sallyport: Object.assign(sallyport, { api }) })
  const slow = begin(session, { ':path': '/v1/x' }, undefined)
  await once(slow, 'response')
  await ask(session, { ':path': '/v1/x', ':method': 'HEAD' })
  t.ok(made < 10, 'nothing is made that nobody takes')
  t.equal((await answered(slow)).body.length, 100 * PIECE.length)
  t.match(await ask(session, { ':path': '/v1/broken' }), { status: 200, code: constants.NGHTTP2_INTERNAL_ERROR })
  const left = begin(session, { ':path': '/v1/x' }, undefined)
  await once(left, 'response')
  left.close(constants.NGHTTP2_CANCEL)
  await until(() => ended === 3)
})
