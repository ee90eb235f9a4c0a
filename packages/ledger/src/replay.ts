import type { Head, StoredRecord } from './ports.ts'
import { openFrontier } from './tree.ts'
import { genesisLink, leafHash } from './verify/hash.ts'
import { parseRecord, type RecordPlace } from './verify/record.ts'

/** Where a log ends behind some records. */
export interface Replay {
  /** As they stand, whether they follow each other or not. */
  readonly head: Head
  /** The first that does not follow the one before it, or the last where it is not what it was. */
  readonly refused?: StoredRecord
}

/**
 * Where a log ends behind these records, for a store whose head has not followed yet. `lastLink` is what was kept of the
 * hash of the last one, which none behind it links to.
 */
export function replayRecords(
  { size, peaks, ...start }: Head,
  records: readonly StoredRecord[],
  lastLink?: string,
): Replay {
  const tree = openFrontier(size, peaks)
  let { link, issuedAt } = start
  let refused: StoredRecord | undefined
  for (const record of records) {
    const place = placeOf(record)
    const prev = tree.size === 0 && place !== undefined ? genesisLink(place.log) : link
    if (record.seq !== tree.size || place?.seq !== tree.size || place.prev !== prev) refused ??= record
    link = leafHash(record.bytes).toString('hex')
    if (place !== undefined) issuedAt = Date.parse(place.issuedAt)
    tree.append(link, () => {})
  }
  if (lastLink !== undefined && lastLink !== link) refused ??= records[records.length - 1]
  const head = { size: tree.size, link: lastLink ?? link, issuedAt, peaks: tree.encode() }
  return refused === undefined ? { head } : { head, refused }
}

/** `undefined` for bytes that are no record. */
function placeOf({ bytes }: StoredRecord): RecordPlace | undefined {
  try {
    return parseRecord(bytes).place
  } catch {
    return undefined
  }
}
