import { randomBytes } from 'node:crypto'
import {
  type Document,
  type Head,
  KEY_LOG,
  leafTile,
  placeBatch,
  type SignedHead,
  TILE_WIDTH,
  type Uncovered,
} from '@sallyport/ledger'
import type { Database } from '../driver.ts'
import { openDatabase } from '../open-database.ts'
import { createLogHeads } from './log-heads.ts'
import { type PackedPlaced, type UnpackedPlaced, unpackPlaced } from './placed-transit.ts'
import { blockOf, createRecordBlocks, endOf, runsOf } from './record-blocks.ts'
import { headOf, type Tip, uncoveredOf } from './rows.ts'
import { areasOf, type SharedRecords } from './shared-records.ts'
import { createSubjectBlocks } from './subject-blocks.ts'
import { subjectBlockOf } from './subject-lines.ts'
import { type PackedDrafts, type PackedRecords, unpackDrafts, unpackRecords } from './transit.ts'
import { createWriteAheadLog } from './write-ahead-log.ts'

/** Every version of the tables; a step that has been released is never changed, a new one is added. */
const STEPS: readonly string[] = [
  `CREATE TABLE ledger (
     id INTEGER PRIMARY KEY CHECK (id = 1),
     origin TEXT NOT NULL,
     next_id INTEGER NOT NULL
   ) STRICT;
   CREATE TABLE log (
     id INTEGER PRIMARY KEY,
     name TEXT NOT NULL UNIQUE,
     size INTEGER NOT NULL,
     link TEXT NOT NULL,
     issued_at INTEGER NOT NULL,
     peaks BLOB NOT NULL,
     covered INTEGER NOT NULL
   ) STRICT;
   CREATE INDEX log_uncovered ON log (id) WHERE size > covered;
   CREATE TABLE record (
     attestation_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     seq INTEGER NOT NULL,
     bytes BLOB NOT NULL,
     UNIQUE (log, seq)
   ) STRICT;
   CREATE TABLE node (
     log INTEGER NOT NULL,
     level INTEGER NOT NULL,
     place INTEGER NOT NULL,
     hash BLOB NOT NULL,
     PRIMARY KEY (log, level, place)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE subject (
     attestation_id INTEGER PRIMARY KEY,
     issued_at INTEGER NOT NULL,
     address TEXT NOT NULL,
     salt BLOB NOT NULL,
     context TEXT
   ) STRICT;
   CREATE TABLE checkpoint (
     log INTEGER NOT NULL,
     size INTEGER NOT NULL,
     note TEXT NOT NULL,
     PRIMARY KEY (log, size)
   ) STRICT, WITHOUT ROWID;
   CREATE TABLE document (
     sha256 TEXT PRIMARY KEY,
     text TEXT NOT NULL
   ) STRICT, WITHOUT ROWID;`,
  // Records in blocks, from the last of which the next id is known; a mark for what no checkpoint covers.
  `CREATE TABLE block (
     first_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     lengths TEXT NOT NULL,
     bytes BLOB NOT NULL,
     UNIQUE (log, first_seq)
   ) STRICT;
   INSERT INTO block SELECT attestation_id, log, seq, length(bytes), bytes FROM record ORDER BY attestation_id;
   DROP TABLE record;
   ALTER TABLE ledger DROP COLUMN next_id;
   DROP INDEX log_uncovered;
   ALTER TABLE log ADD COLUMN uncovered INTEGER NOT NULL DEFAULT 0;
   UPDATE log SET uncovered = size > covered;
   CREATE INDEX log_uncovered ON log (id) WHERE uncovered;`,
  // Subjects in blocks too, beside those of their records, of which there were 16 at most; heads and places follow behind.
  `CREATE TABLE block_subjects (
     first_id INTEGER PRIMARY KEY,
     oldest INTEGER NOT NULL,
     lines TEXT NOT NULL
   ) STRICT;
   WITH RECURSIVE place (at) AS (VALUES (0) UNION ALL SELECT at + 1 FROM place WHERE at < 15)
   INSERT INTO block_subjects SELECT first_id, min(issued_at), group_concat(
       concat_ws(' ', issued_at, lower(hex(salt)), address, context) || char(10), '' ORDER BY at)
     FROM block CROSS JOIN place ON at <= length(lengths) - length(replace(lengths, ',', ''))
     LEFT JOIN subject ON attestation_id = first_id + at
     GROUP BY first_id HAVING count(issued_at) > 0;
   DROP TABLE subject;
   CREATE TABLE bare_block (
     first_id INTEGER PRIMARY KEY,
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     lengths TEXT NOT NULL,
     bytes BLOB NOT NULL
   ) STRICT;
   INSERT INTO bare_block SELECT * FROM block ORDER BY first_id;
   DROP TABLE block;
   ALTER TABLE bare_block RENAME TO block;
   CREATE TABLE block_place (
     log INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     first_id INTEGER NOT NULL,
     PRIMARY KEY (log, first_seq)
   ) STRICT, WITHOUT ROWID;
   INSERT INTO block_place SELECT log, first_seq, first_id FROM block ORDER BY log, first_seq;
   CREATE VIEW placed_block AS
     SELECT p.log, p.first_seq, p.first_id, lengths, bytes FROM block_place p CROSS JOIN block b
     ON b.first_id = p.first_id AND b.log = p.log AND b.first_seq = p.first_seq;
   ALTER TABLE ledger ADD COLUMN caught_up INTEGER NOT NULL DEFAULT 1;
   UPDATE ledger SET caught_up = first_id + length(lengths) - length(replace(lengths, ',', '')) + 1
     FROM (SELECT first_id, lengths FROM block ORDER BY first_id DESC LIMIT 1);`,
]

/** Ten records a page: a commit of many writes fewer pages, each with two calls of the system. */
const PAGE_BYTES = 8192

/** Where appended records stand, and the heads that they left. */
export interface AppendedPlaces {
  readonly firstId: number
  readonly positions: Float64Array
  readonly heads: ReadonlyMap<string, Head>
}

/** Records were placed on heads that the ledger does not have any more. */
class Overtaken extends Error {}

/** The ledger in a file, blocking: what `LedgerStore` promises, for the one thread that has it. */
export type LedgerFile = Awaited<ReturnType<typeof openLedgerFile>>

/**
 * Opens or creates the file. Any number of processes may have it open: a writer takes SQLite's lock, then looks whether
 * another has written since, and the head that it goes on from is compared once more when it is written.
 */
export async function openLedgerFile(path: string, shared: Pick<SharedRecords, 'memory'>) {
  const areas = areasOf(shared)
  const database = await openDatabase(path, STEPS, PAGE_BYTES)
  // `LogFolder` folds the log.
  database.exec('PRAGMA wal_autocheckpoint = 0')
  // What is erased is overwritten, not only unlinked.
  database.exec('PRAGMA secure_delete = ON')
  database
    .prepare('INSERT INTO ledger (id, origin) VALUES (1, ?) ON CONFLICT (id) DO NOTHING')
    .run(`sallyport/${randomBytes(8).toString('hex')}`)
  const begin = database.prepare('BEGIN IMMEDIATE')
  const commit = database.prepare('COMMIT')
  const selectLedger = database.prepare('SELECT origin FROM ledger')
  const selectLog = database.prepare('SELECT * FROM log WHERE name = ?')
  const blocks = createRecordBlocks(database)
  const heads = createLogHeads(database, blocks)
  const insertNode = database.prepare('INSERT INTO node VALUES (?, ?, ?, ?)')
  const subjects = createSubjectBlocks(database)
  const selectNodes = database.prepare(
    `SELECT group_concat(hex(hash), '' ORDER BY place) AS hashes FROM node
     WHERE log = (SELECT id FROM log WHERE name = ?) AND level = ? AND place >= ? AND place < ?`,
  )
  const selectUncovered = database.prepare('SELECT * FROM log WHERE uncovered ORDER BY id LIMIT ?')
  const putNote = database.prepare(
    'INSERT INTO checkpoint VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET note = excluded.note',
  )
  const setCovered = database.prepare('UPDATE log SET covered = ?1, uncovered = size > ?1 WHERE id = ?2')
  const selectNewest = database.prepare(
    'SELECT note FROM checkpoint WHERE log = (SELECT id FROM log WHERE name = ?) ORDER BY size DESC LIMIT 1',
  )
  const selectCovering = database.prepare(
    'SELECT note FROM checkpoint WHERE log = (SELECT id FROM log WHERE name = ?) AND size > ? ORDER BY size LIMIT 1',
  )
  const selectNotes = database.prepare(
    'SELECT size, note FROM checkpoint WHERE log = (SELECT id FROM log WHERE name = ?) ORDER BY size',
  )
  const putText = database.prepare('INSERT INTO document VALUES (?, ?) ON CONFLICT DO NOTHING')
  const selectText = database.prepare('SELECT text FROM document WHERE sha256 = ?')
  const selectNames = database.prepare('SELECT name FROM log ORDER BY id')

  const origin = String(selectLedger.get()?.['origin'])
  const writeAhead = createWriteAheadLog(database)
  function transaction<T>(work: () => T): T {
    begin.run()
    try {
      const result = work()
      commit.run()
      return result
    } catch (error) {
      heads.forget()
      rollback(database)
      throw error
    }
  }

  /** Brings heads and places up to what has been appended; false where they are. */
  function settle(): boolean {
    if (!heads.isBehind()) return false
    transaction(() => {
      heads.begin()
      heads.catchUp()
    })
    return true
  }

  function records(log: string, from: number, count: number): PackedRecords {
    const found = blocks.read(log, from, count)
    if (found.ids.length === count || !settle()) return found
    return blocks.read(log, from, count)
  }

  /** Places and appends; ids rise by one. */
  function append(packed: PackedDrafts, expected?: { readonly log: string; readonly size: number }) {
    return transaction((): AppendedPlaces | undefined => {
      const firstId = heads.begin()
      if (expected !== undefined && (heads.find(expected.log)?.head.size ?? 0) !== expected.size) return undefined
      const before = new Map<string, Tip>()
      const placed = placeBatch(origin, firstId, unpackDrafts(packed), (log) => {
        const tip = heads.find(log) ?? heads.add(log)
        before.set(log, tip)
        // What a new log's row holds is no head yet.
        return tip.head.size === 0 ? undefined : tip.head
      })
      const runs = runsOf(placed.records)
      writeAll({
        blocks: runs.map(blockOf),
        subjects: runs.flatMap((run) => subjectBlockOf(run) ?? []),
        nodes: placed.nodes,
        moves: [...placed.heads].map(([log, head]) => ({ log, before: (before.get(log) as Tip).head, head })),
      })
      heads.appended(placed.nextId)
      // Others are about, who would have to find out.
      heads.catchUp()
      return { firstId, positions: Float64Array.from(placed.records, ({ seq }) => seq), heads: placed.heads }
    })
  }

  /**
   * Writes records that the callers' thread has placed, and gives how many: none where another process was quicker.
   */
  function write(area: number, packed: PackedPlaced): number {
    const placed = unpackPlaced(packed, areas[area] as Buffer)
    try {
      return transaction(() => {
        const firstId = heads.begin()
        if (firstId !== placed.blocks[0]?.firstId) throw new Overtaken()
        writeAll(placed)
        const nextId = endOf(placed.blocks)
        heads.appended(nextId)
        return nextId - firstId
      })
    } catch (error) {
      if (error instanceof Overtaken) return 0
      throw error
    }
  }

  function writeAll({ blocks: placed, subjects: besides, nodes, moves }: UnpackedPlaced): void {
    if (!moves.every(heads.move)) throw new Overtaken()
    blocks.write(placed, idOf)
    subjects.write(besides)
    for (const { log, tileLevel, index, hash } of nodes) insertNode.run(idOf(log), tileLevel, index, hash)
  }

  const idOf = (log: string) => (heads.find(log) as Tip).id

  return {
    origin,
    append,
    write,
    head(log: string): Head | undefined {
      settle()
      const row = selectLog.get(log)
      return row === undefined ? undefined : headOf(row)
    },
    logs: (): readonly string[] => selectNames.all().map((row) => String(row['name'])),
    find: blocks.find,
    records,
    tile(log: string, tileLevel: number, index: number): Uint8Array {
      const start = index * TILE_WIDTH
      if (tileLevel === 0)
        return leafTile(unpackRecords(log, records(log, start, TILE_WIDTH)).map(({ bytes }) => bytes))
      const hashes = selectNodes.get(log, tileLevel, start, start + TILE_WIDTH)?.['hashes']
      return typeof hashes === 'string' ? Buffer.from(hashes, 'hex') : new Uint8Array()
    },
    subjects: subjects.read,
    uncovered(limit: number): readonly Uncovered[] {
      settle()
      return selectUncovered.all(limit).map(uncoveredOf)
    },
    putCheckpoint: ({ log, size, note }: SignedHead, after: number, keyCount: number): boolean =>
      transaction(() => {
        heads.begin()
        heads.catchUp()
        const row = selectLog.get(log)
        if (row === undefined || Number(row['covered']) !== after) return false
        if (Number(selectLog.get(KEY_LOG)?.['size'] ?? 0) !== keyCount) return false
        putNote.run(Number(row['id']), size, note)
        setCovered.run(size, Number(row['id']))
        return true
      }),
    checkpoints(log: string, seq: number): { readonly newest?: string; readonly covering?: string } {
      const newest = selectNewest.get(log)?.['note']
      const covering = selectCovering.get(log, seq)?.['note']
      return {
        ...(newest === undefined ? {} : { newest: String(newest) }),
        ...(covering === undefined ? {} : { covering: String(covering) }),
      }
    },
    allCheckpoints: (log: string): readonly SignedHead[] =>
      selectNotes.all(log).map((row) => ({ log, size: Number(row['size']), note: String(row['note']) })),
    putDocument({ sha256, text }: Document): void {
      putText.run(sha256, text)
    },
    document(sha256: string): string | undefined {
      const text = selectText.get(sha256)?.['text']
      return text === undefined ? undefined : String(text)
    },
    eraseSubject(address: string): number {
      const erased = transaction(() => subjects.eraseAddress(address))
      // Old pages of the log still hold what was erased, until they are folded into the file.
      writeAhead.empty()
      return erased
    },
    eraseNext: (after: number, moment: number) => transaction(() => subjects.eraseNext(after, moment)),
    emptyLog: writeAhead.empty,
    unfolded: writeAhead.unfolded,
    foldEnd: writeAhead.foldEnd,
    close: (): void => database.close(),
  }
}

/** After some failures, such as a full disk, SQLite has rolled back by itself. */
function rollback(database: Database): void {
  try {
    database.exec('ROLLBACK')
  } catch {
    // There was nothing left to roll back.
  }
}
