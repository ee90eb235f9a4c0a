import { readContents } from '../parse/contents.ts'
import type { PartsCollector } from './parts.ts'
import { SHIPPED_RANGES, shippedRow } from './shipped-lists.ts'

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
