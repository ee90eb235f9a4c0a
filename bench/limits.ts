import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { compileTables, createKey, dateText, KEY_BYTES, openAccountsAt, resolveSources } from '@sallyport/engine'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/engine/testing'
import { benchKeys } from './keys.ts'
import type { Figure, Goal } from './report/result.ts'
import type { Run } from './report/run.ts'
import { scratch } from './scratch.ts'
import { type App, type Pair, shootPairs, spreadOfPairs, startApps } from './shots.ts'

/** Fresh processes, from one to the next of which the same code can differ by a fifth. */
const PROCESSES = 4

/** The kinds of server (see limits-server.ts), without and with what is measured; a store that is '' is not there. */
interface Row {
  readonly name: string
  readonly kinds: readonly [without: string, inside: string]
  readonly stores: readonly [accounts: string, limits: string]
  readonly goal?: Goal | undefined
}

/**
 * Cost of keys, metering and limits: a route with them against the same route without, in time and in the
 * server's processor time, in pairs of shots taken in turn, over several processes. The rate limits that two frameworks
 * have are measured in the same way.
 */
export async function benchLimits(run: Run): Promise<void> {
  await scratch(async (folder, cleanup) => {
    const { path: tables } = await compileTables({ dataDir: folder, sources: resolveSources() })
    const sqlite = `sqlite:${join(folder, 'state.db')}`
    const limits = `sqlite:${join(folder, 'counts.db')}`
    const postgres = NO_POSTGRES ? '' : await (await startPostgres(cleanup, { durable: true })).database()
    const redis = NO_REDIS ? '' : (await startRedis(cleanup)).url
    const figures: Figure[] = []
    for (const row of rowsOf({ sqlite, limits, postgres, redis })) {
      if (row.stores.includes('')) run.skip(`${row.name}: PostgreSQL or Redis is not installed`)
      else figures.push(...(await compareRow(run, row, tables)))
    }
    run.table({ title: 'A call of `/v1/vpn/{ip}` in Fastify', figures })
    await benchKeys(run, folder)
  })
}

function rowsOf({
  sqlite,
  limits,
  postgres,
  redis,
}: Readonly<Record<'sqlite' | 'limits' | 'postgres' | 'redis', string>>) {
  const goal = (atMost: number): Goal => ({ atMost, of: 'ratio' })
  const rows: readonly Row[] = [
    { name: 'key and metering, SQLite', kinds: ['open', 'keyed'], stores: [sqlite, limits], goal: goal(1.25) },
    { name: 'metering alone, SQLite', kinds: ['unmetered', 'keyed'], stores: [sqlite, limits], goal: goal(1.05) },
    // Allowances are never in Redis, which forgets when it restarts, but the process of a node among many has its connection.
    {
      name: 'key and metering, PostgreSQL and Redis',
      kinds: ['open', 'keyed'],
      stores: [postgres, redis],
      goal: goal(1.5),
    },
    {
      name: 'metering alone, PostgreSQL and Redis',
      kinds: ['unmetered', 'keyed'],
      stores: [postgres, redis],
      goal: goal(1.05),
    },
    { name: 'limit by client, memory', kinds: ['open', 'client'], stores: [sqlite, 'memory'] },
    { name: 'limit by client, SQLite', kinds: ['open', 'client'], stores: [sqlite, limits] },
    { name: 'limit by client, Redis', kinds: ['open', 'client'], stores: [sqlite, redis] },
    { name: '`@fastify/rate-limit`, memory', kinds: ['fastify', 'fastify-limited'], stores: [sqlite, 'memory'] },
    {
      name: '`express-rate-limit`, memory, in Express',
      kinds: ['express', 'express-limited'],
      stores: [sqlite, 'memory'],
    },
  ]
  return rows
}

async function compareRow(run: Run, { name, kinds, stores, goal }: Row, tables: string): Promise<readonly Figure[]> {
  const processes: (readonly Pair[])[] = []
  for (let turn = 0; turn < run.pick(PROCESSES, 1); turn++) {
    run.step(`${name}, process ${turn + 1}`)
    const key = await newKey(stores[0])
    const requests = [{ path: '/v1/vpn/9.9.9.9', headers: { authorization: `Bearer ${key}` } }]
    const apps = await startApps('limits-server.js', ...kinds, tables, ...stores)
    processes.push(await shootPairs(run, apps as readonly [App, App], requests))
  }
  const of = (read: (...pair: Pair) => number) => spreadOfPairs(processes, read)
  const peer = 'the same without'
  return [
    {
      case: name,
      what: 'processor time',
      unit: 'µs',
      value: of((_, inside) => inside.cpu),
      ratio: of((without, inside) => inside.cpu / without.cpu),
      peer,
      goal,
    },
    {
      case: name,
      what: 'time',
      unit: 'µs',
      value: of((_, inside) => inside.time),
      ratio: of((without, inside) => inside.time / without.time),
      peer,
    },
  ]
}

/** A key of an account of its own: a process makes some hundred thousand calls, and a plan has an end. */
async function newKey(url: string): Promise<string> {
  const { text, record } = createKey(randomBytes(KEY_BYTES))
  const accounts = await openAccountsAt(url)
  const account = { id: record.id, name: '', plan: 'business', signupDate: dateText(Date.now()) } as const
  await accounts.createAccount(account)
  await accounts.createKey({ ...record, accountId: account.id, createdAt: new Date().toISOString() })
  await accounts.close()
  return text
}
