import { counted, DAY_MS, isStale, type SourceStatus } from '@sallyport/core'
import { isShippedTable, type OldestList, shippedTablesAge } from '@sallyport/engine'
import { columns, dim } from './terminal.ts'

/** Each data set: id, date, state, age of its last check and licence; and below what it is, and why it is not loaded or not fresh. */
export function sourceLines(sources: readonly SourceStatus[], now = Date.now()): string {
  const rows = sources.map((source) => [
    source.id,
    source.date ?? '',
    describeState(source, now),
    formatAge(source, now),
    source.licence,
  ])
  const lines = columns(rows).split('\n')
  return sources.flatMap((source, index) => [lines[index], dim(`    ${describeNotes(source)}`)]).join('\n')
}

/** `12 sources of 2025-10-09 to 2026-11-02, networks as shipped 161 days ago, 2 stale; sallyport data update renews them`. */
export function sourcesSentence(sources: readonly SourceStatus[], now = Date.now()): string {
  const loaded = sources.filter(({ state }) => state === 'loaded')
  const refused = sources.filter(({ state }) => state === 'refused')
  const shipped = shippedTablesAge(loaded, now)
  const stale = loaded.filter((source) => isStale(source, now) && !isShippedTable(source, now)).length
  // Some facts are dated to the month.
  const days = loaded.flatMap(({ date }) => date ?? []).sort()
  const dates = days.length === 0 ? '' : ` of ${days[0]} to ${days.at(-1)}`
  const news = [
    ...(shipped === undefined ? [] : [`networks as shipped ${counted(shipped, 'day')} ago`]),
    ...(stale === 0 ? [] : [`${stale} stale`]),
    ...(refused.length === 0 ? [] : [`${refused.map(({ id }) => id).join(', ')} refused`]),
  ]
  const next = stale === 0 && shipped === undefined ? 'status shows them' : 'update renews them'
  return `${[`${counted(loaded.length, 'source')}${dates}`, ...news].join(', ')}; sallyport data ${next}`
}

/** Which list has gone longest without news: what it lost since is in no verdict. */
export function oldestSentence({ id, ageMs }: OldestList): string {
  const days = Math.max(0, Math.floor(ageMs / DAY_MS))
  return `The oldest list that verdicts rest on is ${id}, last known to be true ${days === 0 ? 'today' : `${counted(days, 'day')} ago`}.`
}

function describeNotes({ title, generation, left, reason, error }: SourceStatus): string {
  const notes = [
    title,
    generation !== undefined && `generation ${generation}`,
    left !== undefined && `${left} of its lines could not be read and ${left === 1 ? 'is' : 'are'} left out`,
    reason,
    error !== undefined && `last refresh: ${error}`,
  ]
  return notes.filter(Boolean).join('; ')
}

function describeState(source: SourceStatus, now: number): string {
  const { state, entries } = source
  if (state !== 'loaded') return state
  const count = entries === undefined ? 'loaded' : counted(entries, 'entry', 'entries')
  const own = source.own ? `${count}, own file` : count
  return isStale(source, now) ? `${own}, stale` : own
}

/** How long ago the publisher confirmed it. */
function formatAge({ checked }: SourceStatus, now: number): string {
  if (checked === undefined) return ''
  const minutes = Math.max(0, Math.floor((now - Date.parse(checked)) / 60_000))
  if (minutes < 60) return `${minutes} min ago`
  const hours = Math.floor(minutes / 60)
  return hours < 48 ? `${hours} h ago` : `${Math.floor(hours / 24)} days ago`
}

/** The credits to show with answers, each once; a credit within another one is left out. */
export function creditLines(sources: readonly SourceStatus[]): readonly string[] {
  const loaded = sources.filter(({ state, credit }) => state === 'loaded' && credit !== '')
  const credits = [...new Set(loaded.map(({ credit }) => credit))]
  return credits.filter((credit) => !credits.some((other) => other !== credit && other.includes(credit)))
}
