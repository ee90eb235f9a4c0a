import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { type Leaver, leaveAt } from './leaving.ts'
import type { Place } from './scene.ts'
import { dial, headOf } from './wire.ts'

/** Until what was sent has come to the origin. */
const SETTLE_MS = 20

/** Acts of a client before it leaves. */
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

/** Clients of HTTP/1.1, in plain or over TLS, that leave at four moments, half of them by a reset: nothing stays behind. */
export async function faultAborts(place: Place, secure: boolean): Promise<Measured> {
  const raised = secure ? { tls: { certificates: [await makeCertificate(place.folder)] } } : {}
  const leavers = Object.entries(ABORTS).map(([name, way]): readonly [string, Leaver] => [name, leaver(way, secure)])
  return leaveAt(place, raised, Object.fromEntries(leavers))
}

function leaver(way: (socket: Socket) => Promise<unknown>, secure: boolean): Leaver {
  return async (port, address, at) => {
    const socket = dial(port, address)
    const top = secure ? tlsConnect({ socket, rejectUnauthorized: false }).on('error', () => {}) : socket
    const ready = secure ? once(top, 'secureConnect') : Promise.resolve()
    await Promise.race([ready.then(() => way(top)), once(socket, 'close')])
    if (at % 2 === 0) socket.destroy()
    else socket.resetAndDestroy()
  }
}
