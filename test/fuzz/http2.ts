import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as connectTls } from 'node:tls'
import fc from 'fast-check'
import { mutated } from './mutations.ts'
import type { FuzzTarget } from './target.ts'
import { dial, type Gate, gateTarget, requireSecureService, tell } from './wire.ts'

/* HTTP/2 as bytes: whole connections, and what is left of those that break in the middle of their requests. */

function frame(type: number, flags: number, stream: number, payload: readonly number[] | Buffer = []): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

/** GET https a.example / by the static table of HPACK. */
const FIELDS = [0x82, 0x87, 0x84, 0x41, 9, ...Buffer.from('a.example')]
const SETTINGS = frame(4, 0, 0, [0, 4, 0, 0, 0, 1])
const FRAMES = [
  Buffer.concat([frame(4, 0, 0), frame(1, 5, 1, FIELDS), frame(1, 5, 3, FIELDS), frame(3, 0, 3, [0, 0, 0, 8])]),
  Buffer.concat([frame(4, 0, 0), frame(1, 4, 1, FIELDS), frame(0, 1, 1, [1, 2, 3]), frame(8, 0, 0, [0, 0, 4, 0])]),
  Buffer.concat([SETTINGS, frame(1, 1, 1, FIELDS.slice(0, 6)), frame(9, 4, 1, FIELDS.slice(6))]),
  Buffer.concat([frame(4, 0, 0), frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]), frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0])]),
]
const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

async function checkFrames({ proxy }: Gate, input: Buffer): Promise<void> {
  const port = Number(new URL(proxy.url).port)
  const socket = connectTls({ port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['h2'] })
  await tell(socket, Buffer.concat([PREFACE, input]))
  await requireSecureService(proxy)
}

const POST = [0x83, ...FIELDS.slice(1)]
/** A request without an end, of which more are to come; a whole one; and one that is answered while its body is not here. */
const REQUESTS = [
  [frame(1, 4, 1, POST)],
  [frame(1, 4, 1, POST), frame(0, 0, 1, [1, 2, 3])],
  [frame(1, 4, 1, POST), frame(1, 4, 3, POST), frame(1, 5, 5, FIELDS)],
  [frame(1, 5, 1, FIELDS), frame(1, 1, 3, FIELDS.slice(0, 6))],
  [],
].map((frames) => Buffer.concat([PREFACE, frame(4, 0, 0), ...frames]))

/** Frames that end a connection (RFC 9113 5.4.1), and some that do not; changed, each can be another kind. */
const BREAKS = [
  frame(0, 0, 0, [1]),
  frame(0, 8, 1, [200, 1]),
  frame(0, 0, 9, [1]),
  frame(0, 0, 1, Buffer.alloc(20_000)),
  frame(1, 5, 2, FIELDS),
  frame(1, 13, 7, [200, 1, 2]),
  frame(1, 5, 7, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  frame(2, 0, 1, [0, 0, 0, 1, 1]),
  frame(2, 0, 1, [0]),
  frame(3, 0, 1, [0, 0, 0, 8]),
  frame(3, 0, 9, [0, 0, 0, 8]),
  frame(4, 0, 0, [0, 1, 0]),
  frame(4, 0, 1),
  frame(4, 1, 0, [0]),
  frame(4, 0, 0, [0, 4, 0xff, 0xff, 0xff, 0xff]),
  frame(5, 4, 1, [0, 0, 0, 2, ...FIELDS]),
  frame(6, 0, 0, [1, 2, 3]),
  frame(6, 0, 0, [1, 2, 3, 4, 5, 6, 7, 8]),
  frame(7, 0, 0, [0, 0, 0, 0, 0, 0, 0, 0]),
  frame(7, 0, 1, [0, 0, 0, 0, 0, 0, 0, 1]),
  frame(7, 0, 0, [0, 0]),
  frame(8, 0, 0, [0, 0, 0, 0]),
  frame(8, 0, 1, [0x7f, 0xff, 0xff, 0xff]),
  frame(9, 4, 1, FIELDS),
  frame(77, 0, 1),
]

/** How a client leaves: within a moment, or not until the proxy ends its connection. */
const LEAVING = ['close', 'reset', 'half', 'stay', 'stay, and read nothing'] as const

type Broken = Readonly<{ asked: Buffer; broken: Buffer; leaving: (typeof LEAVING)[number] }>

/** Until all that clients held is back; far more than it takes on a busy machine. */
const BACK_MS = 15_000
const SETTLE_MS = 5

async function breakOff(gate: Gate, { asked, broken, leaving }: Broken): Promise<() => void> {
  const socket = dial(gate.proxy).on('error', () => {})
  const secured = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ['h2'] }).on('error', () => {})
  await once(secured, 'secureConnect')
  if (leaving !== 'stay, and read nothing') secured.resume()
  for (const bytes of [asked, broken]) {
    secured.write(bytes)
    await delay(SETTLE_MS)
  }
  if (leaving === 'close') socket.destroy()
  if (leaving === 'reset') socket.resetAndDestroy()
  if (leaving === 'half') secured.end()
  return () => void socket.destroy()
}

async function requireNothingHeld(gate: Gate): Promise<void> {
  const until = performance.now() + BACK_MS
  for (;;) {
    const held = await gate.held()
    if (Object.values(held).every((count) => count === 0)) return
    if (performance.now() > until) throw new Error(`still held: ${JSON.stringify(held)}`)
    await delay(20)
  }
}

async function checkBreaks(gate: Gate, input: readonly Broken[]): Promise<void> {
  const ends = await Promise.all(input.map((broken) => breakOff(gate, broken)))
  await requireNothingHeld(gate)
  for (const end of ends) end()
  await requireSecureService(gate.proxy)
}

const [asked, leaving] = [fc.constantFrom(...REQUESTS), fc.constantFrom(...LEAVING)]
const broken = fc.record({ asked, broken: mutated(BREAKS), leaving })
const connections = fc.array(broken, { minLength: 1, maxLength: 6 })

export const HTTP2: readonly FuzzTarget[] = [
  gateTarget('HTTP/2 frames', mutated(FRAMES), checkFrames, { secure: true }),
  gateTarget('HTTP/2 breaks within requests', connections, checkBreaks, { secure: true }),
]
