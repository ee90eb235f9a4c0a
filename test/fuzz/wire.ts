import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Server, type Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { createMetrics } from '@sallyport/engine'
import { type Proxy as Gateway, openProxy, type ProxyOptions } from '@sallyport/proxy'
import fc, { type Arbitrary } from 'fast-check'
import { certificate } from '../certificate.ts'
import { madeScene } from '../hosts/scene.ts'
import { makeFolder } from '../started.ts'
import { mutated } from './mutations.ts'
import { type FuzzTarget, fuzzTarget } from './target.ts'

/*
 * Bytes for the proxy: whatever they are, the connection ends or is answered in time, the origin gets no more requests
 * than were answered, nothing throws, and the next visitor is served.
 */

const SLOWEST_MS = 4_000

export type Gate = Awaited<ReturnType<typeof openGate>>

const HELD = /^sallyport_(connections|requests_in_flight\{.*\}|leaked_slots_total) (\d+)$/gm

const IMPATIENT = ['header', 'keepAlive', 'idleBody', 'clientHello', 'handshake', 'clientUnread']
const TIMEOUTS = { ...Object.fromEntries(IMPATIENT.map((name) => [name, 300])), drain: 100 }

/** Opens a proxy before an origin, which answers every request unless another one is given. */
export async function openGate(options: ProxyOptions = {}, given?: Server) {
  let received = 0
  const answering = createServer((req, res) => {
    received++
    req.resume()
    req.on('end', () => res.end('ok'))
  })
  const origin = given ?? answering
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const faults: unknown[] = []
  const meter = createMetrics()
  const proxy = await openProxy(
    { ...madeScene().enforcing, meter, observe: meter.observe },
    {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      limits: { eventLoopDelay: '1m' },
      upstream: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
      onFault: (error) => faults.push(error),
      timeouts: TIMEOUTS,
      ...options,
    },
  )
  return {
    proxy,
    received: () => received,
    faults,
    /** Counts connections and slots that clients have, and slots that leaked, by their metrics. */
    async held(): Promise<Readonly<Record<string, number>>> {
      const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
      return Object.fromEntries([...text.matchAll(HELD)].map(([, name = '', count]) => [name, Number(count)]))
    },
    async close() {
      await proxy.close('cut')
      origin.close()
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** An answer is whole when nothing more has come for so long. */
const QUIET_MS = 40

export async function tell(socket: Socket, bytes: Buffer): Promise<string> {
  const parts: Buffer[] = []
  let quiet: NodeJS.Timeout | undefined
  socket.on('error', () => {})
  const late = setTimeout(() => socket.destroy(new Error('late')), SLOWEST_MS)
  const closed = new Promise<boolean>((resolve) => socket.on('close', resolve))
  socket.on('data', (part: Buffer) => {
    parts.push(part)
    clearTimeout(quiet)
    quiet = setTimeout(() => socket.destroy(), QUIET_MS)
  })
  socket.on('end', () => socket.end())
  socket.write(bytes)
  await closed
  clearTimeout(late)
  clearTimeout(quiet)
  if (socket.errored?.message === 'late') throw new Error('the connection neither ends nor is answered')
  return Buffer.concat(parts).toString('latin1')
}

export const dial = ({ url }: Gateway): Socket =>
  connect({ port: Number(new URL(url).port), host: '127.0.0.1', allowHalfOpen: true })

const GET = Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n')

/** Throws where the next visitor is not served. */
async function requireService(socket: Socket, before: Buffer = Buffer.alloc(0)): Promise<void> {
  const answer = await tell(socket, Buffer.concat([before, GET]))
  if (!answer.startsWith('HTTP/1.1 200 ')) throw new Error(`the next visitor gets ${answer.slice(0, 12)}`)
}

/** Throws where the next visitor over TLS is not served, on a connection or a port. */
export async function requireSecureService({ url }: Gateway, given: ConnectionOptions = {}): Promise<void> {
  const to = { port: Number(new URL(url).port), host: '127.0.0.1', ...given }
  await requireService(connectTls({ ...to, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }))
}

/** Makes a target with a gate of its own, which speaks TLS where it is `secure`. */
export function gateTarget<Input>(
  name: string,
  inputs: Arbitrary<Input>,
  check: (gate: Gate, input: Input) => Promise<void>,
  { secure, ...options }: ProxyOptions & { readonly secure?: true } = {},
): FuzzTarget {
  return fuzzTarget<Input>(name, async () => {
    const tls = secure && { tls: { certificates: [certificate(makeFolder())] } }
    const gate = await openGate({ ...options, ...tls })
    return { inputs, check: (input) => check(gate, input), close: gate.close }
  })
}

const REQUESTS = [
  'GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n\r\n',
  'POST /form HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nX-Forwarded-For: 8.8.8.8\r\n\r\nhello',
  'POST /form HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'GET /a HTTP/1.1\r\nHost: a.example\r\n\r\nGET /b HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  'GET http://a.example/v1/agentscan/check HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n\r\n',
].map((text) => Buffer.from(text))

const http1 = gateTarget('raw HTTP/1', mutated(REQUESTS), async ({ proxy, received }, input) => {
  const before = received()
  const answered = await tell(dial(proxy), input)
  const answers = answered.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0
  const asked = received() - before
  if (asked > answers) throw new Error(`${asked} requests at the origin and ${answers} answers: ${answered}`)
  await requireService(dial(proxy))
})

/** A record that begins a handshake, and plain HTTP, which comes to such a port often enough. */
const RECORDS = [
  Buffer.concat([Buffer.from([22, 3, 1, 0, 50, 1, 0, 0, 46, 3, 3]), Buffer.alloc(43, 7)]),
  Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'),
  Buffer.from([21, 3, 3, 0, 2, 2, 40]),
]

async function checkRecord({ proxy }: Gate, input: Buffer): Promise<void> {
  await tell(dial(proxy), input)
  await requireSecureService(proxy)
}

const tls = gateTarget('TLS records', mutated(RECORDS), checkRecord, { secure: true })

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
const HEADERS = {
  v1: [Buffer.from('PROXY TCP4 8.8.8.8 192.0.2.1 5000 443\r\n'), Buffer.from('PROXY UNKNOWN\r\n')],
  v2: [
    Buffer.from([...SIGNATURE, 0x21, 0x11, 0, 12, 8, 8, 8, 8, 192, 0, 2, 1, 0x13, 0x88, 1, 187]),
    Buffer.from([...SIGNATURE, 0x20, 0, 0, 0]),
    Buffer.from([...SIGNATURE, 0x21, 0x31, 0, 216, ...Array(216).fill(47)]),
  ],
} as const

const proxyHeaders = (['v1', 'v2'] as const).map((proxyProtocol) => {
  const seeds = HEADERS[proxyProtocol]
  const check = async ({ proxy }: Gate, input: Buffer) => {
    await tell(dial(proxy), Buffer.concat([input, GET]))
    await requireService(dial(proxy), seeds[0])
  }
  return gateTarget(`PROXY protocol ${proxyProtocol}`, mutated(seeds), check, { proxyProtocol })
})

const BEHIND = RECORDS.flatMap((record) => HEADERS.v2.map((header) => Buffer.concat([header, record])))
const tlsBehind = gateTarget(
  'TLS behind the PROXY protocol',
  mutated(BEHIND),
  async ({ proxy }, input) => {
    await tell(dial(proxy), input)
    const socket = dial(proxy)
    socket.write(HEADERS.v2[0])
    await requireSecureService(proxy, { socket })
  },
  { secure: true, proxyProtocol: 'v2' },
)

const { key: KEY } = madeScene()
/** Bodies of `/v1`, which a made API gives back: JSON of every form, and what is none. */
const JSON_TEXTS = mutated([Buffer.from('{"ip":"8.8.8.8","headers":{"user-agent":"a"}}')]).map(String)
const jsonBodies = gateTarget(
  'JSON bodies',
  fc.oneof(fc.json({ maxDepth: 6 }), JSON_TEXTS),
  async ({ proxy }, body) => {
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' }
    const answer = await fetch(`${proxy.url}/v1/agentscan/check`, { method: 'POST', headers, body })
    await answer.text()
    if (answer.status >= 500) throw new Error(`${answer.status}`)
  },
)

export const WIRE: readonly FuzzTarget[] = [http1, tls, ...proxyHeaders, tlsBehind, jsonBodies]
