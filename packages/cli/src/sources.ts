import type { SourceStatus } from '@sallyport/core'
import { columns } from './terminal.ts'

/** A line a data set: id, title, date, entries, licence; why, where one is not loaded. */
export function sourceLines(sources: readonly SourceStatus[]): string {
  return columns(
    sources.map(({ id, title, state, date = '', entries, licence, reason = state }) => [
      id,
      title,
      date,
      state === 'loaded' ? countOf(entries) : `${state}${reason === state ? '' : `: ${reason}`}`,
      licence,
    ]),
  )
}

function countOf(entries: number | undefined): string {
  return entries === undefined ? 'loaded' : `${entries.toLocaleString('en-US')} entries`
}

/** The credits that are to be shown wherever answers are, each once. */
export function creditLines(sources: readonly SourceStatus[]): readonly string[] {
  const loaded = sources.filter(({ state, credit }) => state === 'loaded' && credit !== '')
  return [...new Set(loaded.map(({ credit }) => credit))]
}
