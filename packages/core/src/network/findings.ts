import type { Clock, NetworkRecord } from '../ports.ts'
import type { NetworkFinding } from './finding.ts'

/**
 * Findings of one snapshot that were made today: what is said of a record is the same for all its addresses, and
 * changes only as the data grows a day older.
 */
export interface Findings {
  get(record: NetworkRecord): NetworkFinding | undefined
  keep(record: NetworkRecord, finding: NetworkFinding): void
}

const DAY_MS = 86_400_000

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
