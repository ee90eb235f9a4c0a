import { DAY_MS } from '../duration.ts'
import type { Clock, Findings, NetworkRecord, Snapshot, SourceStatus } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'

/**
 * True while a list of residential proxies is loaded that is not past its age: an old list has lost addresses, and
 * absence from it means little. `now` is in milliseconds.
 */
export function proxiesAreSeen({ proxiesLoaded, proxiesStaleAfter }: Snapshot, now: number | undefined): boolean {
  return proxiesLoaded && (proxiesStaleAfter === undefined || now === undefined || now < proxiesStaleAfter)
}

/** True when range data is missing or past its age: absence from it then means little. `now` is in milliseconds. */
export function rangesAreDegraded({ rangesLoaded, rangesStaleAfter }: Snapshot, now: number): boolean {
  return !rangesLoaded || (rangesStaleAfter !== undefined && now >= rangesStaleAfter)
}

/** A cache of one snapshot's findings, for one day: confidence falls as the data grows a day older, at midnight UTC. */
export function createFindings(clock: Clock): Findings {
  let findings = new WeakMap<NetworkRecord, NetworkFinding>()
  let day = Math.floor(clock.now() / DAY_MS)
  return {
    get(record) {
      const today = Math.floor(clock.now() / DAY_MS)
      if (today !== day) {
        day = today
        findings = new WeakMap()
      }
      return findings.get(record)
    },
    keep: (record, finding) => void findings.set(record, finding),
  }
}

/** Whether a source's loaded data is too old. `now` is in milliseconds since the epoch. */
export function isStale({ staleAfter: time }: SourceStatus, now: number): boolean {
  return time !== undefined && now >= Date.parse(time)
}
