import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Accounts, createKey, dateText, KEY_BYTES, type KeyRecord } from '@sallyport/accounts'
import { compileTables, resolveSources } from '@sallyport/datasets'
import { openPostgres, openPostgresAccounts, openSqliteAccounts } from '@sallyport/stores'
import { type Cleanup, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/stores/testing'
import { median } from './rounds.ts'
import { SHOTS, shootPairs, spread, startApp } from './shots.ts'

const ROUNDS = 15

/** The kinds of server (see limits-server.ts), without and with what is measured; a store that is '' is not there. */
type Row = readonly [name: string, without: string, inside: string, store: string]

/**
 * What keys, metering and limits cost: a route with them against the same route without, in requests per second and in
 * the server's processor time, the median of pairs of shots taken in turn. The rate limits that two frameworks have are
 * measured in the same way.
 */
export async function benchLimits(): Promise<void> {
  const steps: (() => unknown)[] = []
  const cleanup: Cleanup = { teardown: (step) => steps.unshift(step) }
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  cleanup.teardown(() => rm(folder, { recursive: true }))
  try {
    const { path: tables } = await compileTables({ dataDir: folder, sources: resolveSources() })
    const key = createKey(randomBytes(KEY_BYTES))
    await storeKey(await openSqliteAccounts(join(folder, 'state.db')), key.record)
    const postgres = NO_POSTGRES ? '' : await (await startPostgres(cleanup, { durable: true })).database()
    if (postgres !== '') {
      const pool = await openPostgres(postgres)
      await storeKey(await openPostgresAccounts(pool), key.record)
      await pool.close()
    }
    const redis = NO_REDIS ? '' : (await startRedis(cleanup)).url
    const rows: readonly Row[] = [
      ['key and metering, SQLite', 'open', 'keyed', 'sqlite'],
      ['metering alone, SQLite', 'unmetered', 'keyed', 'sqlite'],
      ['key and metering, PostgreSQL', 'open', 'keyed', postgres],
      ['metering alone, PostgreSQL', 'unmetered', 'keyed', postgres],
      ['limit by client, memory', 'open', 'client', 'memory'],
      ['limit by client, SQLite', 'open', 'client', 'sqlite'],
      ['limit by client, Redis', 'open', 'client', redis],
      ['@fastify/rate-limit, memory', 'fastify', 'fastify-limited', 'memory'],
      ['express-rate-limit, memory', 'express', 'express-limited', 'memory'],
    ]
    const requests = [{ path: '/v1/vpn/9.9.9.9', headers: { authorization: `Bearer ${key.text}` } }]
    const table: Record<string, object> = {}
    for (const [name, without, inside, store] of rows) {
      if (store === '') continue
      const apps = [
        await startApp('limits-server.js', without, tables, folder, store),
        await startApp('limits-server.js', inside, tables, folder, store),
      ] as const
      const pairs = await shootPairs(apps, requests, ROUNDS)
      const cpu = spread(pairs, (first, second) => second.cpu / first.cpu)
      const time = spread(pairs, (first, second) => first.requestsPerSecond / second.requestsPerSecond)
      table[name] = {
        'times the processor time': `${cpu.median.toFixed(2)} (${cpu.low.toFixed(2)} to ${cpu.high.toFixed(2)})`,
        'times the time': `${time.median.toFixed(2)} (${time.low.toFixed(2)} to ${time.high.toFixed(2)})`,
        'µs without': Number(median(pairs.map(([first]) => first.cpu)).toFixed(1)),
        'µs with': Number(median(pairs.map(([, second]) => second.cpu)).toFixed(1)),
      }
    }
    console.log(`\nkeys and limits, ${ROUNDS} ${SHOTS}; µs are the server's processor time for a request`)
    console.table(table)
  } finally {
    for (const step of steps) await step()
  }
}

async function storeKey(accounts: Accounts & { close?(): void }, record: KeyRecord): Promise<void> {
  const account = { id: 'bench', name: '', plan: 'enterprise', signupDate: dateText(Date.now()) } as const
  await accounts.createAccount(account)
  await accounts.createKey({ ...record, accountId: account.id, createdAt: new Date().toISOString() })
  accounts.close?.()
}
