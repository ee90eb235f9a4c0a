import { randomBytes } from 'node:crypto'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { auditLedger, headOf, type Ledger, type LedgerStore, openLedger } from '@sallyport/ledger'
import { append, MADE_ATTESTATION, MADE_DATASETS, MADE_POLICY, madeDraft, madeSigner } from '@sallyport/ledger/testing'
import { verifyEvidence } from '@sallyport/ledger/verify'
import { openCheckpointFolder, openPostgres, openPostgresLedger, openSqliteLedger } from '@sallyport/stores'
import { NO_POSTGRES, startPostgres } from '@sallyport/stores/testing'
import { benchWriters } from './ledger-writers.ts'
import { median } from './rounds.ts'

/** Each way is measured so long in a round, and all ways take turns. */
const ROUND_MS = 1000
const ROUNDS = 6
const CALLERS = 64

/** A record as long as ours is. */
const RECORD = Buffer.alloc(720, 'x')

/** A way of keeping one record durably, for so many callers at once. */
interface Way {
  readonly name: string
  readonly callers: number
  /** Records that one call keeps; 1 unless told otherwise. */
  readonly rows?: number
  keep(): Promise<unknown>
}

/**
 * Appends beside the bare disk and beside the databases without a ledger, then the cost of proofs. `--records=N` is how
 * large the ledger of the curve becomes: 10000000 takes minutes and 12 GB.
 */
export async function benchLedger(): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const closing: (() => unknown)[] = [() => rm(folder, { recursive: true, force: true })]
  try {
    await benchEmbedded(folder, closing)
    await benchWriters('Processes on one SQLite file', join(folder, 'several.db'), join(folder, 'several'), [1, 4])
    if (NO_POSTGRES === false) await benchPostgres(folder, closing)
    else console.log(`\nno PostgreSQL: ${NO_POSTGRES}`)
    await benchCurve(join(folder, 'curve'))
  } finally {
    for (const close of closing.reverse()) await close()
  }
}

async function benchEmbedded(folder: string, closing: (() => unknown)[]): Promise<void> {
  const file = await bareFile(join(folder, 'bare'))
  const sqlite = bareSqlite(join(folder, 'bare.db'))
  const store = await openSqliteLedger(join(folder, 'ledger.db'))
  const ledger = await ledgerOn(store, folder)
  closing.push(file.close, sqlite.close, () => store.close())
  const attestIn = (log: string) => ledger.attest(log, MADE_ATTESTATION, { address: '203.0.113.7' })
  const attest = () => attestIn('t/a')
  let turn = 0
  await printWays('Records kept durably on one disk (records/s; latency of one)', [
    { name: 'file, fdatasync in groups, 64 callers', callers: CALLERS, keep: file.append },
    { name: 'SQLite, one row a transaction', callers: 1, keep: async () => sqlite.insert(1) },
    // What the machine allows a ledger in SQLite: nothing is built, hashed or handed to another thread.
    {
      name: `SQLite, ${CALLERS} rows a transaction`,
      callers: 1,
      rows: CALLERS,
      keep: async () => sqlite.insert(CALLERS),
    },
    { name: 'ledger in SQLite, 64 callers', callers: CALLERS, keep: attest },
    { name: 'ledger in SQLite, 256 callers', callers: 256, keep: attest },
    // Each account has a log of its own: a head and a page of the index for every record.
    {
      name: `ledger in SQLite, 64 callers, ${CALLERS} logs in turn`,
      callers: CALLERS,
      keep: () => attestIn(`t/${turn++ % CALLERS}`),
    },
    { name: 'ledger in SQLite, 1 caller', callers: 1, keep: attest },
  ])
}

async function benchPostgres(folder: string, closing: (() => unknown)[]): Promise<void> {
  const server = await startPostgres({ teardown: (step) => closing.push(step) }, { durable: true })
  const url = await server.database()
  const bare = await openPostgres(url, { statementMs: 5_000 })
  await bare.query('CREATE TABLE bare_head (seq bigint NOT NULL)')
  await bare.query('INSERT INTO bare_head VALUES (0)')
  await bare.query('CREATE TABLE bare (seq bigint PRIMARY KEY, bytes bytea NOT NULL)')
  const store = await openPostgresLedger(url)
  closing.push(bare.close, () => store.close())
  const ledger = await ledgerOn(store, join(folder, 'postgres'))
  const attest = () => ledger.attest('t/a', MADE_ATTESTATION, { address: '203.0.113.7' })
  await printWays('Records kept durably in PostgreSQL (records/s; latency of one)', [
    {
      name: 'one row a transaction, behind a locked head',
      callers: 1,
      keep: () =>
        bare.transaction(async (query) => {
          const { rows } = await query('SELECT seq FROM bare_head FOR UPDATE')
          const seq = Number(rows[0]?.['seq']) + 1
          await query('INSERT INTO bare VALUES ($1, $2)', [seq, RECORD])
          await query('UPDATE bare_head SET seq = $1', [seq])
        }),
    },
    { name: 'ledger in PostgreSQL, 64 callers', callers: CALLERS, keep: attest },
    { name: 'ledger in PostgreSQL, 256 callers', callers: 256, keep: attest },
  ])
  await benchWriters('Nodes on one PostgreSQL', await server.database(), join(folder, 'nodes'), [1, 3])
}

async function ledgerOn(store: LedgerStore, folder: string): Promise<Ledger> {
  const ledger = await openLedger({
    store,
    archive: openCheckpointFolder(join(folder, 'checkpoints')),
    clock: { now: () => Date.now() },
    randomness: randomBytes,
    loadSigner: async () => madeSigner(1),
  })
  for (const document of [MADE_POLICY, MADE_DATASETS]) await ledger.keep(document)
  return ledger
}

/** A file that callers append to: what all of them bring in one turn is written at once and synced once. */
async function bareFile(path: string): Promise<{ append(): Promise<void>; close(): Promise<void> }> {
  const file = await open(path, 'a')
  let waiting: (() => void)[] = []
  let writing = false

  async function write(): Promise<void> {
    writing = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      await file.writev(batch.map(() => RECORD))
      await file.datasync()
      for (const done of batch) done()
      // Those that were woken come back first.
      await new Promise((resolve) => setImmediate(resolve))
    }
    writing = false
  }

  return {
    append: () =>
      new Promise((resolve) => {
        waiting.push(resolve)
        if (!writing) queueMicrotask(() => (writing ? undefined : void write()))
      }),
    close: () => file.close(),
  }
}

function bareSqlite(path: string): { insert(count: number): void; close(): void } {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA synchronous = FULL')
  database.exec('CREATE TABLE record (seq INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT')
  const insert = database.prepare('INSERT INTO record (bytes) VALUES (?)')
  return {
    insert(count) {
      database.exec('BEGIN IMMEDIATE')
      for (let row = 0; row < count; row++) insert.run(RECORD)
      database.exec('COMMIT')
    },
    close: () => database.close(),
  }
}

async function printWays(title: string, ways: readonly Way[]): Promise<void> {
  const rates = ways.map((): number[] => [])
  const latencies = ways.map((): number[] => [])
  for (let round = -1; round < ROUNDS; round++) {
    // There and back: what a way leaves the disk to do falls on whichever comes behind it.
    const inTurn = [...ways.entries()]
    for (const [index, way] of round % 2 === 0 ? inTurn : inTurn.reverse()) {
      const { rate, times } = await drive(way)
      if (round < 0) continue
      rates[index]?.push(rate)
      for (const time of times) latencies[index]?.push(time)
    }
  }
  const first = rates[0] as number[]
  console.log(`\n${title}`)
  console.table(
    Object.fromEntries(
      ways.map(({ name }, index) => {
        const own = rates[index] as number[]
        const sorted = (latencies[index] as number[]).sort((x, y) => x - y)
        return [
          name,
          {
            'records/s': Math.round(median(own)),
            'of the first': Number(median(own.map((rate, round) => rate / (first[round] as number))).toFixed(2)),
            'p50 ms': Number(at(sorted, 0.5).toFixed(2)),
            'p99 ms': Number(at(sorted, 0.99).toFixed(2)),
          },
        ]
      }),
    ),
  )
}

async function drive({
  callers,
  rows = 1,
  keep,
}: Way): Promise<{ readonly rate: number; readonly times: readonly number[] }> {
  const times: number[] = []
  const start = performance.now()
  const end = start + ROUND_MS
  const call = async () => {
    for (let before = performance.now(); before < end; ) {
      await keep()
      const after = performance.now()
      times.push(after - before)
      before = after
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { rate: (times.length * rows) / ((performance.now() - start) / 1000), times }
}

function at(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Appends into a growing ledger, and at each size what one append, one export and the audit cost. */
async function benchCurve(folder: string): Promise<void> {
  const asked = process.argv.find((argument) => argument.startsWith('--records='))
  const most = Number(asked?.slice('--records='.length) ?? 100_000)
  const store = await openSqliteLedger(join(folder, 'ledger.db'))
  const rows: Record<string, object> = {}
  try {
    const ledger = await ledgerOn(store, folder)
    for (let size = 1000; size <= most; size *= 10) {
      await fill(store, size)
      await ledger.checkpoint()
      const { rate, times } = await drive({
        name: '',
        callers: CALLERS,
        keep: () => ledger.attest('t/b', MADE_ATTESTATION, { address: '203.0.113.7' }),
      })
      const exports: number[] = []
      for (let count = 0; count < 40; count++) {
        const seq = Math.floor(((count + 0.5) / 40) * size)
        const [record] = await store.records('t/a', seq, 1)
        const before = performance.now()
        const evidence = await ledger.evidence('t/a', { attestationId: record?.attestationId ?? 0 })
        exports.push(performance.now() - before)
        if (count === 0 && !verifyEvidence(evidence, await ledger.keys()).ok)
          throw new Error('the evidence does not hold')
      }
      const [alone, beside] = [await timeAudit(store, false), await timeAudit(store, true)]
      rows[size.toLocaleString('en')] = {
        'append, records/s': Math.round(rate),
        'append, p99 ms': Number(
          at(
            times.toSorted((x, y) => x - y),
            0.99,
          ).toFixed(1),
        ),
        'export, median ms': Number(median(exports).toFixed(2)),
        'verify, records/s': alone.rate,
        'for a second of processor': alone.perProcessor,
        'with addresses': beside.rate,
        'the same, of processor': beside.perProcessor,
      }
    }
  } finally {
    await store.close()
  }
  console.log('\nThe ledger as it grows (SQLite; appends of 64 callers beside a log of this size)')
  console.table(rows)
}

/** Records that the audit walks in a second, and in a second of processor time. */
async function timeAudit(store: LedgerStore, subjects: boolean) {
  const start = performance.now()
  const before = process.cpuUsage()
  const { fault, records } = await auditLedger(store, { subjects })
  const { user, system } = process.cpuUsage(before)
  if (fault !== undefined) throw new Error(fault.reason)
  return {
    rate: Math.round(records / ((performance.now() - start) / 1000)),
    perProcessor: Math.round(records / ((user + system) / 1e6)),
  }
}

async function fill(store: LedgerStore, size: number): Promise<void> {
  for (let have = (await headOf(store, 't/a'))?.size ?? 0; have < size; ) {
    const count = Math.min(500, size - have)
    await append(
      store,
      Array.from({ length: count }, () => madeDraft('t/a')),
    )
    have += count
  }
}
