import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import t, { type Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { NO_OPENSSL, siteTls } from './certificate.ts'
import { openRaw } from './http2-client.ts'
import { BEGIN, END, FATAL, frame, GET, headers, hearFrames, OPEN_POST, TYPE } from './http2-wire.ts'
import { meteredSallyport } from './sallyport.ts'
import { type Answer, until } from './wire.ts'

/* Clients of HTTP/2 that leave, or that wait, in the middle of what they ask: what they held is given back. */

const skip = NO_OPENSSL
/** A client that asks for nothing more, and waits for its answers. */
const LAST = frame(TYPE.goaway, 0, 0, Buffer.alloc(8))
/** No clock of a client runs out here; what ends connections is that they are dead. */
const PATIENT = { header: '10m', keepAlive: '1h', idleBody: '1h', clientUnread: '1h', originHeaders: '1h' } as const

async function open(t: Test, answer: Answer | string, options: BeforeOptions = {}) {
  const sallyport = meteredSallyport({ trust: [] })
  const before = await proxyBefore(t, answer, { sallyport, tls: siteTls(t), ...options })
  const names = ['connections', 'requests_in_flight\\{kind="requests"\\}', 'leaked_slots_total']
  const held = async (): Promise<readonly number[]> => {
    const text = await (await fetch(`${before.admin}/metrics`)).text()
    return names.map((name) => Number(new RegExp(`^sallyport_${name} (\\d+)$`, 'm').exec(text)?.[1]))
  }
  const untilNothingHeld = async (): Promise<void> => {
    while ((await held()).some((count) => count > 0)) await new Promise((resolve) => setTimeout(resolve, 50))
    t.same(await held(), [0, 0, 0])
  }
  return { ...before, held, untilNothingHeld }
}

const WAYS: Readonly<Record<string, (socket: Socket, secured: TLSSocket) => unknown>> = {
  'closes it': (socket) => socket.destroy(),
  'resets it': (socket) => socket.resetAndDestroy(),
  'ends its half': (_, secured) => secured.end(),
  'says nothing more': () => {},
}

for (const [way, leave] of Object.entries(WAYS)) {
  t.test(`a frame that ends a connection, and a client that ${way}`, { skip }, async (t) => {
    const limits = { inFlightPerClient: 200, connectionsPerClient: 200 }
    const { url, origin, untilNothingHeld } = await open(t, () => {}, { limits, timeouts: PATIENT })
    const asking = async (...parts: readonly Buffer[]): Promise<void> => {
      const { socket, secured } = await openRaw(t, url)
      secured.resume()
      for (const part of parts) {
        secured.write(part)
        await new Promise((resolve) => setTimeout(resolve, 20))
      }
      leave(socket, secured)
    }
    for (const bytes of Object.values(FATAL)) {
      const asked = Buffer.concat([BEGIN, OPEN_POST])
      await Promise.all([asking(asked, bytes), asking(Buffer.concat([asked, bytes])), asking(BEGIN, bytes)])
    }
    await asking(Buffer.concat([BEGIN, OPEN_POST, LAST]), FATAL['DATA on no stream'] as Buffer)
    await untilNothingHeld()
    await until(() => origin.open() === 0)
  })
}

t.test('a client that says that it will ask nothing more keeps what it asked', { skip }, async (t) => {
  const { url, origin, held } = await open(t, () => {}, { timeouts: { ...PATIENT, header: 40 } })
  const { secured } = await openRaw(t, url)
  let goodbyes = 0
  hearFrames(secured, (type) => {
    if (type === TYPE.goaway) goodbyes++
  })
  secured.write(Buffer.concat([BEGIN, headers(1, END.both, GET), LAST]))
  await until(() => goodbyes > 0 && origin.heads.length > 0)
  await new Promise((resolve) => setTimeout(resolve, 400))
  t.ok(goodbyes <= 2, 'it is not told again and again')
  t.same(await held(), [1, 1, 0])
})

t.test('a client that waits is asked once whether it is there, and not cut', { skip }, async (t) => {
  for (const answers of [true, false]) {
    // Looked at each 10 ms; the clock for a head does not run while something is asked.
    const { url, held } = await open(t, () => {}, { timeouts: { ...PATIENT, header: 40 } })
    const { secured } = await openRaw(t, url)
    let pings = 0
    hearFrames(secured, (type, _, payload) => {
      if (type !== TYPE.ping) return
      pings++
      if (answers) secured.write(frame(TYPE.ping, 1, 0, payload))
    })
    secured.write(Buffer.concat([BEGIN, OPEN_POST]))
    await until(() => pings === 1)
    await new Promise((resolve) => setTimeout(resolve, 400))
    t.equal(pings, 1)
    secured.write(frame(TYPE.data, 0, 1, [1]))
    await until(() => pings === 2)
    t.same(await held(), [1, 1, 0])
    secured.write(FATAL['DATA on no stream'] as Buffer)
    await once(secured, 'close')
  }
})

const WIDE = Buffer.concat([
  frame(TYPE.settings, 0, 0, [0, 4, 0x7f, 0xff, 0xff, 0xff]),
  frame(TYPE.window, 0, 0, [0x70, 0, 0, 0]),
])
const LONG = 20_000_000
const long: Answer = (socket, head) => {
  if (!head.startsWith('GET')) return
  socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${LONG}\r\n\r\n`)
  socket.write(Buffer.alloc(LONG, 'x'))
}

t.test('an answer that cannot go out ends its connection', { skip }, async (t) => {
  const { url, refused, untilNothingHeld } = await open(t, long, { timeouts: { ...PATIENT, idleBody: 100 } })
  const { secured } = await openRaw(t, url)
  // Nothing is read: once the long answer fills all buffers, no byte of the other's body is taken, and its 408 waits behind.
  secured.pause()
  secured.write(Buffer.concat([BEGIN, WIDE, OPEN_POST, headers(3, END.both, GET)]))
  const body = setInterval(() => secured.write(frame(TYPE.data, 0, 1, Buffer.alloc(500))), 10)
  t.teardown(() => clearInterval(body))
  await until(() => refused.length > 0)
  await untilNothingHeld()
  t.same(refused, ['slow_body'])
})
