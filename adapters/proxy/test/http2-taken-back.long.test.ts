import { once } from 'node:events'
import { connect, constants } from 'node:http2'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import t from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { ask, begin, openHttp2 } from './http2-client.ts'
import { BEGIN, frame, GET, headers, hearFrames, TYPE, WHOLE } from './http2-wire.ts'
import { type Answer, dial, OK, until } from './wire.ts'

const skip = NO_OPENSSL

t.test('streams are bounded by what one client may have in flight', { skip }, async (t) => {
  const { session } = await openHttp2(t, OK, { limits: { inFlightPerClient: 7 } })
  await ask(session)
  t.equal(session.remoteSettings.maxConcurrentStreams, 7)
  t.equal(session.remoteSettings.maxHeaderListSize, 16_384)
})

for (const [limits, answered] of [
  [{}, 100],
  [{ inFlightPerClient: 7 }, 7],
] as const) {
  t.test(
    `${answered} of 100 streams before our SETTINGS are answered, and the session goes on`,
    { skip },
    async (t) => {
      const { url } = await openHttp2(t, OK, { limits })
      const socket = await dial(url)
      const secured = tlsConnect({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
      t.teardown(() => secured.destroy())
      await once(secured, 'secureConnect')
      const [heads, refusals] = [new Set<number>(), new Set<number>()]
      hearFrames(secured, (type, stream, payload) => {
        if (type === TYPE.headers) heads.add(stream)
        if (type === TYPE.reset && payload.readUInt32BE(0) === constants.NGHTTP2_REFUSED_STREAM) refusals.add(stream)
        if (type === TYPE.settings && stream === 0 && payload.length > 0) secured.write(frame(TYPE.settings, 1, 0))
      })
      const first = Array.from({ length: 100 }, (_, at) => headers(2 * at + 1, WHOLE, GET))
      secured.write(Buffer.concat([BEGIN, ...first]))
      await until(() => heads.size + refusals.size === 100 || secured.destroyed)
      t.equal(heads.size, answered)
      t.equal(refusals.size, 100 - answered)
      secured.write(headers(201, WHOLE, GET))
      await until(() => heads.has(201) || secured.destroyed)
      t.ok(heads.has(201))
    },
  )
}

for (const [way, leave] of [
  ['ends its half', (socket: Socket) => void socket.end()],
  ['closes', (socket: Socket) => void socket.destroy()],
  ['resets', (socket: Socket) => void socket.resetAndDestroy()],
] as const) {
  t.test(`a client that ${way} takes what it asked with it`, { skip }, async (t) => {
    const unanswered: Socket[] = []
    const answer: Answer = (socket, head) => {
      if (head.startsWith('GET /slow')) unanswered.push(socket)
      else socket.write(OK)
    }
    const { session, url, origin } = await openHttp2(t, answer, {
      limits: { inFlightPerClient: 2 },
      timeouts: { queue: 20 },
    })
    const socket = await dial(url)
    const secured = tlsConnect({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    secured.on('error', () => {})
    const leaving = connect(url, { createConnection: () => secured })
    leaving.on('error', () => {})
    for (let at = 0; at < 2; at++) begin(leaving, { ':path': '/slow' })
    await until(() => origin.heads.length === 2)
    t.equal((await ask(session)).status, 503, 'it has all that a client may have')
    leave(socket)
    let status = 503
    for (let tries = 0; tries < 100 && status === 503; tries++) ({ status } = await ask(session))
    t.equal(status, 200)
    await until(() => unanswered.every((socket) => socket.destroyed))
  })
}

t.test('a HEAD that is taken back unanswered gives back what it held', { skip }, async (t) => {
  const unanswered: Socket[] = []
  const answer: Answer = (socket, head) => {
    if (head.startsWith('HEAD')) unanswered.push(socket)
    else socket.write(OK)
  }
  const { session, url, origin } = await openHttp2(t, answer, {
    limits: { inFlightPerClient: 1 },
    timeouts: { queue: 0 },
  })
  const leaving = connect(url, { rejectUnauthorized: false })
  t.teardown(() => leaving.destroy())
  const taken = begin(leaving, { ':method': 'HEAD' })
  await until(() => origin.heads.length === 1)
  t.equal((await ask(session)).status, 503, 'it has all that a client may have')
  taken.close(constants.NGHTTP2_CANCEL)
  await until(() => unanswered.every((socket) => socket.destroyed))
  t.equal((await ask(session)).status, 200)
})

// Node reads nothing of a connection while it writes, and does not see a reset then.
t.test('clients that reset their connections within answers leave nothing behind', { skip }, async (t) => {
  const answering: Socket[] = []
  const answer: Answer = (socket) => {
    answering.push(socket)
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9000000\r\n\r\n')
    socket.write('x'.repeat(9_000_000))
  }
  const { url, origin } = await openHttp2(t, answer, {
    limits: { connections: 13 },
    timeouts: { keepAlive: 100 },
  })
  const visit = async (): Promise<void> => {
    const socket = await dial(url)
    const secured = tlsConnect({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] })
    const leaving = connect(url, { createConnection: () => secured.on('error', () => {}) })
    leaving.on('error', () => {})
    await Promise.all(Array.from({ length: 4 }, () => once(begin(leaving, { ':path': '/long' }), 'response')))
    socket.resetAndDestroy()
  }
  await Promise.all(Array.from({ length: 12 }, visit))
  t.equal(origin.heads.length, 48)
  await until(() => answering.every((socket) => socket.destroyed))
  const enter = async (): Promise<void> => {
    const socket = await dial(url)
    t.teardown(() => socket.destroy())
    await once(tlsConnect({ socket, rejectUnauthorized: false }), 'secureConnect')
  }
  for (let entered = 0; entered < 12; ) {
    await enter().then(
      () => entered++,
      () => delay(20),
    )
  }
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
    t.same(
      refused.filter((cause) => cause === 'http2_resets'),
      ['http2_resets'],
    )
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
