import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { openProxy } from '@sallyport/proxy'
import fc from 'fast-check'
import { madeScene } from '../hosts/scene.ts'
import { madeCertificate } from './certificate.ts'
import { mutated } from './mutations.ts'
import { fuzzTarget } from './target.ts'

/*
 * Answers of an origin: whatever they are, clients of both versions get an answer or a cut in time, the same status and body where both
 * get a whole one, nothing throws, and the next request is served.
 */

const SLOWEST_MS = 10_000
const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

const answer = (...lines: readonly string[]): Buffer =>
  Buffer.from(['HTTP/1.1 200 OK', ...lines].join('\r\n'), 'latin1')
const ANSWERS = [
  answer(
    'Content-Type: text/plain',
    'Content-Type: text/plain',
    'ETag: "a"',
    'ETag: "b"',
    'Content-Length: 2',
    '',
    'ok',
  ),
  answer(
    'Connection: X-Named, close',
    'HTTP2-Settings: AAMAAABk',
    'Keep-Alive: 5',
    'TE: a',
    'Content-Length: 2',
    '',
    'ok',
  ),
  answer(
    'Transfer-Encoding: chunked',
    'Trailer: X-Sum',
    '',
    '2',
    'ok',
    '0',
    'X-Sum: 1',
    'ETag: "a"',
    'ETag: "a"',
    '',
    '',
  ),
  answer(
    'Date: a',
    'Date: b',
    'Location: /caf\u00e9',
    'Location: /b',
    'Retry-After: 1',
    'Retry-After: 2',
    '',
    'until the end',
  ),
  Buffer.from('HTTP/1.1 204 No Content\r\nContent-Length: 2\r\nExpires: 0\r\nExpires: 1\r\n\r\n'),
  Buffer.from('HTTP/1.1 205 Reset Content\r\nContent-Length: 2\r\n\r\nok'),
  Buffer.from('HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\nAge: 1\r\nAge: 1\r\n\r\n'),
  Buffer.from('HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'),
  Buffer.from('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
]

const HANDSHAKE = [
  'Host: a.example',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  '',
  '',
].join('\r\n')

/** An answer, how much of it comes first, and whether its connection is reset after it. */
interface Said {
  readonly bytes: Buffer
  readonly part: number
  readonly reset: boolean
}

/** The answer that a client got; a cut has no status, or a body that is not whole. */
interface Got {
  readonly status: number
  readonly body: string
  readonly whole: boolean
}

async function open() {
  let said: Said = { bytes: Buffer.from(GOOD), part: 1, reset: false }
  const origin = createServer((socket) => {
    let head = ''
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      if (head.includes(' /good ')) socket.end(GOOD)
      else say(socket, said)
      head = ''
    })
  })
  origin.listen(0, '127.0.0.1')
  await once(origin, 'listening')
  const faults: unknown[] = []
  const certificate = madeCertificate()
  const proxy = await openProxy(madeScene().enforcing, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    http: '127.0.0.1:0',
    upstream: `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
    tls: { certificates: [certificate.files] },
    onFault: (error) => faults.push(error),
    limits: { eventLoopDelay: '1m' },
    timeouts: { drain: 100 },
  })
  const session = connectHttp2(proxy.url, { rejectUnauthorized: false, maxHeaderListPairs: 10_000 }).on(
    'error',
    () => {},
  )
  await once(session, 'connect')
  const port = Number(new URL(String(proxy.httpUrl)).port)
  return {
    // A client of HTTP/1.0 is sent no chunks.
    http1: (path: string) => overHttp1(port, `GET ${path} HTTP/1.0\r\nHost: a.example\r\n\r\n`),
    webSocket: (path: string) => overHttp1(port, `GET ${path} HTTP/1.1\r\n${HANDSHAKE}`),
    http2: (path: string) => overHttp2(session, path),
    says(next: Said) {
      said = next
    },
    faults,
    async close() {
      session.destroy()
      await proxy.close('cut')
      origin.close()
      certificate.remove()
    },
  }
}

/** Writes an answer in two packets, and ends the connection. */
function say(socket: Socket, { bytes, part, reset }: Said): void {
  const at = Math.floor(part * bytes.length)
  socket.write(bytes.subarray(0, at), () => {
    socket.write(bytes.subarray(at), () => (reset ? socket.resetAndDestroy() : socket.end()))
  })
}

async function overHttp1(port: number, request: string): Promise<Got> {
  const socket = connect(port, '127.0.0.1').on('error', () => {})
  const parts: Buffer[] = []
  const late = setTimeout(() => socket.destroy(new Error('late')), SLOWEST_MS)
  socket.on('data', (part: Buffer) => parts.push(part))
  socket.write(request)
  await new Promise((resolve) => socket.once('close', resolve))
  clearTimeout(late)
  if (socket.errored?.message === 'late') throw new Error('a client of HTTP/1 has no end')
  const text = Buffer.concat(parts).toString('latin1')
  const from = text.indexOf('\r\n\r\n') + 4
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0)
  const length = /\r\ncontent-length: (\d+)/i.exec(text.slice(0, from))?.[1]
  const body = text.slice(from)
  // Without a length no client knows whether the answer is whole.
  return { status, body, whole: Number(length) === body.length }
}

async function overHttp2(session: ClientHttp2Session, path: string): Promise<Got> {
  const stream = session.request({ ':path': path, ':authority': 'a.example' }).on('error', () => {})
  let [status, body] = [0, '']
  stream.on('response', (fields) => (status = Number(fields[':status'])))
  stream.on('data', (part: Buffer) => (body += part.toString('latin1')))
  const closed = new Promise<boolean>((resolve) => stream.once('close', () => resolve(true)))
  let late: NodeJS.Timeout | undefined
  const inTime = await Promise.race([closed, new Promise((resolve) => (late = setTimeout(resolve, SLOWEST_MS)))])
  clearTimeout(late)
  if (inTime !== true) throw new Error('a client of HTTP/2 has no end')
  return { status, body, whole: stream.rstCode === 0 }
}

/** Ids differ, and the text of a refusal has one. */
const withoutId = ({ body }: Got): string => body.replace(/"requestId":"[^"]*"/, '')

export const answers = fuzzTarget<Said>('answers of an origin', async () => {
  const gate = await open()
  return {
    inputs: fc.record({
      bytes: mutated(ANSWERS),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      reset: fc.boolean(),
    }),
    async check(input) {
      gate.says(input)
      const [one, two] = [await gate.http1('/odd'), await gate.http2('/odd')]
      if (!input.reset && one.whole && two.whole && (one.status !== two.status || withoutId(one) !== withoutId(two))) {
        throw new Error(`over HTTP/1 ${JSON.stringify(one)}, over HTTP/2 ${JSON.stringify(two)}`)
      }
      await gate.webSocket('/odd')
      const next = [await gate.http1('/good'), await gate.http2('/good')].map(({ status }) => status)
      if (next.join() !== '200,200') throw new Error(`the next requests get ${next}`)
      if (gate.faults.length > 0) throw gate.faults[0]
    },
    close: gate.close,
  }
})
