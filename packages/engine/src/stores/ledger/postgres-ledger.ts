import { randomBytes } from 'node:crypto'
import { type Batch, type Heads, KEY_LOG, type LedgerStore, leafTile, TILE_WIDTH } from '@sallyport/ledger'
import { bytesArray, numberArray, textArray } from '../postgres/arrays.ts'
import { migrate } from '../postgres/migrate.ts'
import { openPostgres, type Postgres, type PostgresQuery, type PostgresRow } from '../postgres/pool.ts'
import { createReservation } from './postgres-reservation.ts'
import { POSTGRES_LEDGER_STEPS } from './postgres-tables.ts'
import {
  addressRecordOfRow,
  checkpointsOfRows,
  headOfRow,
  readBytes,
  recordOfRow,
  subjectOfRow,
  uncoveredOfRow,
} from './rows.ts'

/**
 * The commit of this transaction is synchronous whatever the server's or the role's setting says, because an id given
 * out is a durable record.
 */
const SYNCHRONOUS = `set_config('synchronous_commit', 'on', true)`

/** A process that is stopped while it holds the lock loses it after so many milliseconds. */
const IDLE_MS = 1_000

/** Locks the one row that all commits move. */
const LOCK_HEAD = `SELECT ${SYNCHRONOUS}, set_config('idle_in_transaction_session_timeout', '${IDLE_MS}', true)
  FROM ledger FOR UPDATE`

const SELECT_HEADS = 'SELECT next_id, l.* FROM ledger LEFT JOIN ledger_log l ON l.name = ANY($1)'

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

const LOG_ID = '(SELECT id FROM ledger_log WHERE name = $1)'

/** A record of crawling has several addresses, with spaces between. */
const NAMES_ADDRESS = "strpos(' ' || address || ' ', ' ' || $1::text || ' ') > 0"
const SELECT_ABOUT = `SELECT s.context, s.salt, r.*, l.name FROM ledger_subject s
  JOIN ledger_record r ON r.attestation_id = s.attestation_id JOIN ledger_log l ON l.id = r.log
  WHERE ${NAMES_ADDRESS} AND s.attestation_id > $2 ORDER BY s.attestation_id LIMIT $3`
const SELECT_RECORDS = `SELECT attestation_id, seq, bytes FROM ledger_record WHERE log = ${LOG_ID}`

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
  await migrate(postgres, 'ledger', POSTGRES_LEDGER_STEPS)
  await postgres.query('INSERT INTO ledger VALUES (1, $1, 1) ON CONFLICT DO NOTHING', [
    `sallyport/${randomBytes(8).toString('hex')}`,
  ])
  return String((await postgres.query('SELECT origin FROM ledger')).rows[0]?.['origin'])
}

function createStore(postgres: Postgres, origin: string): LedgerStore {
  const { query } = postgres
  const reservation = createReservation(postgres)

  return {
    origin,
    heads: (logs, reserve = false) =>
      reserve
        ? reservation.reserve(async (query) => {
            await query(LOCK_HEAD, [], 'ledger_lock')
            return readHeads(query, logs)
          })
        : readHeads(query, logs),
    commit: (batch, expected) =>
      reservation.use((query) => write(query, batch, expected)) ?? write(query, batch, expected),
    logs: async () => (await query('SELECT name FROM ledger_log ORDER BY id')).rows.map((row) => String(row['name'])),
    async find(attestationId, log) {
      const row = await readOne(query, `${SELECT_RECORDS} AND attestation_id = $2`, log, attestationId)
      return row === undefined ? undefined : recordOfRow(log, row)
    },
    async records(log, from, count) {
      const { rows } = await query(`${SELECT_RECORDS} AND seq >= $2 ORDER BY seq LIMIT $3`, [log, from, count])
      return rows.map((row) => recordOfRow(log, row))
    },
    async tile(log, tileLevel, index) {
      const start = index * TILE_WIDTH
      const end = start + TILE_WIDTH
      if (tileLevel === 0) {
        const { rows } = await query(`${SELECT_RECORDS} AND seq >= $2 AND seq < $3 ORDER BY seq`, [log, start, end])
        return leafTile(rows.map((row) => readBytes(row, 'bytes')))
      }
      const { rows } = await query(
        `SELECT hash FROM ledger_node WHERE log = ${LOG_ID} AND level = $2 AND place >= $3 AND place < $4 ORDER BY place`,
        [log, tileLevel, start, end],
      )
      return Buffer.concat(rows.map((row) => readBytes(row, 'hash')))
    },
    async subjects(attestationIds) {
      const { rows } = await query('SELECT * FROM ledger_subject WHERE attestation_id = ANY($1)', [attestationIds])
      return new Map(rows.map((row) => [Number(row['attestation_id']), subjectOfRow(row)]))
    },
    async uncovered(limit) {
      const { rows } = await query('SELECT * FROM ledger_log WHERE size > covered ORDER BY id LIMIT $1', [limit])
      return rows.map(uncoveredOfRow)
    },
    ...checkpointsIn(postgres),
    async putDocument({ sha256, text }) {
      await query('INSERT INTO ledger_document VALUES ($1, $2) ON CONFLICT DO NOTHING', [sha256, text])
    },
    async document(sha256) {
      const row = await readOne(query, 'SELECT text FROM ledger_document WHERE sha256 = $1', sha256)
      return row === undefined ? undefined : String(row['text'])
    },
    async recordsAbout(address, after, count) {
      const { rows } = await query(SELECT_ABOUT, [address, after, count])
      return rows.map(addressRecordOfRow)
    },
    eraseSubject: (address) =>
      postgres.transaction(
        async (query) => (await query(`DELETE FROM ledger_subject WHERE ${NAMES_ADDRESS}`, [address])).changes,
        ERASE_MS,
      ),
    eraseBefore: (moment) =>
      postgres.transaction(
        async (query) => (await query('DELETE FROM ledger_subject WHERE issued_at < $1', [moment])).changes,
        ERASE_MS,
      ),
    close: postgres.close,
  }
}

function checkpointsIn({
  query,
  transaction,
}: Postgres): Pick<LedgerStore, 'putCheckpoint' | 'checkpoints' | 'allCheckpoints'> {
  return {
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
    async checkpoints(log, seq) {
      const notes = `SELECT note FROM ledger_checkpoint WHERE log = ${LOG_ID}`
      const newest = await readOne(query, `${notes} ORDER BY size DESC LIMIT 1`, log)
      const covering = await readOne(query, `${notes} AND size > $2 ORDER BY size LIMIT 1`, log, seq)
      return checkpointsOfRows(newest, covering)
    },
    async allCheckpoints(log) {
      const { rows } = await query(`SELECT size, note FROM ledger_checkpoint WHERE log = ${LOG_ID} ORDER BY size`, [
        log,
      ])
      return rows.map((row) => ({ log, size: Number(row['size']), note: String(row['note']) }))
    },
  }
}

async function readOne(
  query: PostgresQuery,
  sql: string,
  ...values: readonly (number | string)[]
): Promise<PostgresRow | undefined> {
  return (await query(sql, values)).rows[0]
}

async function readHeads(query: PostgresQuery, names: readonly string[]): Promise<Heads> {
  const { rows } = await query(SELECT_HEADS, [names], 'ledger_heads')
  const grown = rows.filter((row) => row['name'] !== null)
  return {
    nextId: Number(rows[0]?.['next_id']),
    logs: new Map(grown.map((row) => [String(row['name']), headOfRow(row)])),
  }
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
