import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openPostgres, openPostgresLedger, openSqliteLedger } from '@sallyport/engine'
import { NO_POSTGRES, startPostgres } from '@sallyport/engine/testing'
import type { LedgerStore } from '@sallyport/ledger'
import { MADE_ATTESTATION } from '@sallyport/ledger/testing'
import { openMadeLedger } from '../made-ledger.ts'
import type { Measured } from '../promises.ts'
import { scratch } from './scratch.ts'

const CALLERS = 64
const DURING_MS = 4_000
const GOAL = { SQLite: 3_000, PostgreSQL: 2_000 } as const

/** Records that are kept durably in a second, for 64 callers at once. */
export function faultThroughput(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const rates: Record<string, number> = {}
    const sizes: Record<string, number> = {}
    const broken: string[] = []
    const run = async (name: keyof typeof GOAL, store: LedgerStore, bytes: () => Promise<number>) => {
      const ledger = await openMadeLedger(store, join(folder, name))
      const before = await bytes()
      const until = performance.now() + DURING_MS
      let kept = 0
      const caller = async () => {
        while (performance.now() < until) {
          await ledger.attest('t/a', MADE_ATTESTATION, { address: '203.0.113.7' })
          kept++
        }
      }
      await Promise.all(Array.from({ length: CALLERS }, caller))
      await store.close()
      rates[name] = Math.round((kept * 1000) / DURING_MS)
      sizes[name] = Math.round(((await bytes()) - before) / kept)
      if (rates[name] < GOAL[name]) broken.push(`${name} keeps less than ${GOAL[name]}`)
    }
    const file = join(folder, 'ledger.db')
    await run('SQLite', await openSqliteLedger(file), async () => (await stat(file)).size)
    if (NO_POSTGRES === false) {
      const server = await startPostgres(cleanup, { durable: true })
      const url = await server.database()
      const postgres = await openPostgres(url, { statementMs: 5_000, maxConnections: 1 })
      await run('PostgreSQL', await openPostgresLedger(url), async () => {
        const { rows } = await postgres.query('SELECT pg_database_size(current_database()) AS bytes')
        return Number(rows[0]?.['bytes'])
      })
      await postgres.close()
    }
    const texts = Object.entries(rates).map(([name, rate]) => `${rate} a second of ${sizes[name]} bytes in ${name}`)
    return { measured: texts.join(', '), broken }
  })
}
