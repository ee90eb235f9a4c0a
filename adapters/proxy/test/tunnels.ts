import { createHash } from 'node:crypto'
import type { Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { type Answer, dial, exchange, get, OK, readStatus, readUntil } from './wire.ts'

export const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

export function handshake(target = '/chat', ...fields: readonly string[]): string {
  const own = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${KEY}`]
  return [`GET ${target} HTTP/1.1`, 'Host: site.example', ...own, ...fields, '', ''].join('\r\n')
}

export function agreement(head: string, ...fields: readonly string[]): string {
  const key = /sec-websocket-key: (\S+)/i.exec(head)?.[1]
  const accept = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64')
  const own = ['Upgrade: websocket', 'Connection: Upgrade, X-Hop', 'X-Hop: 1', `Sec-WebSocket-Accept: ${accept}`]
  return ['HTTP/1.1 101 Switching Protocols', ...own, ...fields, '', ''].join('\r\n')
}

/** A WebSocket origin of the smallest kind: agrees to the handshake and sends every byte back. */
export const echo: Answer = (socket, head) => {
  if (!/^upgrade: websocket\r$/im.test(head)) {
    socket.write(OK)
    return
  }
  socket.write(agreement(head, 'Set-Cookie: a=1', 'Set-Cookie: b=2'))
  socket.pipe(socket)
}

/** A tunnel through a proxy, with the head that the client got. */
export async function tunnel(t: Test, answer: Answer = echo, options: ProxyOptions = {}, ...fields: readonly string[]) {
  const behind = await proxyBefore(t, answer, options)
  const client = await dial(behind.url)
  const head = readUntil(client, '\r\n\r\n')
  client.write(handshake('/chat', ...fields))
  return { ...behind, client, head: await head }
}

/** A request after the event proves that the proxy lives. */
export async function lives(t: Test, url: string): Promise<void> {
  t.equal(readStatus(await exchange(url, get('/'))), 200, 'and the proxy lives')
}
