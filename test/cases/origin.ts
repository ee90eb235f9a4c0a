import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'

/** An origin that changes nothing: each head as it came. */
export interface RecordingOrigin {
  readonly url: string
  /** Latin-1 texts, in the order they came. */
  readonly heads: readonly string[]
  close(): Promise<void>
}

export type Answer = (head: string, connection: object) => string

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'

/** Answers each head with the bytes that `answer` has for it and its connection, and skips bodies by their length or their chunks. */
export async function openRecordingOrigin(answer: Answer = () => OK): Promise<RecordingOrigin> {
  const heads: string[] = []
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    let unread = ''
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    socket.on('data', (bytes) => {
      unread += bytes.toString('latin1')
      for (let length = messageLength(unread); length !== undefined; length = messageLength(unread)) {
        const head = unread.slice(0, unread.indexOf('\r\n\r\n') + 4)
        unread = unread.slice(length)
        heads.push(head)
        socket.write(answer(head, socket), 'latin1')
      }
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    heads,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
}

/** Length of the first message of a connection, once it is whole. */
function messageLength(unread: string): number | undefined {
  const end = unread.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = unread.slice(0, end)
  if (/^transfer-encoding:.*chunked/im.test(head)) {
    const last = /(?:^|\r\n)0\r\n(?:[^\r\n]+\r\n)*\r\n/.exec(unread.slice(end + 4))
    return last === null ? undefined : end + 4 + last.index + last[0].length
  }
  const length = end + 4 + Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0)
  return unread.length < length ? undefined : length
}
