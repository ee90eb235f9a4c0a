import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect as tlsConnect } from 'node:tls'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { makeCertificate } from '../../proxy/certificate.ts'
import { probed } from '../../proxy/held.ts'
import { BAD_FRAMES, BEGIN, OPEN_POST } from './bad-frames.ts'
import { heldBefore, leftBehind, repeat } from './left-behind.ts'
import { type Place, withScene } from './scene.ts'
import { dial, headOf, portOf, readToEnd } from './wire.ts'

/** The number of connections for each way to leave. */
const EACH = numberFlag('each', 500)
const AT_ONCE = 50
/** More than the proxy has slots for, 64 for each, where each request keeps one. */
const ADDRESSES = 8
const WARM_UP = 50
/** Until what was sent has come to the proxy. */
const SETTLE_MS = 20
/** Until all is back. */
const BACK_MS = 15_000

const BYTES = Object.values(BAD_FRAMES)
const WAYS: Readonly<Record<string, (socket: Socket) => unknown>> = {
  closes: (socket) => socket.destroy(),
  resets: (socket) => socket.resetAndDestroy(),
  stays: () => {},
}

/** A wrong frame of HTTP/2 within a request, or before one, and a client that leaves or stays: all that it held is back in time. */
export async function faultHttp2Breaks(place: Place): Promise<Measured> {
  const raised = { tls: { certificates: [await makeCertificate(place.folder)] } }
  return withScene(place, { raised, node: probed(place.folder) }, async ({ proxy }) => {
    const port = portOf(proxy.url)
    const stay: Socket[] = []
    const breaking = (leave: (socket: Socket) => unknown, times: number) =>
      repeat(times, AT_ONCE, async (at) => {
        const socket = dial(port, addressOf(at))
        const secure = tlsConnect({ socket, ALPNProtocols: ['h2'], rejectUnauthorized: false }).on('error', () => {})
        await Promise.race([once(secure, 'secureConnect'), once(socket, 'close')])
        // Every fourth one has asked for nothing.
        secure.resume().write(at % 4 === 3 ? BEGIN : Buffer.concat([BEGIN, OPEN_POST]))
        await delay(SETTLE_MS)
        secure.write(BYTES[at % BYTES.length] as Buffer)
        await delay(SETTLE_MS)
        leave(socket)
        stay.push(socket)
      })
    const before = await heldBefore(proxy, place.folder, async () => {
      for (const leave of Object.values(WAYS)) await breaking(leave, WARM_UP)
      await backAfter(proxy.admin)
    })
    for (const leave of Object.values(WAYS)) await breaking(leave, EACH)
    const seconds = proxy.running() ? await backAfter(proxy.admin) : Number.NaN
    const refused: string[] = []
    for (let at = 0; at < ADDRESSES; at++) refused.push(...(await visit(port, addressOf(at))))
    const what = `${Object.keys(WAYS).length * EACH} broken connections, back after ${seconds.toFixed(1)} s`
    const { measured, broken } = await leftBehind(proxy, place.folder, before, what)
    for (const socket of stay) socket.destroy()
    const late = seconds <= BACK_MS / 1_000 ? [] : ['connections or slots are not back after 15 s']
    return { measured, broken: [...late, ...refused, ...broken] }
  })
}

const addressOf = (at: number): string => `127.0.1.${1 + (at % ADDRESSES)}`

/** Seconds until no client has a connection or a slot, and none has leaked; more than may be where they keep it. */
async function backAfter(admin: string): Promise<number> {
  const start = performance.now()
  for (;;) {
    const text = await (await fetch(`${admin}/metrics`)).text()
    const held = [...text.matchAll(/^sallyport_(?:connections|requests_in_flight\{.*\}|leaked_slots_total) (\d+)$/gm)]
    const waited = performance.now() - start
    if (held.every(([, count]) => count === '0') || waited > 2 * BACK_MS) return waited / 1_000
    await delay(100)
  }
}

/** Returns what a visitor from this address gets in place of an answer. */
async function visit(port: number, address: string): Promise<readonly string[]> {
  const socket = dial(port, address)
  const secure = tlsConnect({ socket, rejectUnauthorized: false }).on('error', () => {})
  secure.write(headOf('GET', '/', 'Connection: close'))
  const answer = String(await readToEnd(secure, BACK_MS))
  return answer.startsWith('HTTP/1.1 200 ') ? [] : [`${address} gets ${answer.slice(0, 20) || 'nothing'}`]
}
