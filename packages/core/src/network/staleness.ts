import { DAY_MS } from '../duration.ts'
import type { Clock, Findings, NetworkRecord, SourceStatus } from '../ports/index.ts'
import type { NetworkFinding } from '../values/finding.ts'
import { shareLeft } from './ages.ts'

/** Caches one snapshot's findings for one day: confidence falls as the data becomes a day older, at midnight UTC. */
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

/** Adds to a source its age in seconds, the share of it that still holds, and whether it is too old. `now` is in milliseconds. */
export function withAge(source: SourceStatus, now: number) {
  const { lastTrue = source.checked ?? source.date } = source
  const kept = Math.round(shareLeft(source, now) * 100) / 100
  const age = lastTrue === undefined ? {} : { ageSeconds: Math.round((now - Date.parse(lastTrue)) / 1_000), kept }
  return { ...source, ...age, stale: isStale(source, now) }
}

/** Reports whether a source was unreadable for so long that its publisher may be gone. `now` is in milliseconds since the epoch. */
export function isLost({ lostAfter: time }: SourceStatus, now: number): boolean {
  return time !== undefined && now >= Date.parse(time)
}

/** Reports whether a source's loaded data is too old. `now` is in milliseconds since the epoch. */
export function isStale({ staleAfter: time }: SourceStatus, now: number): boolean {
  return time !== undefined && now >= Date.parse(time)
}
