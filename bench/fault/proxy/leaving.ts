import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { probed } from '../../proxy/held.ts'
import { descriptors, resident } from '../../proxy/processes.ts'
import type { Raised } from '../../proxy/sallyport.ts'
import { heldBefore, leftBehind, repeat } from './left-behind.ts'
import { type Place, withScene } from './scene.ts'
import { portOf } from './wire.ts'

const EACH = numberFlag('each', 500)
const AT_ONCE = 50
const VISITORS = 16
const WARM_UP = 50

/** One client, from its connection until it has left; `at` is its number, by which it chooses how it leaves. */
export type Leaver = (port: number, address: string, at: number) => Promise<void>

/** Clients that leave, so many at each of these moments: nothing of them stays behind. */
export async function leaveAt(
  place: Place,
  raised: Raised,
  moments: Readonly<Record<string, Leaver>>,
): Promise<Measured> {
  return withScene(place, { raised, node: probed(place.folder) }, async ({ proxy }) => {
    const rows: Record<string, object> = {}
    const leave = (client: Leaver, times: number) =>
      repeat(times, AT_ONCE, (at) => client(portOf(proxy.url), `127.0.1.${1 + (at % VISITORS)}`, at))
    const before = await heldBefore(proxy, place.folder, async () => {
      for (const client of Object.values(moments)) await leave(client, WARM_UP)
    })
    for (const [name, client] of Object.entries(moments)) {
      await leave(client, EACH)
      if (!proxy.running()) break
      await delay(1_000)
      rows[name] = { 'descriptors, a second later': descriptors(proxy.pid), MB: Math.round(resident(proxy.pid)) }
    }
    console.log(`\nclients that leave, ${EACH} times at each moment`)
    console.table(rows)
    return leftBehind(
      proxy,
      place.folder,
      before,
      `${EACH} clients leave at each of ${Object.keys(moments).length} moments`,
    )
  })
}
