import type { PlacedRecord, StoredRecord } from '@sallyport/ledger'
import type { Database, SqlRow } from '../driver.ts'
import { createRowInserter } from '../row-inserter.ts'
import { bytesOf, numbersOf } from './rows.ts'
import { NO_RECORDS, type PackedRecords, unpackRecords } from './transit.ts'

/*
 * Records lie in blocks: some that one transaction has appended to one log, whose ids and positions rise by one. A row and
 * an index entry for each would take longer than to hash it. `lengths` are of the records, in bytes, with commas. Where a
 * position lies is written down later, for many blocks at once: see `createLogHeads`.
 */

const COLUMNS = 6

/** Records of a block at most: who wants one record reads its block. */
const BLOCK_RECORDS = 32

/** Records of a block, in SQL. */
const COUNT = `length(lengths) - length(replace(lengths, ',', '')) + 1`

/** Blocks of one log in order of their positions, in one row: to make a row is what takes the time. */
function inOneRow(select: string): string {
  return `SELECT count(*) AS blocks, group_concat(first_id) AS ids, group_concat(first_seq) AS positions,
    group_concat(${COUNT}) AS counts, group_concat(lengths) AS lengths, CAST(group_concat(bytes, '') AS BLOB) AS bytes
    FROM (${select} ORDER BY first_seq)`
}

/** Records of one log whose ids and positions rise by one. */
export interface Block {
  readonly log: string
  readonly firstId: number
  readonly firstSeq: number
  /** In bytes, with commas. */
  readonly lengths: string
  /** What the record behind its last links to, hexadecimal; empty in blocks of files that are older than this. */
  readonly link: string
  readonly bytes: Uint8Array
}

/** The records of a ledger file. */
export interface RecordBlocks {
  /** What the next record is to be called: ids rise by one, over all logs. */
  nextId(): number
  /** Writes blocks whose ids rise. `idOf` gives the number of a log. */
  write(blocks: readonly Block[], idOf: (log: string) => number): void
  find(attestationId: number, log: string): StoredRecord | undefined
  /** Makes blocks from an id on known by their positions. */
  place(firstId: number): void
  /** The first `count` from position `from` on, of those that are known by their positions. */
  read(log: string, from: number, count: number): PackedRecords
  /** The same, and of those in blocks from an id on, which may not be known by their positions yet. */
  readSince(firstId: number, log: string, from: number, count: number): PackedRecords
  /** The records of a log in blocks from an id on and from a position on. */
  since(log: string, firstId: number, firstSeq: number): PackedRecords
  /** The link of the last block of a log, if it lies from an id on and says one. */
  lastLink(log: string, firstId: number): string | undefined
}

export function createRecordBlocks(database: Database): RecordBlocks {
  const insert = createRowInserter(database, 'block', COLUMNS)
  const selectNext = database.prepare(`SELECT first_id + ${COUNT} AS next FROM block ORDER BY first_id DESC LIMIT 1`)
  const selectAround = database.prepare(
    `SELECT 1 AS blocks, first_id AS ids, first_seq AS positions, ${COUNT} AS counts, lengths, bytes
     FROM (SELECT * FROM block WHERE first_id <= ? ORDER BY first_id DESC LIMIT 1) b JOIN log l ON l.id = b.log
     WHERE l.name = ?`,
  )
  const place = database.prepare(
    'INSERT INTO block_place SELECT log, first_seq, first_id FROM block WHERE first_id >= ? ON CONFLICT DO UPDATE SET first_id = excluded.first_id',
  )
  // From the block that has the position on, or would have it; where records are missing, up to the first behind the gap
  // at least.
  const selectPlaced = database.prepare(
    `WITH asked (log, start, count) AS (SELECT id, ?2, ?3 FROM log WHERE name = ?1),
       span (log, low, high) AS (SELECT log,
         ifnull((SELECT first_seq FROM placed_block WHERE log = asked.log AND first_seq <= start
           ORDER BY first_seq DESC LIMIT 1), 0),
         max(start + count - 1, ifnull((SELECT first_seq FROM placed_block WHERE log = asked.log AND first_seq >= start
           ORDER BY first_seq LIMIT 1), 0))
       FROM asked)
     ${inOneRow('SELECT b.* FROM span CROSS JOIN placed_block b ON b.log = span.log AND first_seq BETWEEN low AND high')}`,
  )
  const selectSince = database.prepare(
    inOneRow(
      'SELECT * FROM block WHERE log = (SELECT id FROM log WHERE name = ?) AND first_id >= ? AND first_seq >= ?',
    ),
  )
  const selectLink = database.prepare(
    'SELECT link FROM block WHERE log = (SELECT id FROM log WHERE name = ?) AND first_id >= ? ORDER BY first_id DESC LIMIT 1',
  )

  function read(log: string, from: number, count: number): PackedRecords {
    return cut(recordsOf(selectPlaced.get(log, from, count)), from, count)
  }

  function since(log: string, firstId: number, firstSeq: number): PackedRecords {
    return recordsOf(selectSince.get(log, firstId, firstSeq))
  }

  return {
    nextId: () => Number(selectNext.get()?.['next'] ?? 1),
    write(blocks, idOf) {
      insert(
        blocks.flatMap(({ log, firstId, firstSeq, lengths, link, bytes }) => [
          firstId,
          idOf(log),
          firstSeq,
          lengths,
          link,
          bytes,
        ]),
      )
    },
    find(attestationId, log) {
      const row = selectAround.get(attestationId, log)
      if (row === undefined) return undefined
      return unpackRecords(log, recordsOf(row)).find((record) => record.attestationId === attestationId)
    },
    place(firstId) {
      place.run(firstId)
    },
    read,
    readSince(firstId, log, from, count) {
      const placed = read(log, from, count)
      const last = placed.positions.at(-1) ?? -1
      return cut(join(placed, since(log, firstId, last + 1)), from, count)
    },
    since,
    lastLink(log, firstId) {
      const link = String(selectLink.get(log, firstId)?.['link'] ?? '')
      return link === '' ? undefined : link
    },
  }
}

/** Records whose ids rise by one, cut where a block ends. */
export function runsOf(records: readonly PlacedRecord[]): readonly (readonly PlacedRecord[])[] {
  const runs: (readonly PlacedRecord[])[] = []
  for (let start = 0; start < records.length; ) {
    const most = Math.min(start + BLOCK_RECORDS, records.length)
    const { log } = records[start] as PlacedRecord
    let end = start + 1
    while (end < most && records[end]?.log === log) end++
    runs.push(records.slice(start, end))
    start = end
  }
  return runs
}

/** What a block says of the lengths of its records. */
export function lengthsOf(run: readonly PlacedRecord[]): string {
  return run.map(({ bytes }) => bytes.length).join()
}

/** What a block says that the next record links to. */
export function linkOf(run: readonly PlacedRecord[]): string {
  return (run[run.length - 1] as PlacedRecord).leaf
}

/** The id that follows these blocks. */
export function endOf(blocks: readonly Block[]): number {
  const { firstId, lengths } = blocks[blocks.length - 1] as Block
  return firstId + lengths.split(',').length
}

/** A run of records as a block, in memory of its own. */
export function blockOf(run: readonly PlacedRecord[]): Block {
  const { log, attestationId, seq } = run[0] as PlacedRecord
  const bytes = Buffer.concat(run.map(({ bytes }) => bytes))
  return { log, firstId: attestationId, firstSeq: seq, lengths: lengthsOf(run), link: linkOf(run), bytes }
}

/** The records of some blocks: `ids` and `positions` are those of the first of each, `counts` how many it has. */
function recordsOf(row: SqlRow | undefined): PackedRecords {
  const blocks = Number(row?.['blocks'] ?? 0)
  if (row === undefined || blocks === 0) return NO_RECORDS
  const [firstIds, firstPlaces, counts] = [
    numbersOf(row, 'ids', blocks),
    numbersOf(row, 'positions', blocks),
    numbersOf(row, 'counts', blocks),
  ]
  const total = counts.reduce((sum, count) => sum + count, 0)
  const ids = new Float64Array(total)
  const positions = new Float64Array(total)
  let index = 0
  for (let block = 0; block < blocks; block++) {
    for (let place = 0; place < (counts[block] as number); place++, index++) {
      ids[index] = (firstIds[block] as number) + place
      positions[index] = (firstPlaces[block] as number) + place
    }
  }
  return { ids, positions, lengths: numbersOf(row, 'lengths', total), bytes: bytesOf(row, 'bytes') }
}

function join(first: PackedRecords, second: PackedRecords): PackedRecords {
  if (second.ids.length === 0) return first
  return {
    ids: Float64Array.of(...first.ids, ...second.ids),
    positions: Float64Array.of(...first.positions, ...second.positions),
    lengths: Float64Array.of(...first.lengths, ...second.lengths),
    bytes: Buffer.concat([first.bytes, second.bytes]),
  }
}

/** Of these records, the first `count` from position `from` on. */
function cut(records: PackedRecords, from: number, count: number): PackedRecords {
  const { ids, positions, lengths, bytes } = records
  const start = positions.findIndex((position) => position >= from)
  if (start < 0) return NO_RECORDS
  const end = Math.min(start + count, ids.length)
  if (start === 0 && end === ids.length) return records
  const sum = (total: number, length: number) => total + length
  const first = lengths.subarray(0, start).reduce(sum, 0)
  const kept = lengths.slice(start, end)
  return {
    ids: ids.slice(start, end),
    positions: positions.slice(start, end),
    lengths: kept,
    // Memory of its own: what is handed over is not copied.
    bytes: bytes.slice(first, kept.reduce(sum, first)),
  }
}
