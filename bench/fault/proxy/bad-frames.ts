/* Bytes of HTTP/2 (RFC 9113) for clients that write them without a library. */

function frame(type: number, flags: number, stream: number, payload: readonly number[] | Buffer = []): Buffer {
  const head = Buffer.alloc(9)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, Buffer.from(payload)])
}

/** POST and GET https site.example/upload, by the static table of HPACK. */
const REST = [0x87, 0x41, 12, ...Buffer.from('site.example'), 0x44, 7, ...Buffer.from('/upload')]
const [POST, GET] = [
  [0x83, ...REST],
  [0x82, ...REST],
]

/** How a connection begins. */
export const BEGIN = Buffer.concat([Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'), frame(4, 0, 0)])
/** A request on stream 1 whose body does not come. */
export const OPEN_POST = frame(1, 4, 1, POST)

/** Frames that end a connection (RFC 9113 5.4.1) whether or not stream 1 is open, by what is wrong with them. */
export const BAD_FRAMES: Readonly<Record<string, Buffer>> = {
  'DATA on no stream': frame(0, 0, 0, [1]),
  'HEADERS on a stream of the server': frame(1, 5, 2, GET),
  'HEADERS with more padding than fields': frame(1, 5 | 8, 3, [200, 1, 2]),
  'fields that cannot be unpacked': frame(1, 5, 3, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
  'a frame within a list of fields': Buffer.concat([frame(1, 0, 3, GET), frame(6, 0, 0, Buffer.alloc(8))]),
  'CONTINUATION of nothing': frame(9, 4, 1, GET),
  'PRIORITY of a wrong length': frame(2, 0, 1, [0, 0]),
  'RST_STREAM of a stream that never was': frame(3, 0, 9, [0, 0, 0, 8]),
  'SETTINGS on a stream': frame(4, 0, 1),
  'SETTINGS of a wrong length': frame(4, 0, 0, [0, 1, 0]),
  'PUSH_PROMISE of a client': frame(5, 4, 1, [0, 0, 0, 2, ...GET]),
  'PING of a wrong length': frame(6, 0, 0, [1, 2, 3]),
  'GOAWAY on a stream': frame(7, 0, 1, Buffer.alloc(8)),
  'WINDOW_UPDATE by nothing': frame(8, 0, 0, Buffer.alloc(4)),
  'a frame that is too large': frame(0, 0, 1, Buffer.alloc(20_000)),
}
