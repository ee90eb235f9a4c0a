import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createKey, dateText, KEY_BYTES } from '@sallyport/accounts'
import { compileTables, resolveSources } from '@sallyport/datasets'
import { openAccounts } from '@sallyport/stores'
import { type Cleanup, NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/stores/testing'
import { type App, type Pair, SHOTS, shootPairs, spread, startApps } from './shots.ts'

/** Fresh processes, from one to the next of which the same code can differ by a fifth. */
const PROCESSES = 4

/** The kinds of server (see limits-server.ts), without and with what is measured; a store that is '' is not there. */
type Row = readonly [name: string, without: string, inside: string, accounts: string, limits: string]

/**
 * What keys, metering and limits cost: a route with them against the same route without, in time and in the
 * server's processor time, in pairs of shots taken in turn, over several processes. The rate limits that two frameworks
 * have are measured in the same way.
 */
export async function benchLimits(): Promise<void> {
  const steps: (() => unknown)[] = []
  const cleanup: Cleanup = { teardown: (step) => steps.unshift(step) }
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  cleanup.teardown(() => rm(folder, { recursive: true }))
  try {
    const { path: tables } = await compileTables({ dataDir: folder, sources: resolveSources() })
    const sqlite = `sqlite:${join(folder, 'state.db')}`
    const sqliteLimits = `sqlite:${join(folder, 'limits.db')}`
    const postgres = NO_POSTGRES ? '' : await (await startPostgres(cleanup, { durable: true })).database()
    const redis = NO_REDIS ? '' : (await startRedis(cleanup)).url
    const rows: readonly Row[] = [
      ['key and metering, SQLite', 'open', 'keyed', sqlite, sqliteLimits],
      ['metering alone, SQLite', 'unmetered', 'keyed', sqlite, sqliteLimits],
      // Many nodes: no allowance is ever in Redis (D41), but its connection is in the process.
      ['key and metering, PostgreSQL and Redis', 'open', 'keyed', postgres, redis],
      ['metering alone, PostgreSQL and Redis', 'unmetered', 'keyed', postgres, redis],
      ['limit by client, memory', 'open', 'client', sqlite, 'memory'],
      ['limit by client, SQLite', 'open', 'client', sqlite, sqliteLimits],
      ['limit by client, Redis', 'open', 'client', sqlite, redis],
      ['@fastify/rate-limit, memory', 'fastify', 'fastify-limited', sqlite, 'memory'],
      ['express-rate-limit, memory', 'express', 'express-limited', sqlite, 'memory'],
    ]
    const table: Record<string, object> = {}
    for (const [name, without, inside, ...stores] of rows) {
      if (stores.includes('')) continue
      const processes: (readonly Pair[])[] = []
      for (let run = 0; run < PROCESSES; run++) {
        const key = await newKey(stores[0] as string)
        const requests = [{ path: '/v1/vpn/9.9.9.9', headers: { authorization: `Bearer ${key}` } }]
        const apps = await startApps('limits-server.js', without, inside, tables, ...stores)
        processes.push(await shootPairs(apps as readonly [App, App], requests))
      }
      const cpu = spread(processes, (first, second) => second.cpu / first.cpu)
      const time = spread(processes, (first, second) => second.time / first.time)
      table[name] = {
        'times the processor time': `${cpu.median.toFixed(2)} (${cpu.low.toFixed(2)} to ${cpu.high.toFixed(2)})`,
        'times the time': `${time.median.toFixed(2)} (${time.low.toFixed(2)} to ${time.high.toFixed(2)})`,
        'µs without': Number(spread(processes, (first) => first.cpu).median.toFixed(1)),
        'µs with': Number(spread(processes, (_, second) => second.cpu).median.toFixed(1)),
      }
    }
    console.log(
      `\nkeys and limits, ${PROCESSES} processes, ${SHOTS} each; in brackets the lowest and the highest process; µs are the server's processor time for a request`,
    )
    console.table(table)
  } finally {
    for (const step of steps) await step()
  }
}

/** A key of an account of its own: a process makes some hundred thousand calls, and a plan has an end. */
async function newKey(url: string): Promise<string> {
  const { text, record } = createKey(randomBytes(KEY_BYTES))
  const accounts = await openAccounts(url)
  const account = { id: record.id, name: '', plan: 'business', signupDate: dateText(Date.now()) } as const
  await accounts.createAccount(account)
  await accounts.createKey({ ...record, accountId: account.id, createdAt: new Date().toISOString() })
  await accounts.close()
  return text
}
