import { once } from 'node:events'
import { type ClientHttp2Stream, connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { answered, ask, begin, openHttp2, openRaw } from './http2-client.ts'
import { BEGIN, END, frame, GET, headers, hearFrames, OPEN_POST, TYPE } from './http2-wire.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, OK, until } from './wire.ts'

const skip = NO_OPENSSL

for (const [limits, allowed] of [
  [{}, 100],
  [{ inFlightPerClient: 7 }, 7],
] as const) {
  t.test(`${allowed} of 100 streams before our SETTINGS are answered, and the session goes on`, { skip }, async (t) => {
    const { url, session } = await openHttp2(t, OK, { limits })
    await ask(session)
    const { maxConcurrentStreams, maxHeaderListSize } = session.remoteSettings
    t.same([maxConcurrentStreams, maxHeaderListSize], [allowed, 16_384])
    const { secured } = await openRaw(t, url)
    const [heads, refusals] = [new Set<number>(), new Set<number>()]
    hearFrames(secured, (type, stream, payload) => {
      if (type === TYPE.headers) heads.add(stream)
      if (type === TYPE.reset && payload.readUInt32BE(0) === constants.NGHTTP2_REFUSED_STREAM) refusals.add(stream)
      if (type === TYPE.settings && stream === 0 && payload.length > 0) secured.write(frame(TYPE.settings, 1, 0))
    })
    const first = Array.from({ length: 100 }, (_, at) => headers(2 * at + 1, END.both, GET))
    secured.write(Buffer.concat([BEGIN, ...first]))
    await until(() => heads.size + refusals.size === 100 || secured.destroyed)
    t.same([heads.size, refusals.size], [allowed, 100 - allowed])
    secured.write(headers(201, END.both, GET))
    await until(() => heads.has(201) || secured.destroyed)
    t.ok(heads.has(201))
  })
}

for (const [way, method, leave] of [
  ['ends its half', 'GET', (socket: Socket) => void socket.end()],
  ['closes', 'GET', (socket: Socket) => void socket.destroy()],
  ['resets', 'GET', (socket: Socket) => void socket.resetAndDestroy()],
  ['takes a HEAD back', 'HEAD', (_: Socket, stream: ClientHttp2Stream) => stream.close(constants.NGHTTP2_CANCEL)],
] as const) {
  t.test(`a client that ${way} takes what it asked with it`, { skip }, async (t) => {
    const unanswered: Socket[] = []
    const answer: Answer = (socket, head) => {
      if (/^\w+ \/slow/.test(head)) unanswered.push(socket)
      else socket.write(OK)
    }
    const limits = { inFlightPerClient: 1 }
    const { session, url, origin } = await openHttp2(t, answer, { limits, timeouts: { queue: 20 } })
    const { socket, secured } = await openRaw(t, url)
    const leaving = connect(url, { createConnection: () => secured }).on('error', () => {})
    const stream = begin(leaving, { ':path': '/slow', ':method': method })
    await until(() => origin.heads.length === 1)
    t.equal((await ask(session)).status, 503, 'it has all that a client may have')
    leave(socket, stream)
    let status = 503
    for (let tries = 0; tries < 100 && status === 503; tries++) ({ status } = await ask(session))
    t.equal(status, 200)
    await until(() => unanswered.every((socket) => socket.destroyed))
  })
}

// Node reads nothing of a connection while it writes, and does not see a reset then.
t.test('clients that reset their connections within answers leave nothing behind', { skip }, async (t) => {
  const answering: Socket[] = []
  const answer: Answer = (socket) => {
    answering.push(socket)
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n')
    socket.write('x'.repeat(9_000_000))
  }
  const { url, origin } = await openHttp2(t, answer, { limits: { connections: 13 }, timeouts: { keepAlive: 100 } })
  const visit = async (): Promise<void> => {
    const { socket, secured } = await openRaw(t, url)
    const leaving = connect(url, { createConnection: () => secured }).on('error', () => {})
    await Promise.all(Array.from({ length: 4 }, () => once(begin(leaving, { ':path': '/long' }), 'response')))
    socket.resetAndDestroy()
  }
  await Promise.all(Array.from({ length: 12 }, visit))
  t.equal(origin.heads.length, 48)
  await until(() => answering.every((socket) => socket.destroyed))
  const enter = (): Promise<unknown> => openRaw(t, url).catch(() => delay(20).then(enter))
  for (let entered = 0; entered < 12; entered++) await enter()
  t.pass('others take their places')
})

for (const method of ['GET', 'HEAD']) {
  t.test(`requests that are taken back again and again end the connection: ${method}`, { skip }, async (t) => {
    const { session, refused } = await openHttp2(t, () => {}, { trust: [] })
    const closed = once(session, 'close')
    const flood = async (): Promise<void> => {
      while (!session.closed && !session.destroyed) {
        const streams = Array.from({ length: 50 }, () => begin(session, { ':method': method }))
        await delay(2)
        for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
        await delay(2)
      }
    }
    await Promise.all([flood(), closed])
    t.equal(refused.filter((cause) => cause === 'http2_resets').length, 1)
  })
}

t.test('clients behind a trusted proxy share its session, whatever one of them takes back', { skip }, async (t) => {
  const waiting: Socket[] = []
  const { session, refused } = await openHttp2(t, (socket, head) => {
    if (head.startsWith('GET /page')) waiting.push(socket)
  })
  const page = ask(session, { ':path': '/page', 'x-forwarded-for': '21.0.0.8' })
  await until(() => waiting.length === 1)
  for (let taken = 0; taken < 300; taken += 50) {
    const streams = Array.from({ length: 50 }, () => begin(session, { 'x-forwarded-for': '21.0.0.9' }))
    const closed = streams.map((stream) => once(stream, 'close'))
    await delay(2)
    for (const stream of streams) stream.close(constants.NGHTTP2_CANCEL)
    await Promise.all(closed)
  }
  waiting[0]?.write(OK)
  t.equal((await page).status, 200)
  t.same(refused, [])
})

const PIECE = 'x'.repeat(100_000)

for (const code of [constants.NGHTTP2_NO_ERROR, constants.NGHTTP2_CANCEL]) {
  t.test(`a body that its client breaks off with ${code} is not sent on as a whole one`, { skip }, async (t) => {
    const { url, origin } = await openHttp2(t, () => {})
    const { secured } = await openRaw(t, url)
    secured.resume()
    secured.write(Buffer.concat([BEGIN, OPEN_POST, frame(TYPE.data, 0, 1, Buffer.from('half'))]))
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
  t.notOk(refused.includes('http2_resets'))
})

t.test('a HEAD with a body is answered before what is left of that is refused', { skip }, async (t) => {
  const { session } = await openHttp2(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n')
  const stream = begin(session, { ':method': 'HEAD' }, undefined, false)
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
  const slow = begin(session, { ':path': '/v1/x' })
  await once(slow, 'response')
  await ask(session, { ':path': '/v1/x', ':method': 'HEAD' })
  t.ok(made < 10, 'nothing is made that nobody takes')
  t.equal((await answered(slow)).body.length, 100 * PIECE.length)
  t.match(await ask(session, { ':path': '/v1/broken' }), { status: 200, code: constants.NGHTTP2_INTERNAL_ERROR })
  const left = begin(session, { ':path': '/v1/x' })
  await once(left, 'response')
  left.close(constants.NGHTTP2_CANCEL)
  await until(() => ended === 3)
})
