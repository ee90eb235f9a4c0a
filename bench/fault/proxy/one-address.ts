import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { failureText, MIN_SHARE, rowOf, sufferCrowd } from './crowd.ts'
import { type Place, withScene } from './scene.ts'

const CONNECTIONS = numberFlag('connections', 10_600)
/** All of them dial in this time, and are kept for longer than the visitors are then looked at. */
const RAMP_MS = 1_000 + CONNECTIONS / 2
const DURING_MS = 7_000
/** Those that were cut come again more slowly than slow sockets do: what is attacked is the number of connections. */
const REOPEN_MS = 10_000

/** More connections from one address than the proxy takes in all: others are served, newcomers too. */
export async function faultOneAddress(place: Place): Promise<Measured> {
  return withScene(place, {}, async (scene) => {
    const crowd = { kind: 'idle connections after an answer', count: CONNECTIONS, reopenMs: REOPEN_MS, rampMs: RAMP_MS }
    const outcome = await sufferCrowd(scene, crowd, DURING_MS)
    console.log(`\n${CONNECTIONS} connections from one address`)
    console.table({ 'all others': rowOf(outcome) })
    const measured = `${CONNECTIONS} connections: others keep ${(outcome.share * 100).toFixed(1)} %`
    const failures = failureText(outcome.during)
    const broken = [
      ...(scene.proxy.running() ? [] : ['the proxy ended']),
      ...(outcome.share < MIN_SHARE ? [`less than ${MIN_SHARE * 100} %`] : []),
      ...(failures === '' ? [] : [failures]),
    ]
    return { measured, broken }
  })
}
