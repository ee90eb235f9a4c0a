import { billingWindow, clientTasks, leaseCalls, openAccountsAt, openCounts } from '@sallyport/engine'

/*
 * One of many processes that count against one limit: `node counter.js quota|limit URL CALLS LIMIT`; says how many it was
 * allowed.
 */
const [what, url = '', calls, limit] = process.argv.slice(2)
const max = Number(limit)

/** Returns one call, which resolves with whether it was allowed. */
async function openCounter(): Promise<() => Promise<boolean>> {
  if (what === 'limit') {
    const counts = await openCounts(url)
    const tasks = clientTasks({ name: 'COUNTED', max, windowMs: 3_600_000 }, { narrow: 'client' }, 1)
    return async () => (await counts.take(tasks, '')).states[0]?.allowed === true
  }
  // Sixteen processes at once on few cores: what is counted here is exactness, and not how soon a store is given up.
  const patient = { connectMs: 60_000, statementMs: 60_000, maxConnections: 2 }
  const accounts = leaseCalls(await openAccountsAt(url, { postgres: patient }))
  const window = billingWindow('2026-01-31', Date.now()).id
  return async () => (await accounts.spend('counted', window, max)).granted === 1
}

const call = await openCounter()
let allowed = 0
for (let made = 0; made < Number(calls); made++) if (await call()) allowed++
process.send?.(allowed, () => process.exit())
