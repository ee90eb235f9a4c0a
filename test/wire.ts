import { connect, type Socket } from 'node:net'

/** A response as it came over the wire. */
export interface WireResponse {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

/** Sends bytes to a port on loopback and resolves with all that comes back until the connection closes. */
export function exchange(port: number, bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
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
export function upgrade(port: number, bytes: string): Promise<{ readonly socket: Socket; readonly head: string }> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
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
