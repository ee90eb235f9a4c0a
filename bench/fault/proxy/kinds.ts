import { headOf } from './wire.ts'

/** One way to hold a connection and do little on it. */
export interface Kind {
  /** Written when the connection is there; `at` is its number. */
  readonly first: (at: number) => string
  /** Written every second after that. */
  readonly drip?: string | undefined
  /** How many bytes are read in a second; absent: all. */
  readonly reads?: number | undefined
}

const HANDSHAKE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
]

const always = (text: string) => () => text

export const KINDS: Readonly<Record<string, Kind>> = {
  'a head byte by byte': { first: always('GET / HTTP/1.1\r\nHost: site.example\r\nX-Slow: '), drip: 'x' },
  'no bytes at all': { first: always('') },
  'a slow body of 1,000 bytes': { first: always(headOf('POST', '/upload', 'Content-Length: 1000')), drip: 'x' },
  'a slow body of 9 MB': { first: always(headOf('POST', '/upload', 'Content-Length: 9000000')), drip: 'x' },
  'a slow body in chunks': {
    first: always(headOf('POST', '/upload', 'Transfer-Encoding: chunked')),
    drip: '1\r\nx\r\n',
  },
  'Expect, and no body': { first: always(headOf('POST', '/upload', 'Expect: 100-continue', 'Content-Length: 1000')) },
  'a reader that pauses': { first: always(headOf('GET', '/big')), reads: 0 },
  'a reader that drips': { first: always(headOf('GET', '/big')), reads: 100 },
  'requests for one slow URL': { first: always(headOf('GET', '/slow')) },
  'idle connections after an answer': { first: always(headOf('GET', '/')) },
  'WebSockets, unanswered or idle': {
    first: (at) => headOf('GET', at % 2 === 0 ? '/ws-silent' : '/ws', ...HANDSHAKE),
  },
}
