import { connect as connectHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { connect, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { Protocol } from './protocols.ts'

/** A response as it came over the wire. */
export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Opens a connection to a port on loopback, and writes as soon as that is possible. */
function dial(port: number, bytes: string, tls: boolean): Socket {
  if (!tls) {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    return socket
  }
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false, ALPNProtocols: ['http/1.1'] }
  const socket = connectTls({ ...options, servername: 'site.example' }, () => socket.write(bytes))
  return socket
}

/** Sends bytes to a port on loopback and resolves with all that comes back until the connection closes. */
export function exchange(port: number, bytes: string, tls = false): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = dial(port, bytes, tls)
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', (text: string) => {
      received += text
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
  })
}

/** Sends an upgrade request and resolves with the head of the response; the socket stays open, for the caller to close. */
export function upgrade(
  port: number,
  bytes: string,
  tls = false,
): Promise<{ readonly socket: Socket; readonly head: string }> {
  return new Promise((resolve, reject) => {
    const socket = dial(port, bytes, tls)
    let head = ''
    socket.setEncoding('utf8')
    const read = (text: string) => {
      head += text
      if (!head.includes('\r\n\r\n')) return
      socket.off('data', read)
      resolve({ socket, head })
    }
    socket.on('data', read)
    socket.on('error', reject)
    socket.on('close', () => reject(new Error(`closed after ${JSON.stringify(head)}`)))
  })
}

/** A request, whatever it goes over. */
export interface Asked {
  readonly method: string
  readonly target: string
  /** Name, value, name, value …; over HTTP/2 names are in lower case, and what is about a connection is left out. */
  readonly fields: readonly string[]
  readonly body?: string | undefined
}

/** Asks a server on loopback, over a connection of its own. */
export async function ask(port: number, protocol: Protocol, asked: Asked): Promise<WireResponse> {
  if (protocol.http2) return askHttp2(port, protocol, asked)
  const { method, target, fields, body } = asked
  return parseResponse(
    await exchange(port, requestBytes(method, target, fields, body), protocol.certificate !== undefined),
  )
}

async function askHttp2(port: number, { certificate }: Protocol, asked: Asked): Promise<WireResponse> {
  const scheme = certificate === undefined ? 'http' : 'https'
  const session = connectHttp2(`${scheme}://127.0.0.1:${port}`, { rejectUnauthorized: false })
  try {
    return await new Promise((resolve, reject) => {
      session.on('error', reject)
      const stream = session.request(http2Fields(asked), { endStream: false })
      let [headers, body]: [WireResponse['headers'], string] = [{}, '']
      stream.setEncoding('utf8')
      stream.on('response', (fields) => (headers = fields as unknown as WireResponse['headers']))
      stream.on('data', (text: string) => (body += text))
      stream.on('error', reject)
      stream.on('end', () => {
        const { ':status': status, ...rest } = headers
        resolve({ status: Number(status), headers: rest, body })
      })
      // Nothing follows a head that announces a body and sends none.
      const waits = asked.body === undefined && asked.fields.some((name) => name.toLowerCase() === 'content-length')
      if (!waits) stream.end(asked.body)
    })
  } finally {
    session.destroy()
  }
}

function http2Fields({ method, target, fields, body }: Asked): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {
    ':method': method,
    ':path': target,
    ':authority': 'site.example',
    ...(body !== undefined && { 'content-length': String(Buffer.byteLength(body)) }),
  }
  for (let at = 0; at + 1 < fields.length; at += 2) {
    const [name, value] = [fields[at]?.toLowerCase() ?? '', fields[at + 1] ?? '']
    if (name === 'connection') continue
    const before = headers[name]
    headers[name] = before === undefined ? value : [before, value].flat()
  }
  return headers
}

/** Lists the fields of the handshake of a WebSocket. */
export const WEBSOCKET: readonly string[] =
  'Connection Upgrade Upgrade websocket Sec-WebSocket-Version 13 Sec-WebSocket-Key dGhlIHNhbXBsZSBub25jZQ=='.split(' ')

/** Asks a host for a target as the client at an address does, on a connection of its own. */
export async function askAs(
  { port }: { readonly port: number },
  address: string,
  target: string,
  more: readonly string[] = [],
  { method = 'GET', body }: { readonly method?: string; readonly body?: string } = {},
): Promise<WireResponse> {
  const fields = ['X-Forwarded-For', address, 'Connection', 'close', ...more]
  return parseResponse(await exchange(port, requestBytes(method, target, fields, body)))
}

/** Asks a host as `askAs` does, and reads the status alone. */
export async function readStatus(...asked: Parameters<typeof askAs>): Promise<number> {
  return (await askAs(...asked)).status
}

/** The bytes of a request; `Host` comes first, other fields as they are given. */
export function requestBytes(method: string, target: string, fields: readonly string[], body?: string): string {
  const lines = [`${method} ${target} HTTP/1.1`, 'Host: site.example']
  for (let i = 0; i < fields.length; i += 2) lines.push(`${fields[i]}: ${fields[i + 1]}`)
  if (body !== undefined) lines.push(`Content-Length: ${Buffer.byteLength(body)}`)
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`
}

/** Reads a whole response: names in lower case, a chunked body put together. */
export function parseResponse(received: string): WireResponse {
  const end = received.indexOf('\r\n\r\n')
  const [first = '', ...lines] = received.slice(0, end).split('\r\n')
  const headers = Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const rest = received.slice(end + 4)
  const body =
    headers['transfer-encoding'] === 'chunked' ? rest.replace(/(?:^|\r\n)[0-9a-f]+\r\n(?:\r\n$)?/g, '') : rest
  return { status: Number(first.split(' ')[1]), headers, body }
}
