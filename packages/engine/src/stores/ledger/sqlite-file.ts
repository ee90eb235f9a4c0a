import { randomBytes } from 'node:crypto'
import type { Heads } from '@sallyport/ledger'
import type { SqlValue, Statement } from '../sqlite/driver.ts'
import { openDatabase } from '../sqlite/open-database.ts'
import { type LedgerDialect, type LedgerReads, mapLedgerReads } from './ledger-reads.ts'
import { SQLITE_STEPS } from './ledger-tables.ts'
import { createLedgerWrites } from './ledger-writes.ts'
import { createTransactions } from './transactions.ts'
import { createWal } from './wal.ts'

/** Ten records a page: a commit of many writes fewer pages, each with two system calls. */
const PAGE_BYTES = 8192

const SQLITE: LedgerDialect = {
  prefix: '',
  find: 'instr',
  isListed: 'IN (SELECT value FROM json_each(?1))',
  makeList: (values) => JSON.stringify(values),
}

/** The ledger in a file, blocking: what `LedgerStore` promises, for the one thread that has it. */
export type LedgerFile = Awaited<ReturnType<typeof openLedgerFile>>

/** Opens or creates the file. Any number of processes may have it open: SQLite's lock orders their commits. */
export async function openLedgerFile(path: string) {
  const database = await openDatabase(path, SQLITE_STEPS, PAGE_BYTES)
  // `keepShort` runs the checkpoints.
  database.exec('PRAGMA wal_autocheckpoint = 0')
  // Erased content is overwritten, not only unlinked.
  database.exec('PRAGMA secure_delete = ON')
  database
    .prepare('INSERT INTO ledger VALUES (1, ?, 1) ON CONFLICT (id) DO NOTHING')
    .run(`sallyport/${randomBytes(8).toString('hex')}`)
  const origin = String(database.prepare('SELECT origin FROM ledger').get()?.['origin'])
  const transactions = createTransactions(database)
  const wal = createWal(database)
  const prepared = new Map<string, Statement>()
  const reads = mapLedgerReads(SQLITE, ({ sql, values, read }) => {
    const statement = prepared.get(sql) ?? database.prepare(sql)
    prepared.set(sql, statement)
    return read(statement.all(...(values as readonly SqlValue[])))
  }) as LedgerReads
  return {
    origin,
    ...reads,
    ...createLedgerWrites(database, transactions, wal),
    heads: (logs: readonly string[], reserve = false): Heads =>
      reserve ? transactions.reserve(() => reads.heads(logs)) : reads.heads(logs),
    isReserved: transactions.isReserved,
    release: transactions.release,
    keepShort: wal.keepShort,
    close: (): void => database.close(),
  }
}
