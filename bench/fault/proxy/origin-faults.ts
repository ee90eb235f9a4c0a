import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

/* Faults of an origin. Each is done on a connection of its own that a whole request came over. */

export type Fault = (socket: Socket) => void | Promise<void>

const OK = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'
const EMPTY = 'Content-Length: 0\r\n\r\n'
const LENGTH = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n'
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'

/** Longer than an early hint takes, shorter than any clock. */
const LATE_MS = 500
/** A pause in which earlier bytes leave in a packet of their own. */
const SETTLE_MS = 20

const says = (text: string) => (socket: Socket) => void socket.end(text, 'latin1')
const closesAfter = (text: string) => (socket: Socket) =>
  void socket.write(text, () => setTimeout(() => socket.end(), SETTLE_MS))
const resetsAfter = (text: string) => (socket: Socket) =>
  void socket.write(text, () => setTimeout(() => socket.resetAndDestroy(), SETTLE_MS))
const stopsAfter = (text: string) => (socket: Socket) => void socket.write(text, 'latin1')

/** Writes again and again until the other side has had enough. */
async function forEver(socket: Socket, first: string, again: string): Promise<void> {
  socket.write(first)
  while (!socket.destroyed) {
    if (!socket.write(again)) await Promise.race([drained(socket), delay(1_000)])
    await delay(1)
  }
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => socket.once('drain', resolve).once('close', resolve))
}

const HEADS: Readonly<Record<string, Fault>> = {
  'not HTTP': says('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  'an empty line': says('\r\n\r\n'),
  'status 099': says(`HTTP/1.1 099 Low\r\n${EMPTY}`),
  'status 600': says(`HTTP/1.1 600 High\r\n${EMPTY}`),
  'status 999': says(`HTTP/1.1 999 No\r\n${EMPTY}`),
  'a status of two digits': says('HTTP/1.1 20 OK\r\n\r\n'),
  'a status with a letter': says(`HTTP/1.1 2o0 OK\r\n${EMPTY}`),
  'a control byte in the reason': says(`HTTP/1.1 200 O\u0001K\r\n${EMPTY}`),
  'a control byte in a value': says(`HTTP/1.1 200 OK\r\nX-A: a\u0001b\r\n${EMPTY}`),
  'a NUL in a value': says(`HTTP/1.1 200 OK\r\nX-A: a\u0000b\r\n${EMPTY}`),
  'a space in a name': says(`HTTP/1.1 200 OK\r\nX A: b\r\n${EMPTY}`),
  'a field without a colon': says(`HTTP/1.1 200 OK\r\nnothing\r\n${EMPTY}`),
  'an endless field': (socket) => forEver(socket, 'HTTP/1.1 200 OK\r\nX-A: ', 'a'.repeat(4_096)),
  'endless fields': (socket) => forEver(socket, 'HTTP/1.1 200 OK\r\n', 'X-A: aaaaaaaaaaaaaaaa\r\n'.repeat(200)),
  'a thousand early hints': says(`${'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1_000)}${OK}`),
  '100 Continue unasked': says(`HTTP/1.1 100 Continue\r\n\r\n${OK}`),
  'an upgrade nobody asked for': says('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n'),
}

const FRAMING: Readonly<Record<string, Fault>> = {
  'CL and TE': says('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'),
  'two lengths': says('HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'),
  'a length that is none': says('HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n'),
  'a length of 2^70': says('HTTP/1.1 200 OK\r\nContent-Length: 1180591620717411303424\r\n\r\n'),
  'more than its length': says(`${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`),
  '204 with a body': says('HTTP/1.1 204 No Content\r\nContent-Length: 4\r\n\r\nbody'),
  'a chunk without a size': says(`${CHUNKED}zz\r\nhello\r\n0\r\n\r\n`),
  'a chunk longer than its size': says(`${CHUNKED}2\r\nhello\r\n0\r\n\r\n`),
}

const ENDS: Readonly<Record<string, Fault>> = {
  'closes before the head': (socket) => void socket.end(),
  'resets before the head': (socket) => void socket.resetAndDestroy(),
  'closes within the status line': closesAfter('HTTP/1.1 20'),
  'resets within the fields': resetsAfter('HTTP/1.1 200 OK\r\nContent-Le'),
  'closes after the head': closesAfter(`${LENGTH}\r\n`),
  'resets after the head': resetsAfter(`${LENGTH}\r\n`),
  'closes within the body': closesAfter(`${LENGTH}\r\nhalf`),
  'resets within the body': resetsAfter(`${LENGTH}\r\nhalf`),
  'closes within a chunk': closesAfter(`${CHUNKED}64\r\nhalf`),
  'resets within a chunk': resetsAfter(`${CHUNKED}64\r\nhalf`),
}

const CLOCKS: Readonly<Record<string, Fault>> = {
  'answers late': async (socket) => {
    await delay(LATE_MS)
    if (!socket.destroyed) socket.end(OK)
  },
  'says nothing': () => {},
  'stops within the body': stopsAfter(`${LENGTH}\r\nhalf`),
  'endless early hints': (socket) => forEver(socket, '', 'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(100)),
}

/** So many of the last are ended by a clock of the proxy alone. */
export const CLOCKED = 3

/** 39 of them. */
export const ORIGIN_FAULTS: Readonly<Record<string, Fault>> = { ...HEADS, ...FRAMING, ...ENDS, ...CLOCKS }
