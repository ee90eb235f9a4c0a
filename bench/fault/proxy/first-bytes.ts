import { once } from 'node:events'
import type { Socket } from 'node:net'
import { connect as tlsConnect } from 'node:tls'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { processorTime } from '../../proxy/processes.ts'
import type { Raised, Sallyport } from '../../proxy/sallyport.ts'
import { repeat } from './left-behind.ts'
import { type Place, withScene } from './scene.ts'
import { dial, portOf, readToEnd } from './wire.ts'

/** How often each input is sent. */
const TIMES = numberFlag('first-bytes', 300)
const MAX_COST_MS = 5
/** The longest that anybody else may wait for an answer meanwhile. */
const MAX_WAIT_MS = 1_000
const PROBE_MS = 10
/** How long a stranger waits for an end before it leaves: what is read last is read by then. */
const PATIENCE_MS = 200
const AT_ONCE = 10
const SIZE = 65_536
const PACKET = 1_460

/** Bytes that a stranger sends, in pieces, on a connection or on TLS over it. */
interface Input {
  readonly bytes: Buffer
  readonly piece: number
}

type Opened = (proxy: Sallyport) => Promise<Socket>

const overTcp: Opened = async ({ url }) => {
  const socket = dial(portOf(url), '127.0.0.2')
  await once(socket, 'connect')
  return socket
}

const overTls: Opened = async (proxy) => {
  const secure = tlsConnect({ socket: await overTcp(proxy), ALPNProtocols: ['h2'], rejectUnauthorized: false })
  secure.on('error', () => {})
  await once(secure, 'secureConnect')
  return secure
}

/** Bytes that strangers begin with: no input stops the others, or costs more than its work in bytes. */
export async function faultFirstBytes(place: Place): Promise<Measured> {
  const tls: Raised = { tls: { certificates: [await makeCertificate(place.folder)] }, timeouts: { clientHello: '1s' } }
  const trusting = (proxyProtocol: 'v1' | 'v2'): Raised => ({
    proxyProtocol,
    trustProxy: ['loopback'],
    timeouts: { header: '1s' },
  })
  const broken: string[] = []
  const costs: number[] = []
  const waits: number[] = []
  for (const [raised, open, inputs] of [
    [tls, overTcp, HELLOS],
    [tls, overTls, PREFACES],
    [trusting('v1'), overTcp, HEADERS],
    [trusting('v2'), overTcp, HEADERS],
  ] as const) {
    await withScene(place, { raised }, async ({ proxy }) => {
      for (const [name, bytes] of Object.entries(inputs)) {
        for (const piece of [SIZE * 2, PACKET]) {
          const { cost, wait } = await costOf(proxy, open, { bytes, piece })
          console.log(
            `${name}, by ${piece}: ${cost.toFixed(2)} ms each, others wait ${Math.round(wait)} ms at the most`,
          )
          costs.push(cost)
          waits.push(wait)
          if (!(cost < MAX_COST_MS)) broken.push(`${name}, by ${piece}: ${cost.toFixed(1)} ms`)
          if (!(wait < MAX_WAIT_MS)) broken.push(`${name}, by ${piece}: others wait ${Math.round(wait)} ms`)
        }
      }
      if (!proxy.running()) broken.push('the proxy ended')
    })
  }
  const measured = `${costs.length} kinds: ${Math.max(...costs).toFixed(2)} ms each at the most, others wait ${Math.round(Math.max(...waits))} ms`
  return { measured, broken }
}

/** The processor time that one of them takes of the proxy, in milliseconds, and the longest wait of anybody else. */
async function costOf(
  proxy: Sallyport,
  open: Opened,
  { bytes, piece }: Input,
): Promise<{ cost: number; wait: number }> {
  const stop = new AbortController()
  const longest = longestWait(proxy, stop.signal)
  const before = processorTime([proxy.pid])
  await repeat(TIMES, AT_ONCE, async () => {
    const socket = await open(proxy)
    const ended = readToEnd(socket, PATIENCE_MS)
    for (let at = 0; at < bytes.length; at += piece) socket.write(bytes.subarray(at, at + piece))
    await ended
  })
  const cost = ((processorTime([proxy.pid]) - before) * 1_000) / TIMES
  stop.abort()
  return { cost, wait: await longest }
}

async function longestWait({ admin }: Sallyport, signal: AbortSignal): Promise<number> {
  let longest = 0
  while (!signal.aborted) {
    const began = performance.now()
    await fetch(`${admin}/healthz`).then((answer) => answer.text())
    longest = Math.max(longest, performance.now() - began)
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS))
  }
  return longest
}

/** Makes it as long as it may be, of what could go on with it. */
function filled(start: Buffer, more: Buffer | string): Buffer {
  return Buffer.concat([start, Buffer.alloc(Math.max(0, SIZE - start.length), more)])
}

/** A hello of 16,000 bytes, nearly all of them ciphers, in records of these sizes, the last of them again and again. */
function inRecords(...sizes: readonly number[]): Buffer {
  const ciphers = Buffer.alloc(15_956, '\x13\x01\x13\x02\xc0\x2b', 'latin1')
  const before = Buffer.from([1, 0, 62, 124, 3, 3, ...Array(32).fill(7), 0, ciphers.length >> 8, ciphers.length & 0xff])
  const hello = Buffer.concat([before, ciphers, Buffer.from([1, 0])])
  hello.writeUIntBE(hello.length - 4, 1, 3)
  const records: Buffer[] = []
  for (let at = 0, index = 0; at < hello.length; index++) {
    const part = hello.subarray(at, at + (sizes[Math.min(index, sizes.length - 1)] as number))
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part)
    at += part.length
  }
  return Buffer.concat(records)
}

const HELLOS: Readonly<Record<string, Buffer>> = {
  'a hello in records of one byte': inRecords(1),
  'a hello in records of one byte after a larger one': inRecords(16, 1),
  'a hello in the smallest records': inRecords(16),
  'a hello in the most records': inRecords(255),
  'a hello in one record': inRecords(16_384),
  'no hello': filled(Buffer.alloc(0), 'GET / HTTP/1.1\r\n'),
}

const V2_START = Buffer.from('\r\n\r\n\0\r\nQUIT\n', 'latin1')

const HEADERS: Readonly<Record<string, Buffer>> = {
  'a PROXY line without an end': filled(Buffer.from('PROXY TCP4 '), '1'),
  'a PROXY line of words': filled(Buffer.from('PROXY '), ' '),
  'the largest PROXY header': filled(Buffer.concat([V2_START, Buffer.from([0x21, 0x11, 16, 0])]), 'x'),
  'a PROXY header that is too large': filled(Buffer.concat([V2_START, Buffer.from([0x21, 0x11, 255, 255])]), 'x'),
}

const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

const PREFACES: Readonly<Record<string, Buffer>> = {
  'no preface of HTTP/2': filled(Buffer.alloc(0), 'GET / HTTP/1.1\r\n'),
  'a preface of HTTP/2 without frames': filled(PREFACE, 'GET / HTTP/1.1\r\n'),
  'a preface of HTTP/2 and a frame that is too large': filled(PREFACE, Buffer.from([255, 255, 255, 4, 0, 0, 0, 0, 0])),
}
