import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import type { Measured } from '../../promises.ts'
import { type Leaver, leaveAt } from './leaving.ts'
import type { Place } from './scene.ts'
import { dial, headOf } from './wire.ts'

/** Until what was sent has come to the origin. */
const SETTLE_MS = 20

/** What a client does before it leaves. */
const ABORTS: Readonly<Record<string, (socket: Socket) => Promise<unknown>>> = {
  'within its body': async (socket) => {
    socket.write(`${headOf('POST', '/upload', 'Content-Length: 200000')}${'x'.repeat(100_000)}`)
    await delay(SETTLE_MS)
  },
  'before the answer': async (socket) => {
    socket.write(headOf('GET', '/slow'))
    await delay(SETTLE_MS)
  },
  'within the answer': async (socket) => {
    socket.write(headOf('GET', '/big'))
    await once(socket, 'data')
  },
  'within a handshake': async (socket) => {
    const key = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=='
    const fields = ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', key]
    socket.write(headOf('GET', '/ws-silent', ...fields))
    await delay(SETTLE_MS)
  },
}

/** Clients that leave at four moments, half of them by a reset: nothing of them stays behind. */
export function faultAborts(place: Place): Promise<Measured> {
  const leavers = Object.entries(ABORTS).map(([name, way]): readonly [string, Leaver] => [name, leaver(way)])
  return leaveAt(place, {}, Object.fromEntries(leavers))
}

function leaver(way: (socket: Socket) => Promise<unknown>): Leaver {
  return async (port, address, at) => {
    const socket = dial(port, address)
    await Promise.race([way(socket), once(socket, 'close')])
    if (at % 2 === 0) socket.destroy()
    else socket.resetAndDestroy()
  }
}
