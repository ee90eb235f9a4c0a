/* Frames of HTTP/2, good and bad, for clients that write bytes. */

import type { Socket } from 'node:net'

export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  more: 9,
}
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')
/** Flags of frames. */
export const END = { stream: 1, headers: 4, both: 5 } as const

/** Makes a frame of HTTP/2 (RFC 9113 4.1). */
export function frame(type: number, flags: number, stream: number, payload: readonly number[] | Buffer = []): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

/** Makes a field without Huffman and without the table (RFC 7541 6.2.2). */
export function field(name: string, value: string): Buffer {
  return Buffer.from([0, name.length, ...Buffer.from(name), value.length, ...Buffer.from(value)])
}

const NAMED = { ':method': 'GET', ':scheme': 'https', ':authority': 'a.example', ':path': '/' }
export const PSEUDO = Object.entries(NAMED).map(([name, value]) => field(name, value))
export const GET = Buffer.concat(PSEUDO)
export const BEGIN = Buffer.concat([PREFACE, frame(TYPE.settings, 0, 0)])

export function headers(stream: number, flags: number, ...fields: readonly Buffer[]): Buffer {
  return frame(TYPE.headers, flags, stream, Buffer.concat(fields))
}

export function hearFrames(socket: Socket, hear: (type: number, stream: number, payload: Buffer) => void): void {
  let unread = Buffer.alloc(0)
  socket.on('data', (bytes: Buffer) => {
    unread = Buffer.concat([unread, bytes])
    while (unread.length >= 9 && unread.length >= 9 + unread.readUIntBE(0, 3)) {
      const payload = unread.subarray(9, 9 + unread.readUIntBE(0, 3))
      const [type, stream] = [unread[3] as number, unread.readUInt32BE(5)]
      unread = unread.subarray(9 + payload.length)
      hear(type, stream, payload)
    }
  })
}

const POST = Buffer.concat([field(':method', 'POST'), ...PSEUDO.slice(1)])
/** A request on stream 1 whose body never comes. */
export const OPEN_POST = headers(1, END.headers, POST)

/** Frames that end a connection (RFC 9113 5.4.1), by what is wrong with them; stream 1 may be open. */
export const FATAL: Readonly<Record<string, Buffer>> = {
  'DATA on no stream': frame(TYPE.data, 0, 0, [1]),
  'DATA on a stream that never was': frame(TYPE.data, 0, 7, [1]),
  'DATA with more padding than data': frame(TYPE.data, 8, 1, [200, 1]),
  'HEADERS on no stream': headers(0, END.both, GET),
  'HEADERS on a stream of the server': headers(2, END.both, GET),
  'HEADERS with more padding than fields': frame(TYPE.headers, END.both | 8, 3, [200, 1, 2]),
  'fields that cannot be unpacked': frame(TYPE.headers, END.both, 3, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  'a frame within a list of fields': Buffer.concat([headers(3, 0, GET), frame(TYPE.ping, 0, 0, Buffer.alloc(8))]),
  'CONTINUATION of nothing': frame(TYPE.more, END.headers, 1, GET),
  'CONTINUATION of another stream': Buffer.concat([headers(3, 0, GET), frame(TYPE.more, END.headers, 5, GET)]),
  'PRIORITY of a wrong length': frame(TYPE.priority, 0, 1, [0, 0]),
  'RST_STREAM of no stream': frame(TYPE.reset, 0, 0, [0, 0, 0, 8]),
  'RST_STREAM of a stream that never was': frame(TYPE.reset, 0, 9, [0, 0, 0, 8]),
  'RST_STREAM of a wrong length': frame(TYPE.reset, 0, 1, [0]),
  'SETTINGS on a stream': frame(TYPE.settings, 0, 1),
  'SETTINGS of a wrong length': frame(TYPE.settings, 0, 0, [0, 1, 0]),
  'an answer to SETTINGS with a payload': frame(TYPE.settings, 1, 0, [0, 1, 0, 0, 0, 0]),
  'a window that is too large': frame(TYPE.settings, 0, 0, [0, 4, 0xff, 0xff, 0xff, 0xff]),
  'PUSH_PROMISE of a client': frame(TYPE.push, END.headers, 1, Buffer.concat([Buffer.from([0, 0, 0, 2]), GET])),
  'PING of a wrong length': frame(TYPE.ping, 0, 0, [1, 2, 3]),
  'PING on a stream': frame(TYPE.ping, 0, 1, Buffer.alloc(8)),
  'GOAWAY on a stream': frame(TYPE.goaway, 0, 1, Buffer.alloc(8)),
  'GOAWAY of a wrong length': frame(TYPE.goaway, 0, 0, [0, 0]),
  'WINDOW_UPDATE by nothing': frame(TYPE.window, 0, 0, Buffer.alloc(4)),
  'WINDOW_UPDATE beyond all bounds': frame(TYPE.window, 0, 0, [0x7f, 0xff, 0xff, 0xff]),
  'a frame that is too large': frame(TYPE.data, 0, 1, Buffer.alloc(20_000)),
  'the head of a frame that is too large': frame(TYPE.data, 0, 1, Buffer.alloc(20_000)).subarray(0, 9),
}
