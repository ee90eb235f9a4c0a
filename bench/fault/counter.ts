import { type Accounts, billingWindow } from '@sallyport/accounts'
import {
  leaseCalls,
  openPostgres,
  openPostgresAccounts,
  openRedisLimits,
  openSqliteAccounts,
  openSqliteLimits,
} from '@sallyport/stores'

/* One of many processes that count against one limit: `node counter.js STORE URL CALLS LIMIT`; says how many it was allowed. */
const [store, url = '', calls, limit] = process.argv.slice(2)
const max = Number(limit)

/** What one call does: whether it was allowed. */
async function openCounter(): Promise<() => Promise<boolean>> {
  if (store === 'sqlite-limits' || store === 'redis') {
    const limits = await (store === 'redis' ? openRedisLimits(url) : openSqliteLimits(url))
    return async () => (await limits.take({ name: 'COUNTED', max, windowSeconds: 3600 }, 'client')).allowed
  }
  const accounts: Accounts = leaseCalls(
    store === 'postgres'
      ? await openPostgresAccounts(
          await openPostgres(url, { connectMs: 60_000, statementMs: 60_000, maxConnections: 2 }),
        )
      : await openSqliteAccounts(url),
  )
  const window = billingWindow('2026-01-31', Date.now()).id
  return async () => (await accounts.spend('counted', window, max)).granted === 1
}

const call = await openCounter()
let allowed = 0
for (let made = 0; made < Number(calls); made++) if (await call()) allowed++
process.send?.(allowed, () => process.exit())
