import type { Clock, Findings, NetworkRecord } from '../ports.ts'
import type { NetworkFinding } from '../values/finding.ts'

const DAY_MS = 86_400_000

/** Findings of one snapshot, for the day: the data grows a day older at midnight UTC. */
export function createFindings(clock: Clock): Findings {
  let made = new WeakMap<NetworkRecord, NetworkFinding>()
  let day = Math.floor(clock.now() / DAY_MS)
  return {
    get(record) {
      const today = Math.floor(clock.now() / DAY_MS)
      if (today !== day) {
        day = today
        made = new WeakMap()
      }
      return made.get(record)
    },
    keep: (record, finding) => void made.set(record, finding),
  }
}
