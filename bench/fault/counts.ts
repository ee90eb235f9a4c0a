import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Account } from '@sallyport/engine'
import { openAccountsAt } from '@sallyport/engine'
import { NO_POSTGRES, NO_REDIS, startPostgres, startRedis } from '@sallyport/engine/testing'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { scratch } from './scratch.ts'

const PROCESSES = 16
const CALLS = numberFlag('calls', 10_000)
const LIMIT = CALLS

export const COUNTED: Account = { id: 'counted', name: '', plan: 'free', signupDate: '2026-01-31' }

/** Sixteen processes count ten thousand calls each against a limit of ten thousand, in every store. */
export async function faultCounts(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const rows: Record<string, { readonly allowed: number; readonly seconds: number }> = {}
    const count = async (name: string, what: 'quota' | 'limit', url: string) => {
      const start = performance.now()
      const children = Array.from({ length: PROCESSES }, () =>
        fork(join(import.meta.dirname, 'counter.js'), [what, url, String(CALLS), String(LIMIT)]),
      )
      const allowed = await Promise.all(children.map(async (child) => Number((await once(child, 'message'))[0])))
      const seconds = (performance.now() - start) / 1000
      rows[name] = { allowed: allowed.reduce((sum, one) => sum + one, 0), seconds: Number(seconds.toFixed(1)) }
    }
    const countQuota = async (name: string, url: string) => {
      const accounts = await openAccountsAt(url)
      await accounts.createAccount(COUNTED)
      await accounts.close()
      await count(name, 'quota', url)
    }
    await countQuota('quota, SQLite', `sqlite:${join(folder, 'state.db')}`)
    if (!NO_POSTGRES) await countQuota('quota, PostgreSQL', await (await startPostgres(cleanup)).database())
    await count('limit by client, SQLite', 'limit', `sqlite:${join(folder, 'counts.db')}`)
    if (!NO_REDIS) await count('limit by client, Redis', 'limit', (await startRedis(cleanup)).url)
    console.log(`\n${PROCESSES} processes, ${CALLS} calls each, a limit of ${LIMIT}`)
    console.table(rows)
    return {
      measured: Object.entries(rows)
        .map(([name, { allowed }]) => `${name}: ${allowed}`)
        .join(', '),
      broken: Object.entries(rows).flatMap(([name, { allowed }]) =>
        allowed === LIMIT ? [] : [`${name} is not exact`],
      ),
    }
  })
}
