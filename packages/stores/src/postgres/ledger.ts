import { randomBytes } from 'node:crypto'
import {
  type Batch,
  type Draft,
  KEY_LOG,
  type LedgerStore,
  leafTile,
  placeBatch,
  type StoredRecord,
  TILE_WIDTH,
} from '@sallyport/ledger'
import { bytesOf, subjectOf, type Tip, tipOf, uncoveredOf } from '../ledger/rows.ts'
import { bytesArray, numberArray, textArray } from './arrays.ts'
import { migrate } from './migrate.ts'
import { openPostgres, type PostgresQuery, type PostgresRow } from './pool.ts'

/** Every version of the tables; a step that has been released is never changed, a new one is added. */
const STEPS: readonly string[] = [
  `CREATE TABLE ledger (
     id int PRIMARY KEY CHECK (id = 1),
     origin text NOT NULL,
     next_id bigint NOT NULL
   );
   CREATE TABLE ledger_log (
     id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
     name text NOT NULL UNIQUE,
     size bigint NOT NULL,
     link text NOT NULL,
     issued_at bigint NOT NULL,
     peaks bytea NOT NULL,
     covered bigint NOT NULL
   );
   CREATE INDEX ledger_log_uncovered ON ledger_log (id) WHERE size > covered;
   CREATE TABLE ledger_record (
     attestation_id bigint PRIMARY KEY,
     log bigint NOT NULL,
     seq bigint NOT NULL,
     bytes bytea NOT NULL,
     UNIQUE (log, seq)
   );
   CREATE TABLE ledger_node (
     log bigint NOT NULL,
     level int NOT NULL,
     place bigint NOT NULL,
     hash bytea NOT NULL,
     PRIMARY KEY (log, level, place)
   );
   CREATE TABLE ledger_subject (
     attestation_id bigint PRIMARY KEY,
     issued_at bigint NOT NULL,
     address text NOT NULL,
     salt bytea NOT NULL,
     context text
   );
   CREATE TABLE ledger_checkpoint (
     log bigint NOT NULL,
     size bigint NOT NULL,
     note text NOT NULL,
     PRIMARY KEY (log, size)
   );
   CREATE TABLE ledger_document (
     sha256 text PRIMARY KEY,
     text text NOT NULL
   )`,
]

/**
 * The commit of this transaction is synchronous whatever the server's or the role's setting says, because an id given
 * out is a durable record.
 */
const SYNCHRONOUS = `set_config('synchronous_commit', 'on', true)`

/** The one row that all nodes append behind. */
const LOCK_HEAD = `SELECT next_id, ${SYNCHRONOUS} FROM ledger FOR UPDATE`

/**
 * All that one batch writes, in one statement. It moves the head from where the batch begins to where it ends; where
 * another node has moved it, it writes nothing and gives no row. A log whose head is not what the batch was built on
 * undoes all of it: a text is no number, and that is an error.
 */
const WRITE = `
  WITH moved AS (
    UPDATE ledger SET next_id = $1 + cardinality($2::bigint[]) WHERE id = 1 AND next_id = $1 RETURNING ${SYNCHRONOUS}
  ), records AS (
    INSERT INTO ledger_record SELECT $1 + nth - 1, log, seq, bytes
    FROM moved, unnest($2::bigint[], $3::bigint[], $4::bytea[]) WITH ORDINALITY AS r (log, seq, bytes, nth)
  ), subjects AS (
    INSERT INTO ledger_subject SELECT $1 + nth - 1, at, address, salt, context
    FROM moved, unnest($5::bigint[], $6::text[], $7::bytea[], $8::text[])
      WITH ORDINALITY AS s (at, address, salt, context, nth)
    WHERE address IS NOT NULL
  ), nodes AS (
    INSERT INTO ledger_node SELECT n.* FROM moved, unnest($9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[]) AS n
  ), heads AS (
    UPDATE ledger_log l SET size = h.size, link = h.link, issued_at = h.at, peaks = h.peaks
    FROM moved, unnest($13::bigint[], $14::bigint[], $15::text[], $16::bigint[], $17::bytea[], $18::bigint[], $19::text[])
      AS h (id, size, link, at, peaks, old_size, old_link)
    WHERE l.id = h.id AND l.size = h.old_size AND l.link = h.old_link
    RETURNING 1
  ), fitting AS (SELECT count(*) FROM heads)
  SELECT CASE count WHEN cardinality($13::bigint[]) THEN 1 ELSE ('Heads as they were known: ' || count)::int END
  FROM moved, fitting`

const LOG_ID = '(SELECT id FROM ledger_log WHERE name = $1)'

const SELECT_RECORDS = `SELECT attestation_id, seq, bytes FROM ledger_record WHERE log = ${LOG_ID}`

/** Longer than other stores are given: behind a burst, a batch waits for the head. */
const STATEMENT_MS = 2_000
const ERASE_MS = 600_000

/** Logs whose head is kept in memory between two transactions. */
const MOST_TIPS = 1_000

type Expected = Parameters<LedgerStore['append']>[1]

/** The heads that our last append left, good for as long as the next id is still the one that it left. */
interface Known {
  readonly nextId: number
  readonly tips: ReadonlyMap<string, Tip>
  /** Whether that append found the ledger as the one before it had left it: then no other node is likely to come in. */
  readonly alone: boolean
}

const NOTHING_KNOWN: Known = { nextId: -1, tips: new Map(), alone: false }

/** What an append has written, on what, and whether that was known before. */
interface Written {
  readonly batch: Batch
  readonly before: ReadonlyMap<string, Tip>
  readonly alone: boolean
}

/** Opens the ledger in a PostgreSQL database, which any number of nodes may append to. Nothing waits for ever. */
export async function openPostgresLedger(url: string): Promise<LedgerStore> {
  const postgres = await openPostgres(url, { statementMs: STATEMENT_MS })
  const { query } = postgres

  async function begin(): Promise<string> {
    await migrate(postgres, 'ledger', STEPS)
    await query('INSERT INTO ledger VALUES (1, $1, 1) ON CONFLICT DO NOTHING', [
      `sallyport/${randomBytes(8).toString('hex')}`,
    ])
    return String((await query('SELECT origin FROM ledger')).rows[0]?.['origin'])
  }

  const origin = await begin().catch(async (error: unknown) => {
    await postgres.close()
    throw error
  })

  async function one(sql: string, ...values: readonly (number | string)[]): Promise<PostgresRow | undefined> {
    return (await query(sql, values)).rows[0]
  }

  let known = NOTHING_KNOWN

  /**
   * In one statement, on what is known. Nothing and `undefined` where that is not enough, where another node was
   * quicker, and among other nodes: to wait for the lock takes less than to be too late and begin anew.
   */
  async function appendAtOnce(
    known: Known,
    drafts: readonly Draft[],
    expected: Expected,
  ): Promise<Written | undefined> {
    const { nextId, tips, alone } = known
    if (!alone || expected !== undefined || !drafts.every(({ log }) => tips.has(log))) return undefined
    const batch = placeBatch(origin, nextId, drafts, (log) => tips.get(log)?.head)
    return (await write(query, batch, tips, nextId)) ? { batch, before: tips, alone } : undefined
  }

  /** Behind the lock of the head, which is looked at first. */
  async function appendLocked(
    query: PostgresQuery,
    known: Known,
    drafts: readonly Draft[],
    expected: Expected,
  ): Promise<Written | undefined> {
    const nextId = Number((await query(LOCK_HEAD, [], 'ledger_lock')).rows[0]?.['next_id'])
    const names = new Set([...drafts.map(({ log }) => log), ...(expected === undefined ? [] : [expected.log])])
    const alone = nextId === known.nextId
    const held = alone ? known.tips : new Map<string, Tip>()
    const missing = [...names].filter((log) => !held.has(log))
    const tips = new Map([...held, ...(missing.length === 0 ? [] : await tipsOf(query, missing))])
    if (expected !== undefined && (tips.get(expected.log)?.head.size ?? 0) !== expected.size) return undefined
    const batch = placeBatch(origin, nextId, drafts, (log) => tips.get(log)?.head)
    const begun = await beginLogs(
      query,
      [...batch.heads.keys()].filter((log) => !tips.has(log)),
    )
    const before = new Map([...tips, ...begun])
    if (!(await write(query, batch, before, nextId))) throw new Error('The head of the ledger moved under its lock.')
    return { batch, before, alone }
  }

  return {
    origin,
    async append(drafts, expected) {
      const from = known
      // Of an append that fails nobody knows what it left.
      known = NOTHING_KNOWN
      const written =
        (await appendAtOnce(from, drafts, expected)) ??
        (await postgres.transaction((query) => appendLocked(query, from, drafts, expected)))
      if (written === undefined) return undefined
      const { batch, before, alone } = written
      known = { nextId: batch.nextId, tips: before.size > MOST_TIPS ? new Map() : tipsAfter(before, batch), alone }
      return batch.records.map(({ attestationId, seq }) => ({ attestationId, seq }))
    },
    async head(log) {
      return (await tipsOf(query, [log])).get(log)?.head
    },
    logs: async () => (await query('SELECT name FROM ledger_log ORDER BY id')).rows.map((row) => String(row['name'])),
    async find(attestationId, log) {
      const row = await one(`${SELECT_RECORDS} AND attestation_id = $2`, log, attestationId)
      return row === undefined ? undefined : recordOf(log, row)
    },
    async records(log, from, count) {
      const { rows } = await query(`${SELECT_RECORDS} AND seq >= $2 ORDER BY seq LIMIT $3`, [log, from, count])
      return rows.map((row) => recordOf(log, row))
    },
    async tile(log, tileLevel, index) {
      const start = index * TILE_WIDTH
      const end = start + TILE_WIDTH
      if (tileLevel === 0) {
        const { rows } = await query(`${SELECT_RECORDS} AND seq >= $2 AND seq < $3 ORDER BY seq`, [log, start, end])
        return leafTile(rows.map((row) => bytesOf(row, 'bytes')))
      }
      const { rows } = await query(
        `SELECT hash FROM ledger_node WHERE log = ${LOG_ID} AND level = $2 AND place >= $3 AND place < $4 ORDER BY place`,
        [log, tileLevel, start, end],
      )
      return Buffer.concat(rows.map((row) => bytesOf(row, 'hash')))
    },
    async subjects(attestationIds) {
      const { rows } = await query('SELECT * FROM ledger_subject WHERE attestation_id = ANY($1)', [attestationIds])
      return new Map(rows.map((row) => [Number(row['attestation_id']), subjectOf(row)]))
    },
    async uncovered(limit) {
      const { rows } = await query('SELECT * FROM ledger_log WHERE size > covered ORDER BY id LIMIT $1', [limit])
      return rows.map(uncoveredOf)
    },
    putCheckpoint: ({ log, size, note }, after, keyCount) =>
      postgres.transaction(async (query) => {
        // The lock of the appenders: no key can be handed over between this look and the commit.
        await query(LOCK_HEAD)
        if (((await tipsOf(query, [KEY_LOG])).get(KEY_LOG)?.head.size ?? 0) !== keyCount) return false
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
      const newest = await one(`${notes} ORDER BY size DESC LIMIT 1`, log)
      const covering = await one(`${notes} AND size > $2 ORDER BY size LIMIT 1`, log, seq)
      return {
        ...(newest === undefined ? {} : { newest: String(newest['note']) }),
        ...(covering === undefined ? {} : { covering: String(covering['note']) }),
      }
    },
    async allCheckpoints(log) {
      const { rows } = await query(`SELECT size, note FROM ledger_checkpoint WHERE log = ${LOG_ID} ORDER BY size`, [
        log,
      ])
      return rows.map((row) => ({ log, size: Number(row['size']), note: String(row['note']) }))
    },
    async putDocument({ sha256, text }) {
      await query('INSERT INTO ledger_document VALUES ($1, $2) ON CONFLICT DO NOTHING', [sha256, text])
    },
    async document(sha256) {
      const row = await one('SELECT text FROM ledger_document WHERE sha256 = $1', sha256)
      return row === undefined ? undefined : String(row['text'])
    },
    eraseSubject: (address) =>
      postgres.transaction(
        async (query) => (await query('DELETE FROM ledger_subject WHERE address = $1', [address])).changes,
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

async function tipsOf(query: PostgresQuery, names: readonly string[]): Promise<ReadonlyMap<string, Tip>> {
  const { rows } = await query('SELECT * FROM ledger_log WHERE name = ANY($1)', [names])
  return new Map(rows.map((row) => [String(row['name']), tipOf(row)]))
}

function tipsAfter(before: ReadonlyMap<string, Tip>, { heads }: Batch): ReadonlyMap<string, Tip> {
  return new Map([...before].map(([log, { id, head }]) => [log, { id, head: heads.get(log) ?? head }]))
}

/** Makes the rows of new logs; the head that they begin with is written right after. */
async function beginLogs(query: PostgresQuery, names: readonly string[]): Promise<ReadonlyMap<string, Tip>> {
  if (names.length === 0) return new Map()
  await query(
    `INSERT INTO ledger_log (name, size, link, issued_at, peaks, covered) SELECT name, 0, '', 0, '', 0 FROM unnest($1::text[]) AS n (name)`,
    [names],
  )
  return tipsOf(query, names)
}

/** False, and nothing, where the head is no longer at `from`, with which the batch begins. */
async function write(query: PostgresQuery, batch: Batch, tips: ReadonlyMap<string, Tip>, from: number) {
  return (await query(WRITE, valuesOf(batch, tips, from), 'ledger_write')).rows.length === 1
}

function valuesOf({ records, nodes, heads }: Batch, tips: ReadonlyMap<string, Tip>, from: number) {
  const tipOf = (log: string): Tip => {
    const tip = tips.get(log)
    if (tip === undefined) throw new Error(`The log ${log} was not made.`)
    return tip
  }
  const idOf = (log: string) => tipOf(log).id
  const after = [...heads]
  return [
    from,
    numberArray(records.map(({ log }) => idOf(log))),
    numberArray(records.map(({ seq }) => seq)),
    bytesArray(records.map(({ bytes }) => bytes)),
    numberArray(records.map(({ issuedAt }) => issuedAt)),
    textArray(records.map(({ subject }) => subject?.address)),
    bytesArray(records.map(({ subject }) => subject?.salt)),
    textArray(records.map(({ subject }) => subject?.context)),
    numberArray(nodes.map(({ log }) => idOf(log))),
    numberArray(nodes.map(({ tileLevel }) => tileLevel)),
    numberArray(nodes.map(({ index }) => index)),
    bytesArray(nodes.map(({ hash }) => hash)),
    numberArray(after.map(([log]) => idOf(log))),
    numberArray(after.map(([, { size }]) => size)),
    textArray(after.map(([, { link }]) => link)),
    numberArray(after.map(([, { issuedAt }]) => issuedAt)),
    bytesArray(after.map(([, { peaks }]) => peaks)),
    numberArray(after.map(([log]) => tipOf(log).head.size)),
    textArray(after.map(([log]) => tipOf(log).head.link)),
  ]
}

function recordOf(log: string, row: PostgresRow): StoredRecord {
  return { log, attestationId: Number(row['attestation_id']), seq: Number(row['seq']), bytes: bytesOf(row, 'bytes') }
}
