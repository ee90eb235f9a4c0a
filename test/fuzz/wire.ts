import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { createMetrics } from '@sallyport/engine'
import { type Proxy as Gateway, openProxy, type ProxyOptions } from '@sallyport/proxy'
import fc from 'fast-check'
import { madeScene } from '../hosts/scene.ts'
import { madeCertificate } from './certificate.ts'
import { mutated } from './mutations.ts'
import { type FuzzTarget, fuzzTarget, type Subject } from './target.ts'

/*
 * Bytes for the proxy: whatever they are, the connection ends or is answered in time, the origin gets no more requests
 * than were answered, nothing throws, and the next visitor is served.
 */

const SLOWEST_MS = 4_000

export interface Gate {
  readonly proxy: Gateway
  /** Requests that have come to the origin. */
  readonly received: () => number
  /** Connections and slots that clients have, and slots that leaked, by their metrics. */
  held(): Promise<Readonly<Record<string, number>>>
  close(): Promise<void>
}

const HELD = /^sallyport_(connections|requests_in_flight\{.*\}|leaked_slots_total) (\d+)$/gm

async function openGate(options: ProxyOptions = {}): Promise<Gate> {
  let received = 0
  const origin = createServer((req, res) => {
    received++
    req.resume()
    req.on('end', () => res.end('ok'))
  })
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
      ...options,
      timeouts: {
        header: 300,
        keepAlive: 300,
        idleBody: 300,
        clientHello: 300,
        handshake: 300,
        drain: 100,
        clientUnread: 300,
      },
    },
  )
  return {
    proxy,
    received: () => received,
    async held() {
      const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
      const counts = text.matchAll(HELD)
      return Object.fromEntries([...counts].map(([, name = '', count]) => [name, Number(count)]))
    },
    async close() {
      await proxy.close('cut')
      origin.closeAllConnections()
      origin.close()
      if (faults.length > 0) throw faults[0]
    },
  }
}

/** An answer is whole when nothing more has come for so long. */
const QUIET_MS = 40

/** Sends bytes and gives back what was answered. */
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

/** A proxy on a machine that is too busy sheds for a moment, and says so. */
const SHED = { status: 503, forMs: 1_000, tries: 5 } as const

/** The status of the first answer that is no shedding. */
async function served(ask: () => Promise<number>): Promise<number> {
  for (let tries = 1; ; tries++) {
    const status = await ask()
    if (status !== SHED.status || tries === SHED.tries) return status
    await delay(SHED.forMs)
  }
}

export async function requireService({ url }: Gateway, rejectUnauthorized = true): Promise<void> {
  const ask = async () =>
    rejectUnauthorized
      ? (await fetch(url)).status
      : statusOverTls({ port: Number(new URL(url).port), host: '127.0.0.1' })
  const answered = await served(ask)
  if (answered !== 200) throw new Error(`the next visitor gets ${answered}`)
}

const readStatus = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1])

async function statusOverTls(to: ConnectionOptions): Promise<number> {
  const socket = connectTls({ ...to, rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] })
  return readStatus(await tell(socket, Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n')))
}

const REQUESTS = [
  'GET /a?b=c HTTP/1.1\r\nHost: a.example\r\nUser-Agent: Mozilla/5.0\r\nAccept: */*\r\n\r\n',
  'POST /form HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nX-Forwarded-For: 8.8.8.8\r\n\r\nhello',
  'POST /form HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n',
  'GET /a HTTP/1.1\r\nHost: a.example\r\n\r\nGET /b HTTP/1.1\r\nHost: a.example\r\n\r\n',
  'GET /ws HTTP/1.1\r\nHost: a.example\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  'GET http://a.example/v1/agentscan/check HTTP/1.1\r\nHost: a.example\r\nExpect: 100-continue\r\n\r\n',
].map((text) => Buffer.from(text))

const http1 = fuzzTarget<Buffer>('raw HTTP/1', async () => {
  const gate = await openGate()
  return {
    inputs: mutated(REQUESTS),
    async check(input) {
      const before = gate.received()
      const answered = await tell(dial(gate.proxy), input)
      const answers = answered.match(/HTTP\/1\.1 [2-5]\d\d /g)?.length ?? 0
      const asked = gate.received() - before
      if (asked > answers) throw new Error(`${asked} requests at the origin and ${answers} answers: ${answered}`)
      await requireService(gate.proxy)
    },
    close: gate.close,
  }
})

/** A gate that speaks TLS, closed with its subject. */
export async function overTls<Input>(
  create: (gate: Gate) => Subject<Input>,
  options: ProxyOptions = {},
): Promise<Subject<Input>> {
  const certificate = madeCertificate()
  const gate = await openGate({ ...options, tls: { certificates: [certificate.files] } })
  const target = create(gate)
  return {
    ...target,
    async close() {
      await target.close()
      certificate.remove()
    },
  }
}

/** A record that begins a handshake, and plain HTTP, which comes to such a port often enough. */
const RECORDS = [
  Buffer.concat([Buffer.from([22, 3, 1, 0, 50, 1, 0, 0, 46, 3, 3]), Buffer.alloc(43, 7)]),
  Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n'),
  Buffer.from([21, 3, 3, 0, 2, 2, 40]),
]

const tls = fuzzTarget<Buffer>('TLS records', () =>
  overTls((gate) => ({
    inputs: mutated(RECORDS),
    async check(input) {
      await tell(dial(gate.proxy), input)
      await requireService(gate.proxy, false)
    },
    close: gate.close,
  })),
)

const SIGNATURE = [0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d, 0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a]
const HEADERS = {
  v1: [Buffer.from('PROXY TCP4 8.8.8.8 192.0.2.1 5000 443\r\n'), Buffer.from('PROXY UNKNOWN\r\n')],
  v2: [
    Buffer.from([...SIGNATURE, 0x21, 0x11, 0, 12, 8, 8, 8, 8, 192, 0, 2, 1, 0x13, 0x88, 1, 187]),
    Buffer.from([...SIGNATURE, 0x20, 0, 0, 0]),
    Buffer.from([...SIGNATURE, 0x21, 0x31, 0, 216, ...Array(216).fill(47)]),
  ],
} as const

function proxyHeaders(version: 'v1' | 'v2'): FuzzTarget {
  const good = HEADERS[version][0] as Buffer
  const request = Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n')
  return fuzzTarget<Buffer>(`PROXY protocol ${version}`, async () => {
    const gate = await openGate({ proxyProtocol: version })
    return {
      inputs: mutated(HEADERS[version]),
      async check(input) {
        await tell(dial(gate.proxy), Buffer.concat([input, request]))
        const answered = await served(async () =>
          readStatus(await tell(dial(gate.proxy), Buffer.concat([good, request]))),
        )
        if (answered !== 200) throw new Error(`the next visitor gets ${answered}`)
      },
      close: gate.close,
    }
  })
}

const tlsBehind = fuzzTarget<Buffer>('TLS behind the PROXY protocol', () =>
  overTls(
    (gate) => ({
      inputs: mutated(RECORDS.flatMap((record) => HEADERS.v2.map((header) => Buffer.concat([header, record])))),
      async check(input) {
        await tell(dial(gate.proxy), input)
        const answered = await served(() => {
          const socket = dial(gate.proxy)
          socket.write(HEADERS.v2[0])
          return statusOverTls({ socket })
        })
        if (answered !== 200) throw new Error(`the next visitor gets ${answered}`)
      },
      close: gate.close,
    }),
    { proxyProtocol: 'v2' },
  ),
)

/** Bodies of `/v1`, which a made API gives back: JSON of every form, and what is none. */
const jsonBodies = fuzzTarget<string>('JSON bodies', async () => {
  const scene = madeScene()
  const gate = await openGate()
  const texts = fc.oneof(
    fc.json({ maxDepth: 6 }),
    mutated([Buffer.from('{"ip":"8.8.8.8","headers":{"user-agent":"a"}}')]).map(String),
  )
  return {
    inputs: texts,
    async check(body) {
      const headers = { authorization: `Bearer ${scene.key}`, 'content-type': 'application/json' }
      const answer = await fetch(`${gate.proxy.url}/v1/agentscan/check`, { method: 'POST', headers, body })
      await answer.text()
      if (answer.status >= 500) throw new Error(`${answer.status}`)
    },
    close: gate.close,
  }
})

export const WIRE: readonly FuzzTarget[] = [http1, tls, proxyHeaders('v1'), proxyHeaders('v2'), tlsBehind, jsonBodies]
