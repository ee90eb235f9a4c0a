import { type Socket, connect as tcpConnect } from 'node:net'

/* Clients that cost little: sockets, and texts that were made before. */

/** Opens a connection from an address of this machine, and ignores its errors. */
export function dial(port: number, localAddress: string): Socket {
  const socket = tcpConnect({ port, host: '127.0.0.1', localAddress, noDelay: true })
  return socket.on('error', () => {})
}

export function readPort(url: string): number {
  return Number(new URL(url).port)
}

export interface Answer {
  readonly status: number
  readonly head: string
  readonly body: Buffer
}

/** Takes the bytes of a connection and gives the answers on it, each of which tells its length. */
export function answerReader(onAnswer: (answer: Answer) => void): (bytes: Buffer) => void {
  let unread: Buffer = Buffer.alloc(0)
  return (bytes) => {
    unread = unread.length === 0 ? bytes : Buffer.concat([unread, bytes])
    for (let end = unread.indexOf('\r\n\r\n'); end >= 0; end = unread.indexOf('\r\n\r\n')) {
      const head = unread.toString('latin1', 0, end)
      const status = Number(head.slice(9, 12))
      const from = end + 4
      const to = from + Number(/\r\ncontent-length: *(\d+)/i.exec(head)?.[1] ?? 0)
      if (unread.length < to) return
      const body = unread.subarray(from, to)
      unread = unread.subarray(to)
      if (status >= 200) onAnswer({ status, head, body })
    }
  }
}
