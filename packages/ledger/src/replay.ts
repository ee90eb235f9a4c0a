import type { Head, StoredRecord } from './ports.ts'
import { openFrontier } from './tree.ts'
import { genesisLink, leafHash } from './verify/hash.ts'
import { parseRecord } from './verify/record.ts'

/**
 * Where a log ends behind these records, for a store whose head has not followed yet. Throws for records that do not
 * follow it: a chain that does not hold is not gone on with.
 */
export function replayRecords(head: Head, records: readonly StoredRecord[]): Head {
  const tree = openFrontier(head.size, head.peaks)
  let { link, issuedAt } = head
  for (const { seq, bytes, log } of records) {
    const { place } = parseRecord(bytes)
    const prev = tree.size === 0 ? genesisLink(place.log) : link
    if (seq !== tree.size || place.seq !== seq || place.prev !== prev)
      throw new Error(`What stands at record ${seq} of ${log} does not follow the record before it.`)
    link = leafHash(bytes).toString('hex')
    issuedAt = Date.parse(place.issuedAt)
    tree.append(link, () => {})
  }
  return { size: tree.size, link, issuedAt, peaks: tree.encode() }
}
