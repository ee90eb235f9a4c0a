import {
  type AddressRecord,
  type Heads,
  leafTile,
  type SignedHead,
  type StoredRecord,
  type Subject,
  TILE_WIDTH,
  type Uncovered,
} from '@sallyport/ledger'
import type { Database } from '../sqlite/driver.ts'
import { NAMES_ADDRESS } from './ledger-tables.ts'
import {
  addressRecordOfRow,
  checkpointsOfRows,
  headOfRow,
  readBytes,
  recordOfRow,
  subjectOfRow,
  uncoveredOfRow,
} from './rows.ts'

const LOG_ID = '(SELECT id FROM log WHERE name = ?)'

/** Runs the reads of `LedgerStore`, blocking. */
export function createLedgerReads(database: Database) {
  const selectNextId = database.prepare('SELECT next_id FROM ledger')
  const selectLog = database.prepare('SELECT * FROM log WHERE name = ?')
  const selectNames = database.prepare('SELECT name FROM log ORDER BY id')
  const selectRecord = database.prepare(`SELECT * FROM record WHERE log = ${LOG_ID} AND attestation_id = ?`)
  const selectRecords = database.prepare(
    `SELECT attestation_id, seq, bytes FROM record WHERE log = ${LOG_ID} AND seq >= ? ORDER BY seq LIMIT ?`,
  )
  const selectTile = database.prepare(
    `SELECT bytes FROM record WHERE log = ${LOG_ID} AND seq >= ? AND seq < ? ORDER BY seq`,
  )
  const selectNodes = database.prepare(
    `SELECT hash FROM node WHERE log = ${LOG_ID} AND level = ? AND place >= ? AND place < ? ORDER BY place`,
  )
  const selectSubjects = database.prepare(
    'SELECT * FROM subject WHERE attestation_id IN (SELECT value FROM json_each(?))',
  )
  const selectAbout = database.prepare(
    `SELECT s.context, s.salt, r.*, l.name FROM subject s
     JOIN record r ON r.attestation_id = s.attestation_id JOIN log l ON l.id = r.log
     WHERE ${NAMES_ADDRESS} AND s.attestation_id > ? ORDER BY s.attestation_id LIMIT ?`,
  )
  const selectUncovered = database.prepare('SELECT * FROM log WHERE size > covered ORDER BY id LIMIT ?')
  const selectNotes = database.prepare(`SELECT size, note FROM checkpoint WHERE log = ${LOG_ID} ORDER BY size`)
  const selectNewest = database.prepare(`SELECT note FROM checkpoint WHERE log = ${LOG_ID} ORDER BY size DESC LIMIT 1`)
  const selectCovering = database.prepare(
    `SELECT note FROM checkpoint WHERE log = ${LOG_ID} AND size > ? ORDER BY size LIMIT 1`,
  )
  const selectText = database.prepare('SELECT text FROM document WHERE sha256 = ?')

  return {
    heads(names: readonly string[]): Heads {
      // The id first: a commit on heads that are newer than it loses its race, and one on older heads would fail.
      const nextId = Number(selectNextId.get()?.['next_id'])
      const logs = names.flatMap((name) => {
        const row = selectLog.get(name)
        return row === undefined ? [] : [[name, headOfRow(row)] as const]
      })
      return { nextId, logs: new Map(logs) }
    },
    logs: (): readonly string[] => selectNames.all().map((row) => String(row['name'])),
    find(attestationId: number, log: string): StoredRecord | undefined {
      const row = selectRecord.get(log, attestationId)
      return row && recordOfRow(log, row)
    },
    records: (log: string, from: number, count: number): readonly StoredRecord[] =>
      selectRecords.all(log, from, count).map((row) => recordOfRow(log, row)),
    tile(log: string, tileLevel: number, index: number): Uint8Array {
      const [start, end] = [index * TILE_WIDTH, (index + 1) * TILE_WIDTH]
      if (tileLevel === 0) return leafTile(selectTile.all(log, start, end).map((row) => readBytes(row, 'bytes')))
      return Buffer.concat(selectNodes.all(log, tileLevel, start, end).map((row) => readBytes(row, 'hash')))
    },
    subjects: (ids: readonly number[]): ReadonlyMap<number, Subject> =>
      new Map(selectSubjects.all(JSON.stringify(ids)).map((row) => [Number(row['attestation_id']), subjectOfRow(row)])),
    recordsAbout: (address: string, after: number, count: number): readonly AddressRecord[] =>
      selectAbout.all(address, after, count).map(addressRecordOfRow),
    uncovered: (limit: number): readonly Uncovered[] => selectUncovered.all(limit).map(uncoveredOfRow),
    checkpoints: (log: string, seq: number) => checkpointsOfRows(selectNewest.get(log), selectCovering.get(log, seq)),
    allCheckpoints: (log: string): readonly SignedHead[] =>
      selectNotes.all(log).map((row) => ({ log, size: Number(row['size']), note: String(row['note']) })),
    document(sha256: string): string | undefined {
      const text = selectText.get(sha256)?.['text']
      return text === undefined ? undefined : String(text)
    },
  }
}
