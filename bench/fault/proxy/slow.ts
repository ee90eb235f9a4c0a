import { numberFlag } from '../../flags.ts'
import type { Measured } from '../../promises.ts'
import { MIN_SHARE, rowOf, sufferCrowd } from './crowd.ts'
import { KINDS } from './kinds.ts'
import { type Place, withScene } from './scene.ts'

const SOCKETS = numberFlag('sockets', 300)
const DURING_MS = numberFlag('seconds', 15) * 1000
/** So long all dial, and what they ask for fills the buffers between them and the origin. */
const RAMP_MS = 4_000

/** 300 slow sockets of each kind, from one address: the good visitors keep nine tenths of what they had. */
export async function faultSlow(place: Place): Promise<Measured> {
  const rows: Record<string, object> = {}
  let least = 1
  const broken: string[] = []
  for (const kind of Object.keys(KINDS)) {
    await withScene(place, {}, async (scene) => {
      const crowd = { kind, count: SOCKETS, reopenMs: 1_000, rampMs: RAMP_MS }
      const outcome = await sufferCrowd(scene, crowd, DURING_MS)
      rows[kind] = rowOf(outcome)
      least = Math.min(least, outcome.share)
      if (!scene.proxy.running()) broken.push(`${kind}: the proxy ended`)
      else if (outcome.share < MIN_SHARE) broken.push(`${kind}: visitors keep ${(outcome.share * 100).toFixed(1)} %`)
    })
  }
  console.log(`\n${SOCKETS} slow sockets of each kind from one address, ${DURING_MS / 1000} s`)
  console.table(rows)
  const kinds = Object.keys(KINDS).length
  return {
    measured: `${SOCKETS} of each of ${kinds} kinds: visitors keep ${(least * 100).toFixed(1)} % or more`,
    broken,
  }
}
