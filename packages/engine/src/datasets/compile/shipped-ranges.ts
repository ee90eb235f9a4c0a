import { readContents } from '../parse/contents.ts'
import type { PartsCollector } from './parts.ts'
import { SHIPPED_RANGES, shippedRow } from './shipped-lists.ts'

/**
 * Adds the shipped lists of operators that have no published list among the parts: an operator knows best which machines are its own, also
 * where its network rents to VPN services. The lists classify networks; other code checks claims of crawlers with them. Without a file of
 * systems nothing is known of networks, so nothing is added.
 */
export function addShippedRanges({ add, parts }: PartsCollector): void {
  if (Object.keys(parts.systems).length + parts.fallbacks.length === 0) return
  const published = parts.lists.flatMap(({ kind, networkClass, provider }) =>
    kind === 'crawler' || networkClass === 'vpn' ? provider : [],
  )
  const read = new Set([...parts.crawlers.map(({ slug }) => slug), ...published])
  for (const { id, date, prefixes } of SHIPPED_RANGES) {
    const row = shippedRow(id)
    if (read.has(id) || (row.networkClass === 'vpn' && read.has(row.provider ?? ''))) continue
    const bytes = Buffer.from(prefixes.join('\n'))
    add(row, { path: id, size: bytes.length, modified: Date.parse(date) }, readContents(row, { path: id, bytes }))
  }
}
