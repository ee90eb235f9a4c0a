import { counted, DAY_MS, isLost, isStale, type SourceStatus, withAge } from '@sallyport/core'
import { isShippedTable, type OldestList, shippedTablesAge } from '@sallyport/engine'
import { columns, dim } from './terminal.ts'

/** Describes each data set: id, date, state, age, the share that still holds, and licence; below that its content and its faults. */
export function sourceLines(sources: readonly SourceStatus[], now = Date.now()): string {
  const rows = sources.map((source) => {
    const { id, date = '', licence } = source
    return [id, date, describeState(source, now), ...formatAge(withAge(source, now)), licence]
  })
  const lines = columns(rows).split('\n')
  return sources.flatMap((source, index) => [lines[index], dim(`    ${describeNotes(source)}`)]).join('\n')
}

/** Writes `12 sources of 2025-10-09 to 2026-11-02, networks as shipped 161 days ago, 2 stale; sallyport data update renews them`. */
export function sourcesSentence(sources: readonly SourceStatus[], now = Date.now()): string {
  const loaded = sources.filter(({ state }) => state === 'loaded')
  const refused = sources.filter(({ state }) => state === 'refused')
  const shipped = shippedTablesAge(loaded, now)
  const stale = loaded.filter((source) => isStale(source, now) && !isShippedTable(source, now)).length
  // Some facts are dated to the month.
  const days = loaded.flatMap(({ date }) => date ?? []).sort()
  const dates = days.length === 0 ? '' : ` of ${days[0]} to ${days.at(-1)}`
  const news = [
    ...(shipped === undefined ? [] : [`bundled networks, ${counted(shipped, 'day')} old`]),
    ...(stale === 0 ? [] : [`${stale} stale`]),
    ...(refused.length === 0 ? [] : [`${refused.map(({ id }) => id).join(', ')} refused`]),
  ]
  const next = stale === 0 && shipped === undefined ? 'status shows them' : 'update renews them'
  return `${[`${counted(loaded.length, 'source')}${dates}`, ...news].join(', ')}; sallyport data ${next}`
}

/** Names the list without news for the longest time: verdicts miss what it has lost since. */
export function oldestSentence({ id, ageMs }: OldestList): string {
  const days = Math.max(0, Math.floor(ageMs / DAY_MS))
  return `The oldest list in use is ${id}, last confirmed ${days === 0 ? 'today' : `${counted(days, 'day')} ago`}.`
}

function describeNotes({ title, generation, left, reason, error }: SourceStatus): string {
  const notes = [
    title,
    generation !== undefined && `generation ${generation}`,
    left !== undefined && `${left} invalid ${left === 1 ? 'line is' : 'lines are'} skipped`,
    reason,
    error !== undefined && `last refresh: ${error}`,
  ]
  return notes.filter(Boolean).join('; ')
}

function describeState(source: SourceStatus, now: number): string {
  const { state, entries, own } = source
  const isLoaded = state === 'loaded'
  const count = isLoaded && entries !== undefined ? counted(entries, 'entry', 'entries') : state
  const age = isLost(source, now) ? 'lost' : isLoaded && isStale(source, now) && 'stale'
  return [count, isLoaded && own && 'own file', age].filter(Boolean).join(', ')
}

function formatAge({ ageSeconds, kept }: ReturnType<typeof withAge>): readonly [age: string, share: string] {
  if (ageSeconds === undefined || kept === undefined) return ['', '']
  const share = `${Math.round(kept * 100)} % holds`
  const minutes = Math.max(0, Math.floor(ageSeconds / 60))
  if (minutes < 60) return [`${minutes} min ago`, share]
  const hours = Math.floor(minutes / 60)
  return [hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`, share]
}

/** Lists the credits to show with answers, each once; omits a credit within another one. */
export function creditLines(sources: readonly SourceStatus[]): readonly string[] {
  const loaded = sources.filter(({ state, credit }) => state === 'loaded' && credit !== '')
  const credits = [...new Set(loaded.map(({ credit }) => credit))]
  return credits.filter((credit) => !credits.some((other) => other !== credit && other.includes(credit)))
}
