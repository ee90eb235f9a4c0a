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
import { LEDGER_STEPS } from './ledger-tables.ts'
import { createLogHeads } from './log-heads.ts'
import { type PackedPlaced, type UnpackedPlaced, unpackPlaced } from './placed-transit.ts'
import { blockOf, createRecordBlocks, endOf, runsOf } from './record-blocks.ts'
import { type Tip, uncoveredOf } from './rows.ts'
import { areasOf, type SharedRecords } from './shared-records.ts'
import { createSubjectBlocks } from './subject-blocks.ts'
import { subjectBlockOf } from './subject-lines.ts'
import { type PackedDrafts, type PackedRecords, unpackDrafts, unpackRecords } from './transit.ts'
import { createWriteAheadLog } from './write-ahead-log.ts'

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
  const database = await openDatabase(path, LEDGER_STEPS, PAGE_BYTES)
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

  /** What is read in several steps is read as of one moment. */
  function snapshot<T>(read: () => T): T {
    database.exec('BEGIN')
    try {
      return read()
    } finally {
      database.exec('COMMIT')
    }
  }

  /** Writes heads and places up to what has been appended. */
  function settle(): void {
    if (heads.behind() === undefined) return
    transaction(() => {
      heads.begin()
      heads.catchUp()
    })
  }

  function records(log: string, from: number, count: number): PackedRecords {
    const found = blocks.read(log, from, count)
    if (found.ids.length === count) return found
    return snapshot(() => {
      const behind = heads.behind()
      return behind === undefined ? blocks.read(log, from, count) : blocks.readSince(behind, log, from, count)
    })
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
    head: (log: string): Head | undefined => snapshot(() => heads.read(log)),
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
    close(): void {
      try {
        settle()
      } catch {
        // Whoever opens the file next does it.
      }
      database.close()
    },
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
