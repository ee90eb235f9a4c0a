import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { descriptors, resident } from '../../proxy/processes.ts'
import { heldBefore, leftBehind, repeat } from './left-behind.ts'
import { type Place, withScene } from './scene.ts'
import { dial, headOf, portOf } from './wire.ts'

const EACH = numberFlag('each', 500)
const AT_ONCE = 50
const VISITORS = 16
const WARM_UP = 50
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
export async function faultAborts(place: Place): Promise<Measured> {
  return withScene(place, {}, async ({ proxy }) => {
    const rows: Record<string, object> = {}
    const leave = (way: (socket: Socket) => Promise<unknown>, times: number) =>
      repeat(times, AT_ONCE, async (at) => {
        const socket = dial(portOf(proxy.url), `127.0.1.${1 + (at % VISITORS)}`)
        await Promise.race([way(socket), once(socket, 'close')])
        if (at % 2 === 0) socket.destroy()
        else socket.resetAndDestroy()
      })
    const before = await heldBefore(proxy, async () => {
      for (const way of Object.values(ABORTS)) await leave(way, WARM_UP)
    })
    for (const [name, way] of Object.entries(ABORTS)) {
      await leave(way, EACH)
      if (!proxy.running()) break
      await delay(1_000)
      rows[name] = { 'descriptors, a second later': descriptors(proxy.pid), MB: Math.round(resident(proxy.pid)) }
    }
    console.log(`\nclients that leave, ${EACH} times at each moment`)
    console.table(rows)
    return leftBehind(proxy, before, `${EACH} clients leave at each of ${Object.keys(ABORTS).length} moments`)
  })
}
