import { CRAWLERS, DATED_EDGES, DATED_RANGES } from '@sallyport/data/crawlers'
import type { SourceRow } from '@sallyport/data/sources'
import { readContents } from '../parse/contents.ts'
import type { PartsCollector } from './parts.ts'

/** The share of shipped prefixes that are thought to be the operator's still. */
const TRUST = 0.9

/** The lists of operators' own machines that come with Sallyport, each as of its day. */
export const SHIPPED_RANGES = [...DATED_RANGES, ...DATED_EDGES]

/**
 * Adds the shipped lists of operators whose own are not among the parts: whose machine an address is, its operator knows best,
 * also where its network rents to VPN services. They say what a network is; claims of crawlers are checked with them elsewhere.
 * Without a file of systems nothing is known of networks, and that stays so.
 */
export function addShippedRanges({ add, parts }: PartsCollector): void {
  if (Object.keys(parts.systems).length + parts.fallbacks.length === 0) return
  const published = parts.lists.filter(({ kind }) => kind === 'crawler').map(({ provider }) => provider)
  const read = new Set([...parts.crawlers.map(({ slug }) => slug), ...published])
  for (const { id, date, prefixes } of SHIPPED_RANGES) {
    if (read.has(id)) continue
    const row = shippedRow(id)
    const bytes = Buffer.from(prefixes.join('\n'))
    add(row, { path: id, size: bytes.length, modified: Date.parse(date) }, readContents(row, { path: id, bytes }))
  }
}

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
