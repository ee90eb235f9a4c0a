import { CRAWLERS, DATED_EDGES, DATED_RANGES } from '@sallyport/data/crawlers'
import type { SourceRow } from '@sallyport/data/sources'

/** The share of shipped prefixes that are thought to be the operator's still. */
const TRUST = 0.9

/** The lists of operators' own machines that come with Sallyport, each as of its day. */
export const SHIPPED_RANGES = [...DATED_RANGES, ...DATED_EDGES]

/** A shipped list as a source of its own: each has its day. */
export function shippedRow(id: string): SourceRow {
  const provider = CRAWLERS.find(({ ranges }) => ranges === id)?.operator ?? id
  return { ...ROW, id: `shipped-${id}`, title: `Well-known ranges of ${id}`, provider }
}

const ROW: Omit<SourceRow, 'id' | 'title'> = {
  kind: 'crawler',
  networkClass: 'datacenter',
  format: 'text',
  enabled: true,
  licence: 'Apache-2.0',
  credit: '',
  note: '',
  trust: TRUST,
}
