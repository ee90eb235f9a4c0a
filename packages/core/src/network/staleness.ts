import { DAY_MS } from '../duration.ts'
import type { Clock, DayCache, Findings, SourceStatus } from '../ports/index.ts'
import { shareLeft } from './ages.ts'

/** Creates the caches of one snapshot, which are empty again at midnight UTC: confidence falls as the data becomes a day older. */
export function createFindings(clock: Clock): Findings {
  return { networks: createDayCache(clock), countries: createDayCache(clock) }
}

function createDayCache<Key extends object, Value>(clock: Clock): DayCache<Key, Value> {
  let values = new WeakMap<Key, Value>()
  let day = Math.floor(clock.now() / DAY_MS)
  return {
    read(key, make) {
      const today = Math.floor(clock.now() / DAY_MS)
      if (today !== day) {
        day = today
        values = new WeakMap()
      }
      const known = values.get(key)
      if (known !== undefined) return known
      const value = make()
      values.set(key, value)
      return value
    },
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
