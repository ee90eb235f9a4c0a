import { randomBytes } from 'node:crypto'
import { type Batch, type Heads, KEY_LOG, type LedgerStore } from '@sallyport/ledger'
import { bytesArray, numberArray, textArray } from '../postgres/arrays.ts'
import { migrate } from '../postgres/migrate.ts'
import { openPostgres, type Postgres, type PostgresQuery, writeParameters } from '../postgres/pool.ts'
import {
  type LedgerDialect,
  listLedgerReads,
  mapLedgerReads,
  namesAddress,
  type RemoteLedgerReads,
} from './ledger-reads.ts'
import { POSTGRES_STEPS } from './ledger-tables.ts'
import { createReservation } from './postgres-reservation.ts'

/** The commit is synchronous whatever the setting of the server or the role says, because an id given out is a durable record. */
const SYNCHRONOUS = `set_config('synchronous_commit', 'on', true)`

/** A process that is stopped while it holds the lock loses it after so many milliseconds. */
const IDLE_MS = 1_000

/** Locks the one row that all commits move. */
const LOCK_HEAD = `SELECT ${SYNCHRONOUS}, set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true)
  FROM ledger FOR UPDATE`

/**
 * Writes all of one batch in one statement. When another node has moved the next id, it writes nothing and returns no row. A log whose head
 * is not the expected one undoes all of it: a text is no number, and that is an error.
 */
const WRITE = `
  WITH moved AS (
    UPDATE ledger SET next_id = $1 + cardinality($2::text[]) WHERE id = 1 AND next_id = $1 RETURNING ${SYNCHRONOUS}
  ), heads AS (
    SELECT h.* FROM moved,
      unnest($13::text[], $14::bigint[], $15::text[], $16::bigint[], $17::bytea[], $18::bigint[], $19::text[])
      AS h (name, size, link, at, peaks, old_size, old_link)
  ), grown AS (
    UPDATE ledger_log l SET size = h.size, link = h.link, issued_at = h.at, peaks = h.peaks
    FROM heads h WHERE l.name = h.name AND l.size = h.old_size AND l.link = h.old_link
    RETURNING l.id, l.name
  ), begun AS (
    INSERT INTO ledger_log (name, size, link, issued_at, peaks, covered)
    SELECT name, size, link, at, peaks, 0 FROM heads WHERE old_size IS NULL
    RETURNING id, name
  ), logs AS (
    SELECT * FROM grown UNION ALL SELECT * FROM begun
  ), records AS (
    INSERT INTO ledger_record SELECT $1 + nth - 1, l.id, seq, bytes
    FROM unnest($2::text[], $3::bigint[], $4::bytea[]) WITH ORDINALITY AS r (log, seq, bytes, nth)
    JOIN logs l ON l.name = r.log
  ), subjects AS (
    INSERT INTO ledger_subject SELECT $1 + nth - 1, at, address, salt, context
    FROM moved, unnest($5::bigint[], $6::text[], $7::bytea[], $8::text[])
      WITH ORDINALITY AS s (at, address, salt, context, nth)
    WHERE address IS NOT NULL
  ), nodes AS (
    INSERT INTO ledger_node SELECT l.id, level, place, hash
    FROM unnest($9::text[], $10::bigint[], $11::bigint[], $12::bytea[]) AS n (log, level, place, hash)
    JOIN logs l ON l.name = n.log
  ), fitting AS (SELECT count(*) FROM logs)
  SELECT CASE count WHEN cardinality($13::text[]) THEN 1 ELSE ('Heads as they were known: ' || count)::int END
  FROM moved, fitting`

const POSTGRES: LedgerDialect = {
  prefix: 'ledger_',
  find: 'strpos',
  isListed: '= ANY(?1)',
  makeList: (values) => values,
}

/** A statement may take longer than in other stores: behind a burst, a commit waits for the lock. */
const STATEMENT_MS = 2_000
const ERASE_MS = 600_000

/** Opens the ledger in a PostgreSQL database, which any number of nodes may append to. Nothing waits for ever. */
export async function openPostgresLedger(url: string): Promise<LedgerStore> {
  const postgres = await openPostgres(url, { statementMs: STATEMENT_MS })
  const origin = await createTables(postgres).catch(async (error: unknown) => {
    await postgres.close()
    throw error
  })
  return createStore(postgres, origin)
}

async function createTables(postgres: Postgres): Promise<string> {
  await migrate(postgres, 'ledger', POSTGRES_STEPS)
  await postgres.query('INSERT INTO ledger VALUES (1, $1, 1) ON CONFLICT DO NOTHING', [
    `sallyport/${randomBytes(8).toString('hex')}`,
  ])
  return String((await postgres.query('SELECT origin FROM ledger')).rows[0]?.['origin'])
}

function createStore(postgres: Postgres, origin: string): LedgerStore {
  const { query, transaction } = postgres
  const reservation = createReservation(postgres)

  function erase(condition: string, value: string | number): Promise<number> {
    const sql = `DELETE FROM ledger_subject WHERE ${condition}`
    return transaction(async (query) => (await query(sql, [value])).changes, ERASE_MS)
  }

  return {
    origin,
    ...createReads(query),
    heads: (logs, reserve = false) =>
      reserve
        ? reservation.reserve(async (query) => {
            await query(LOCK_HEAD, [], 'ledger_lock')
            return readHeads(query, logs)
          })
        : readHeads(query, logs),
    commit: (batch, expected) =>
      reservation.use((query) => write(query, batch, expected)) ?? write(query, batch, expected),
    putCheckpoint: ({ log, size, note }, after, keyCount) =>
      transaction(async (query) => {
        // The lock of commits: no key can be handed over between this look and the end.
        await query(LOCK_HEAD)
        if (((await readHeads(query, [KEY_LOG])).logs.get(KEY_LOG)?.size ?? 0) !== keyCount) return false
        const { rows } = await query(
          'UPDATE ledger_log SET covered = $1 WHERE name = $2 AND covered = $3 RETURNING id',
          [size, log, after],
        )
        if (rows[0] === undefined) return false
        await query(
          'INSERT INTO ledger_checkpoint VALUES ($1, $2, $3) ON CONFLICT (log, size) DO UPDATE SET note = excluded.note',
          [Number(rows[0]['id']), size, note],
        )
        return true
      }),
    async putDocument({ sha256, text }) {
      await query('INSERT INTO ledger_document VALUES ($1, $2) ON CONFLICT DO NOTHING', [sha256, text])
    },
    eraseSubject: (address) => erase(namesAddress(POSTGRES, '$1'), address),
    eraseBefore: (moment) => erase('issued_at < $1', moment),
    close: postgres.close,
  }
}

function createReads(query: PostgresQuery): RemoteLedgerReads {
  return mapLedgerReads(POSTGRES, async ({ sql, values, read }) => {
    const { rows } = await query(writeParameters(sql), values)
    return read(rows)
  }) as RemoteLedgerReads
}

async function readHeads(query: PostgresQuery, names: readonly string[]): Promise<Heads> {
  const { sql, values, read } = listLedgerReads(POSTGRES).heads(names)
  return read((await query(writeParameters(sql), values, 'ledger_heads')).rows)
}

/** Returns false, with nothing written, when another node has moved the next id. */
async function write(query: PostgresQuery, batch: Batch, expected: Heads): Promise<boolean> {
  return (await query(WRITE, listValues(batch, expected), 'ledger_write')).rows.length === 1
}

function listValues({ records, nodes, heads }: Batch, { nextId, logs }: Heads) {
  const after = [...heads]
  return [
    nextId,
    textArray(records.map(({ log }) => log)),
    numberArray(records.map(({ seq }) => seq)),
    bytesArray(records.map(({ text }) => Buffer.from(text))),
    numberArray(records.map(({ issuedAt }) => issuedAt)),
    textArray(records.map(({ subject }) => subject?.address)),
    bytesArray(records.map(({ subject }) => subject?.salt)),
    textArray(records.map(({ subject }) => subject?.context)),
    textArray(nodes.map(({ log }) => log)),
    numberArray(nodes.map(({ tileLevel }) => tileLevel)),
    numberArray(nodes.map(({ index }) => index)),
    bytesArray(nodes.map(({ hash }) => hash)),
    textArray(after.map(([log]) => log)),
    numberArray(after.map(([, { size }]) => size)),
    textArray(after.map(([, { link }]) => link)),
    numberArray(after.map(([, { issuedAt }]) => issuedAt)),
    bytesArray(after.map(([, { peaks }]) => peaks)),
    numberArray(after.map(([log]) => logs.get(log)?.size)),
    textArray(after.map(([log]) => logs.get(log)?.link)),
  ]
}
