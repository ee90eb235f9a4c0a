import { join } from 'node:path'
import { NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import { benchWriters } from './ledger-writers.ts'
import type { Run } from './report/run.ts'
import { scratch } from './scratch.ts'

/** Records that one process, and several together, append durably to one ledger. */
export async function benchLedger(run: Run): Promise<void> {
  await scratch(async (folder, cleanup) => {
    const file = { store: 'one SQLite file', target: join(folder, 'ledger.db'), folder: join(folder, 'file') }
    const figures = [...(await benchWriters(run, { ...file, writers: 4 }))]
    if (NO_POSTGRES === false) {
      const target = await (await startPostgres(cleanup, { durable: true })).database()
      const nodes = { store: 'one PostgreSQL', target, folder: join(folder, 'nodes') }
      figures.push(...(await benchWriters(run, { ...nodes, writers: 3 })))
    } else run.skip(`PostgreSQL: ${NO_POSTGRES}`)
    run.table({ title: 'Processes on one ledger, 64 callers each', figures })
  })
}
