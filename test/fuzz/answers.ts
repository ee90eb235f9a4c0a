import { once } from 'node:events'
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2'
import { connect, createServer, type Socket } from 'node:net'
import fc from 'fast-check'
import { certificate } from '../certificate.ts'
import { makeFolder } from '../started.ts'
import { mutated } from './mutations.ts'
import { fuzzTarget } from './target.ts'
import { openGate, tell } from './wire.ts'

/*
 * Answers of an origin: whatever they are, clients of both versions get an answer or a cut in time, nothing throws, and the next
 * request is served.
 */

const SLOWEST_MS = 10_000
const GOOD = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Makes an answer of the lines between the bars. */
const answer = (lines: string, status = '200 OK'): Buffer =>
  Buffer.from(`HTTP/1.1 ${status}|${lines}`.replaceAll('|', '\r\n'), 'latin1')
const ANSWERS = [
  answer('Content-Type: text/plain|Content-Type: text/plain|ETag: "a"|ETag: "b"|Content-Length: 2||ok'),
  answer('Connection: X-Named, close|HTTP2-Settings: AAMAAABk|Keep-Alive: 5|TE: a|Content-Length: 2||ok'),
  answer('Transfer-Encoding: chunked|Trailer: X-Sum||2|ok|0|X-Sum: 1|ETag: "a"|ETag: "a"||'),
  answer('Date: a|Date: b|Location: /caf\u00e9|Location: /b|Retry-After: 1|Retry-After: 2||until the end'),
  answer('Content-Length: 2|Expires: 0|Expires: 1||', '204 No Content'),
  answer('Content-Length: 2||ok', '205 Reset Content'),
  answer('Content-Length: 2|Age: 1|Age: 1||', '304 Not Modified'),
  answer('Link: </a>||HTTP/1.1 200 OK|Content-Length: 2||ok', '103 Early Hints'),
  answer('Connection: Upgrade|Upgrade: x||', '101 Switching Protocols'),
]

const HANDSHAKE =
  'Connection: Upgrade|Upgrade: websocket|Sec-WebSocket-Version: 13|Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==|'

/** An answer, how much of it comes first, and whether its connection is reset after it. */
type Said = Readonly<{ bytes: Buffer; part: number; reset: boolean }>

function say(socket: Socket, { bytes, part, reset }: Said): void {
  const at = Math.floor(part * bytes.length)
  socket.write(bytes.subarray(0, at), () => {
    socket.write(bytes.subarray(at), () => (reset ? socket.resetAndDestroy() : socket.end()))
  })
}

/** Resolves with the status of a stream, or 0 where it was cut. */
async function askOverHttp2(session: ClientHttp2Session, path: string): Promise<number> {
  const stream = session.request({ ':path': path, ':authority': 'a.example' }).on('error', () => {})
  let [status, isLate] = [0, false]
  stream.on('response', (fields) => (status = Number(fields[':status']))).resume()
  const late = setTimeout(() => {
    isLate = true
    stream.close()
  }, SLOWEST_MS)
  await new Promise((resolve) => stream.once('close', resolve))
  clearTimeout(late)
  if (isLate) throw new Error('a client of HTTP/2 has no end')
  return status
}

export const answers = fuzzTarget<Said>('answers of an origin', async () => {
  let said: Said
  const origin = createServer((socket) => {
    socket.on('error', () => {})
    socket.on('data', (bytes) => (bytes.includes(' /good ') ? socket.end(GOOD) : say(socket, said)))
  })
  const tls = { certificates: [certificate(makeFolder())] }
  const gate = await openGate({ http: '127.0.0.1:0', tls, timeouts: { drain: 100 } }, origin)
  const session = connectHttp2(gate.proxy.url, { rejectUnauthorized: false, maxHeaderListPairs: 10_000 })
  session.on('error', () => {})
  await once(session, 'connect')
  const port = Number(new URL(String(gate.proxy.httpUrl)).port)
  const ask = (path: string, fields = '') => {
    const head = `GET ${path} HTTP/1.1|Host: a.example|${fields}|`.replaceAll('|', '\r\n')
    return tell(connect(port, '127.0.0.1'), Buffer.from(head))
  }
  return {
    inputs: fc.record({
      bytes: mutated(ANSWERS),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      reset: fc.boolean(),
    }),
    async check(input) {
      said = input
      await Promise.all([ask('/odd'), ask('/odd', HANDSHAKE), askOverHttp2(session, '/odd')])
      const [one, two] = [await ask('/good'), await askOverHttp2(session, '/good')]
      if (!one.startsWith('HTTP/1.1 200 ') || two !== 200) throw new Error(`the next requests get ${one}, ${two}`)
      if (gate.faults.length > 0) throw gate.faults[0]
    },
    async close() {
      session.destroy()
      await gate.close()
    },
  }
})
