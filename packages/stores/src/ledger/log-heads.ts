import { type Head, type Replay, replayRecords } from '@sallyport/ledger'
import type { Database } from '../driver.ts'
import type { Move } from './placed-transit.ts'
import type { RecordBlocks } from './record-blocks.ts'
import { type Tip, tipOf } from './rows.ts'
import { unpackRecords } from './transit.ts'

/*
 * The heads of logs and the places of their blocks follow behind what is appended: written with each append, they would
 * be a page of its commit for every log. Who appended knows the heads; to anybody else, after a crash too, they are where
 * the blocks behind the mark lead to. The mark, `ledger.caught_up`, is the first id that they have not followed to.
 */

/** Appends of one writer that are followed together. */
const APPENDS_AT_ONCE = 32

/** Logs whose head is kept in memory between two transactions. */
const MOST_TIPS = 10_000

/** The heads of the logs of a ledger file: but for `behind` and `read`, within a transaction that writes, behind `begin`. */
export interface LogHeads {
  /** The first id that heads and places have not followed to; `undefined` where they have followed to the end. */
  behind(): number | undefined
  /** Where a log ends, as of the transaction that reads, and as its records stand. */
  read(log: string): Head | undefined
  /** What the transaction goes on from: the next id. Catches up with what others have written. */
  begin(): number
  find(log: string): Tip | undefined
  /** A log that is not there yet. */
  add(log: string): Tip
  /** False where the head is not what it was expected to be. */
  move(move: Move): boolean
  /** To be called behind an append, with the id that follows it. */
  appended(nextId: number): void
  /** Writes what is behind. Throws where a chain does not hold there. */
  catchUp(): void
  /** After a transaction that failed nothing is known of the heads. */
  forget(): void
}

export function createLogHeads(database: Database, blocks: RecordBlocks): LogHeads {
  const selectMark = database.prepare('SELECT caught_up FROM ledger')
  const setMark = database.prepare('UPDATE ledger SET caught_up = ?')
  const selectLog = database.prepare('SELECT * FROM log WHERE name = ?')
  const selectGrown = database.prepare('SELECT * FROM log WHERE id IN (SELECT log FROM block WHERE first_id >= ?)')
  const insertLog = database.prepare(
    `INSERT INTO log (name, size, link, issued_at, peaks, covered) VALUES (?, 0, '', 0, x'', 0)`,
  )
  const setHead = database.prepare(
    'UPDATE log SET size = ?1, link = ?, issued_at = ?, peaks = ?, uncovered = ?1 > covered WHERE id = ?',
  )
  let tips = new Map<string, Tip>()
  /** The next id as of our last append: where the file says another, somebody else has written. */
  let ourNextId = -1
  let appends = 0

  function behind(): number | undefined {
    const [marked, next] = [Number(selectMark.get()?.['caught_up']), blocks.nextId()]
    if (marked === next) return undefined
    // Where it lies beyond the end, records were deleted or it was moved: it says nothing then.
    return marked < next ? marked : 0
  }

  function find(log: string): Tip | undefined {
    const known = tips.get(log)
    if (known !== undefined) return known
    const row = selectLog.get(log)
    return row && tipOf(row)
  }

  function catchUp(): void {
    appends = 0
    const from = behind()
    if (from === undefined) return
    for (const row of selectGrown.all(from)) {
      const log = String(row['name'])
      const { id, head } = tips.get(log) ?? follow(log, tipOf(row), from)
      setHead.run(head.size, head.link, head.issuedAt, head.peaks, id)
    }
    blocks.place(from)
    setMark.run(blocks.nextId())
  }

  function replay(log: string, head: Head, from: number): Replay {
    const records = unpackRecords(log, blocks.since(log, from, head.size))
    return replayRecords(head, records, blocks.lastLink(log, from))
  }

  /** Throws where the chain does not hold: it is not gone on with. */
  function follow(log: string, { id, head }: Tip, from: number): Tip {
    const { head: end, refused } = replay(log, head, from)
    if (refused === undefined) return { id, head: end }
    const { seq, attestationId } = refused
    throw new Error(
      `Record ${seq} of ${log} (attestation ${attestationId}) does not follow: it, or the one before it, was changed.`,
    )
  }

  return {
    behind,
    read(log) {
      if (blocks.nextId() === ourNextId) return find(log)?.head
      const row = selectLog.get(log)
      if (row === undefined) return undefined
      const { head } = tipOf(row)
      const from = behind()
      return from === undefined ? head : replay(log, head, from).head
    },
    begin() {
      const next = blocks.nextId()
      if (next !== ourNextId || tips.size > MOST_TIPS) {
        if (next !== ourNextId) tips = new Map()
        catchUp()
        tips = new Map()
        ourNextId = next
      }
      return next
    },
    find,
    add(log) {
      insertLog.run(log)
      const tip = find(log)
      if (tip === undefined) throw new Error(`The log ${log} was not made.`)
      return tip
    },
    move({ log, before, head }) {
      const tip = find(log)
      if (tip === undefined || tip.head.size !== before.size || tip.head.link !== before.link) return false
      tips.set(log, { id: tip.id, head })
      return true
    },
    appended(nextId) {
      ourNextId = nextId
      if (++appends >= APPENDS_AT_ONCE) catchUp()
    },
    catchUp,
    forget() {
      tips = new Map()
      ourNextId = -1
    },
  }
}
