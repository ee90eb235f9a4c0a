import { join } from 'node:path'
import { openPostgres, openPostgresLedger, openSqliteLedger } from '@sallyport/engine'
import { type Cleanup, NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import { MADE_ATTESTATION } from '@sallyport/ledger/testing'
import { bareFile, bareSqlite, RECORD } from './bare-stores.ts'
import { benchCurve } from './ledger-curve.ts'
import { CALLERS, compareWays } from './ledger-ways.ts'
import { benchWriters } from './ledger-writers.ts'
import { openMadeLedger } from './made-ledger.ts'
import type { Figure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { scratch } from './scratch.ts'

/** Appends beside the bare disk and beside the databases without a ledger, then the cost of proofs as it grows. */
export async function benchLedger(run: Run): Promise<void> {
  await scratch(async (folder, cleanup) => {
    await benchEmbedded(run, folder, cleanup)
    const several = { store: 'one SQLite file', target: join(folder, 'several.db'), folder: join(folder, 'several') }
    const figures = [...(await benchWriters(run, { ...several, writers: 4 }))]
    if (NO_POSTGRES === false) figures.push(...(await benchPostgres(run, folder, cleanup)))
    else run.skip(`PostgreSQL: ${NO_POSTGRES}`)
    run.table({ title: 'Processes on one ledger, 64 callers each', figures })
    await benchCurve(run, join(folder, 'curve'))
  })
}

async function benchEmbedded(run: Run, folder: string, { teardown }: Cleanup): Promise<void> {
  const file = await bareFile(join(folder, 'bare'))
  const sqlite = bareSqlite(join(folder, 'bare.db'))
  const store = await openSqliteLedger(join(folder, 'ledger.db'))
  const ledger = await openMadeLedger(store, folder)
  for (const close of [file.close, sqlite.close, () => store.close()]) teardown(close)
  const attestIn = (log: string) => ledger.attest(log, MADE_ATTESTATION, { address: '203.0.113.7' })
  const attest = () => attestIn('t/a')
  let turn = 0
  await compareWays(run, 'Records kept durably on one disk', [
    { name: 'bare file, `fdatasync` in groups, 64 callers', callers: CALLERS, keep: file.append },
    { name: 'bare SQLite, one row a transaction', callers: 1, keep: async () => sqlite.insert(1) },
    // The machine's own limit for a ledger in SQLite: nothing is built, hashed or handed to another thread.
    {
      name: `bare SQLite, ${CALLERS} rows a transaction`,
      callers: 1,
      rows: CALLERS,
      keep: async () => sqlite.insert(CALLERS),
    },
    {
      name: 'ledger in SQLite, 64 callers',
      callers: CALLERS,
      keep: attest,
      goals: { rate: { atLeast: 30_000 }, p99: { atMost: 20 } },
    },
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

async function benchPostgres(run: Run, folder: string, cleanup: Cleanup): Promise<readonly Figure[]> {
  const server = await startPostgres(cleanup, { durable: true })
  const url = await server.database()
  const bare = await openPostgres(url, { statementMs: 5_000 })
  await bare.query('CREATE TABLE bare_head (seq bigint NOT NULL)')
  await bare.query('INSERT INTO bare_head VALUES (0)')
  await bare.query('CREATE TABLE bare (seq bigint PRIMARY KEY, bytes bytea NOT NULL)')
  const store = await openPostgresLedger(url)
  for (const close of [bare.close, () => store.close()]) cleanup.teardown(close)
  const ledger = await openMadeLedger(store, join(folder, 'postgres'))
  const attest = () => ledger.attest('t/a', MADE_ATTESTATION, { address: '203.0.113.7' })
  await compareWays(run, 'Records kept durably in PostgreSQL', [
    {
      name: 'bare PostgreSQL, one row a transaction, behind a locked head',
      callers: 1,
      keep: () =>
        bare.transaction(async (query) => {
          const { rows } = await query('SELECT seq FROM bare_head FOR UPDATE')
          const seq = Number(rows[0]?.['seq']) + 1
          await query('INSERT INTO bare VALUES ($1, $2)', [seq, RECORD])
          await query('UPDATE bare_head SET seq = $1', [seq])
        }),
    },
    { name: 'ledger in PostgreSQL, 64 callers', callers: CALLERS, keep: attest, goals: { rate: { atLeast: 15_000 } } },
    { name: 'ledger in PostgreSQL, 256 callers', callers: 256, keep: attest },
  ])
  const nodes = { store: 'one PostgreSQL', target: await server.database(), folder: join(folder, 'nodes') }
  return benchWriters(run, { ...nodes, writers: 3 })
}
