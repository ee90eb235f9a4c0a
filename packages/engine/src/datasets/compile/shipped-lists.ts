import { CRAWLERS, DATED_EDGES, DATED_RANGES } from '@sallyport/data/crawlers'
import { SHIPPED_BY_CLASS } from '@sallyport/data/shipped-ranges'
import type { SourceRow } from '@sallyport/data/sources'

/** The share of shipped prefixes that are thought to still belong to the operator. */
const TRUST = 0.9

/** The lists of operators' own machines that come with Sallyport, each as of its day. */
export const SHIPPED_RANGES = [...DATED_RANGES, ...DATED_EDGES, ...SHIPPED_BY_CLASS]

/** Describes a shipped list as a source of its own: each list has its day. */
export function shippedRow(id: string): SourceRow {
  const shipped = SHIPPED_BY_CLASS.find((row) => row.id === id)
  const provider = shipped?.provider ?? CRAWLERS.find(({ ranges }) => ranges === id)?.operator ?? id
  const networkClass = shipped?.networkClass ?? 'datacenter'
  return { ...ROW, networkClass, id: `shipped-${id}`, title: `Well-known ranges of ${id}`, provider }
}

const ROW: Omit<SourceRow, 'id' | 'title' | 'networkClass'> = {
  kind: 'crawler',
  format: 'text',
  enabled: true,
  licence: 'Apache-2.0',
  credit: '',
  note: '',
  trust: TRUST,
}
