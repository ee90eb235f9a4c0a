import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'

/** Answers the head of a request at an origin; the body, if any, comes to `socket` as it arrives. */
export type Answer = (socket: Socket, head: string) => void

/** An origin that parses nothing: it keeps every byte it was sent, one text a connection, and calls `answer`. */
export interface RawOrigin {
  readonly url: string
  /** Latin-1 text of each connection, in the order they came. */
  readonly received: readonly string[]
  readonly heads: readonly string[]
  /** Open connections that a request came over; one that undici keeps ready for the next is not counted. */
  open(): number
  close(): Promise<void>
}

export async function openRawOrigin(answer: Answer | string, port = 0): Promise<RawOrigin> {
  const received: string[] = []
  const heads: string[] = []
  const sockets = new Set<Socket>()
  const idle = new Set<Socket>()
  const server = createServer((socket) => {
    const index = received.push('') - 1
    let unread = ''
    idle.add(socket)
    sockets.add(socket)
    socket.once('data', () => idle.delete(socket))
    socket.on('close', () => {
      sockets.delete(socket)
      idle.delete(socket)
    })
    socket.on('error', () => {})
    socket.on('data', (bytes) => {
      received[index] += bytes.toString('latin1')
      unread += bytes.toString('latin1')
      for (let end = unread.indexOf('\r\n\r\n'); end >= 0; end = unread.indexOf('\r\n\r\n')) {
        // The body of the request before it may stand in front of a head.
        const head = /[A-Z]+ \S+ HTTP\/1\.1\r\n[\s\S]*/.exec(unread.slice(0, end + 4))?.[0]
        unread = unread.slice(end + 4)
        if (head === undefined) continue
        heads.push(head)
        if (typeof answer === 'string') socket.write(answer, 'latin1')
        else answer(socket, head)
      }
    })
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    heads,
    open: () => sockets.size - idle.size,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

export const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Opens a TCP connection to a URL's port, from an address of loopback. */
export async function dial(url: string, localAddress = '127.0.0.1'): Promise<Socket> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  await once(socket, 'connect')
  return socket
}

/** Opens a connection and sends bytes over it. */
export async function send(url: string, bytes: string | Buffer, localAddress?: string): Promise<Socket> {
  const socket = await dial(url, localAddress)
  socket.write(bytes, 'latin1')
  return socket
}

/** Resolves with all that was received until it holds `until`, or until the connection ends. */
export function readUntil(socket: Socket, until: string | RegExp = '\u0000'): Promise<string> {
  return new Promise((resolve) => {
    let text = ''
    const done = (): void => {
      socket.off('data', take).off('close', done)
      resolve(text)
    }
    const take = (bytes: Buffer): void => {
      text += bytes.toString('latin1')
      if (typeof until === 'string' ? text.includes(until) : until.test(text)) done()
    }
    socket.on('data', take)
    socket.once('close', done)
    if (socket.destroyed) done()
  })
}

/** Sends bytes and resolves with all that comes back until the other side closes. */
export async function exchange(url: string, bytes: string): Promise<string> {
  const socket = await dial(url)
  const answer = readUntil(socket)
  socket.write(bytes, 'latin1')
  return answer
}

/** The bytes of a request that asks for the connection to be closed after it. */
export function get(target: string, ...fields: readonly string[]): string {
  return [`GET ${target} HTTP/1.1`, 'Host: site.example', ...fields, 'Connection: close', '', ''].join('\r\n')
}

/** The bytes of such a request that this machine sends to the admin listener. */
export function getLocal(target: string): string {
  return get(target).replace('site.example', 'localhost')
}

export function readStatus(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1])
}

/** Waits for a condition that other sockets bring about; fails by the test's own timeout. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5))
}

/** Stands still as a busy process does. */
export function stall(ms: number): void {
  for (const end = performance.now() + ms; performance.now() < end; );
}
