import type { SourceStatus } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'

/** Lists whose entries change hands, so that each day without news loses some; tables and databases age in years. */
const LISTS: readonly SourceRow['kind'][] = ['ranges', 'addresses', 'crawler', 'asn-list']
const IDS: ReadonlySet<string> = new Set(SOURCES.filter(({ kind }) => LISTS.includes(kind)).map(({ id }) => id))

export interface OldestList {
  readonly id: string
  /** Milliseconds since it was last known to be true. */
  readonly ageMs: number
}

/** The loaded list that verdicts rest on and that was confirmed longest ago; `undefined` where none is loaded. `now` is in milliseconds. */
export function oldestList(sources: readonly SourceStatus[], now: number): OldestList | undefined {
  let oldest: OldestList | undefined
  for (const { id, state, checked, date } of sources) {
    const lastTrue = checked ?? date
    if (state !== 'loaded' || lastTrue === undefined || !IDS.has(id)) continue
    const ageMs = now - Date.parse(lastTrue)
    if (oldest === undefined || ageMs > oldest.ageMs) oldest = { id, ageMs }
  }
  return oldest
}
