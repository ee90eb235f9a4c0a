import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The origin of these runs. `/` is a few bytes, `/big` more than buffers hold, `/slow` comes after a minute; `/upload` tells how much came, and `/echo` gives it back; `/ws` accepts a WebSocket. It has no clock of its own.
 */
const SLOW_MS = 60_000
const PIECE = Buffer.alloc(65_536, 'x')

/** `/big` exceeds the buffers of a connection on loopback, which hold some 4 MB. */
const BIG_BYTES = 5_000_000

const ANSWERS: Readonly<Record<string, RequestListener>> = {
  '/': (_, response) => end(response, 'ok'),
  '/big': (_, response) => sendMuch(response, BIG_BYTES),
  '/slow': (_, response) => {
    const late = setTimeout(() => end(response, 'late'), SLOW_MS)
    response.once('close', () => clearTimeout(late))
  },
  '/upload': async (request, response) => end(response, String((await readBody(request)).length)),
  '/echo': async (request, response) => {
    const body = await readBody(request)
    // Some answers end the connection.
    if (body.length % 50 === 0) response.shouldKeepAlive = false
    response.setHeader('X-Echo', String(request.headers['x-echo']))
    end(response, body)
  },
}

function end(response: ServerResponse, body: string | Buffer): void {
  response.setHeader('Content-Length', Buffer.byteLength(body))
  response.end(body)
}

function sendMuch(response: ServerResponse, bytes: number): void {
  response.setHeader('Content-Length', bytes)
  let sent = 0
  const push = (): void => {
    while (sent < bytes && !response.destroyed) {
      const piece = PIECE.subarray(0, Math.min(PIECE.length, bytes - sent))
      sent += piece.length
      if (!response.write(piece)) return void response.once('drain', push)
    }
    response.end()
  }
  push()
}

/** The origin does not count the received part of an abandoned body. */
async function readBody(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  try {
    for await (const piece of request) pieces.push(piece)
  } catch {}
  return Buffer.concat(pieces)
}

const server = createServer({ keepAliveTimeout: 0, requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
  const answer = ANSWERS[request.url ?? '']
  if (answer === undefined) end(response, 'none')
  else answer(request, response)
})
server.on('upgrade', (request, socket) => {
  socket.on('error', () => socket.destroy())
  if (request.url !== '/ws') return
  const accept = createHash('sha1')
    .update(`${request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest('base64')
  const fields = ['Connection: Upgrade', 'Upgrade: websocket', `Sec-WebSocket-Accept: ${accept}`]
  socket.write(['HTTP/1.1 101 Switching Protocols', ...fields, '', ''].join('\r\n'))
  socket.resume().once('end', () => socket.end())
})
server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, () =>
  process.send?.((server.address() as AddressInfo).port),
)
