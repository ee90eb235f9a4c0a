import type { SourceStatus } from '@sallyport/core'
import { isStale } from '@sallyport/open'
import { columns, entriesText } from './terminal.ts'

/**
 * A line for each data set: id, title, date, state, age of its last check, generation, licence, and the error where it
 * is not loaded or could not be refreshed.
 */
export function sourceLines(sources: readonly SourceStatus[], now = Date.now()): string {
  return columns(
    sources.map((source) => [
      source.id,
      source.title,
      source.date ?? '',
      stateOf(source, now),
      ageOf(source, now),
      source.generation ?? '',
      source.licence,
      source.error === undefined ? '' : `last refresh: ${source.error}`,
    ]),
  )
}

function stateOf(source: SourceStatus, now: number): string {
  const { state, entries, reason } = source
  if (state !== 'loaded') return reason === undefined ? state : `${state}: ${reason}`
  const count = entries === undefined ? 'loaded' : entriesText(entries)
  return isStale(source, now) ? `${count}, stale` : count
}

/** How long ago the publisher confirmed it. */
function ageOf({ checked }: SourceStatus, now: number): string {
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
