import { type Batch, type Document, type Head, type Heads, KEY_LOG, type SignedHead } from '@sallyport/ledger'
import type { Database, SqlValue } from '../sqlite/driver.ts'
import { namesAddress } from './ledger-reads.ts'
import type { Transactions } from './transactions.ts'
import type { Wal } from './wal.ts'

/** Subjects that one step of an erasure looks at; records are appended between two steps. */
const ERASE_STEP = 20_000

/** One statement takes so many rows. */
const AT_ONCE = 16

/** Selects the subjects to erase: of an address, and issued before a moment (milliseconds since the epoch). */
export type Erasure = { readonly address?: string | undefined; readonly before?: number | undefined }

/** Runs the writes of `LedgerStore`, blocking. */
export function createLedgerWrites(database: Database, transactions: Transactions, wal: Wal) {
  const moveNextId = database.prepare('UPDATE ledger SET next_id = ? WHERE next_id = ?')
  const insertLog = database.prepare(
    'INSERT INTO log (name, size, link, issued_at, peaks, covered) VALUES (?, ?, ?, ?, ?, 0) RETURNING id',
  )
  const moveHead = database.prepare(
    'UPDATE log SET size = ?, link = ?, issued_at = ?, peaks = ? WHERE name = ? AND size = ? AND link = ? RETURNING id',
  )
  const insertRecords = createRowInserter(database, 'record', 4)
  const insertSubjects = createRowInserter(database, 'subject', 5)
  const insertNode = database.prepare('INSERT INTO node VALUES (?, ?, ?, ?)')
  const cover = database.prepare(
    `UPDATE log SET covered = ? WHERE name = ? AND covered = ?
     AND ? = ifnull((SELECT size FROM log WHERE name = '${KEY_LOG}'), 0) RETURNING id`,
  )
  const putNote = database.prepare(
    'INSERT INTO checkpoint VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET note = excluded.note',
  )
  const putText = database.prepare('INSERT INTO document VALUES (?, ?) ON CONFLICT DO NOTHING')
  /** Returns the number of the log. Throws when its head is not the expected one: the next id alone was unchanged. */
  function setHead(log: string, before: Head | undefined, { size, link, issuedAt, peaks }: Head): number {
    const row =
      before === undefined
        ? insertLog.get(log, size, link, issuedAt, peaks)
        : moveHead.get(size, link, issuedAt, peaks, log, before.size, before.link)
    if (row === undefined) throw new Error(`The head of ${log} does not match the last commit.`)
    return Number(row['id'])
  }

  return {
    commit: ({ records, nodes, heads }: Batch, expected: Heads): boolean =>
      transactions.commit(() => {
        const { nextId, logs } = expected
        if (Number(moveNextId.run(nextId + records.length, nextId).changes) === 0) return false
        const ids = new Map([...heads].map(([log, head]) => [log, setHead(log, logs.get(log), head)]))
        const findLogId = (log: string) => ids.get(log) as number
        insertRecords(
          records.flatMap(({ attestationId, log, seq, text }) => [
            attestationId,
            findLogId(log),
            seq,
            Buffer.from(text),
          ]),
        )
        insertSubjects(
          records.flatMap(({ attestationId, issuedAt, subject }) =>
            subject === undefined
              ? []
              : [attestationId, issuedAt, subject.address, subject.salt, subject.context ?? null],
          ),
        )
        for (const { log, tileLevel, index, hash } of nodes) insertNode.run(findLogId(log), tileLevel, index, hash)
        return true
      }),
    putCheckpoint: ({ log, size, note }: SignedHead, after: number, keyCount: number): boolean =>
      transactions.write(() => {
        const row = cover.get(size, log, after, keyCount)
        if (row !== undefined) putNote.run(Number(row['id']), size, note)
        return row !== undefined
      }),
    putDocument: ({ sha256, text }: Document): void => transactions.write(() => void putText.run(sha256, text)),
    eraseStep: createEraser(database, transactions),
    /** Old pages of the log still hold what was erased, until they are in the file. No checkpoint runs within a transaction. */
    truncateWal(): void {
      transactions.release()
      wal.truncate()
    },
  }
}

/** Erases among the next subjects behind `after`; `last` is where the next step continues, absent at the end. */
function createEraser(database: Database, transactions: Transactions) {
  const selectStep = database.prepare(
    `SELECT max(attestation_id) AS last
     FROM (SELECT attestation_id FROM subject WHERE attestation_id > ? ORDER BY attestation_id LIMIT ${ERASE_STEP})`,
  )
  const erase = database.prepare(
    `DELETE FROM subject WHERE attestation_id > ? AND attestation_id <= ? AND (${namesAddress({ find: 'instr' }, '?')} OR issued_at < ?)`,
  )
  return (erasure: Erasure, after: number): { readonly erased: number; readonly last?: number | undefined } =>
    transactions.write(() => {
      const last = selectStep.get(after)?.['last']
      if (typeof last !== 'number') return { erased: 0 }
      return { erased: Number(erase.run(after, last, erasure.address ?? null, erasure.before ?? null).changes), last }
    })
}

/** Inserts rows, many with each statement, in half the time. Their values are one list: to join lists takes longer than to insert them. */
function createRowInserter(database: Database, table: string, columns: number): (values: readonly SqlValue[]) => void {
  const row = `(${Array.from({ length: columns }, () => '?').join()})`
  const one = database.prepare(`INSERT INTO ${table} VALUES ${row}`)
  const many = database.prepare(`INSERT INTO ${table} VALUES ${Array.from({ length: AT_ONCE }, () => row).join()}`)
  return (values) => {
    let done = 0
    for (; values.length - done >= AT_ONCE * columns; done += AT_ONCE * columns)
      many.run(...values.slice(done, done + AT_ONCE * columns))
    for (; done < values.length; done += columns) one.run(...values.slice(done, done + columns))
  }
}
