import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { openPostgresAccounts } from '../../src/stores/accounts/postgres-accounts.ts'
import { openPostgres } from '../../src/stores/index.ts'
import type { PostgresOptions } from '../../src/stores/postgres/pool.ts'
import { type Cleanup, NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { ACCOUNT, ACCOUNTS_CONTRACT } from '../accounts/contract.ts'
import { sharedPostgres } from './postgres-server.ts'
import { closeAfter } from './processes.ts'

/** Sixteen or forty calls at once, for a few connections of a machine that may be busy. */
const PATIENT: PostgresOptions = { connectMs: 20_000, statementMs: 20_000 }

t.test('accounts in PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()
  const opened = async (t: Cleanup, url: string, options?: PostgresOptions) => {
    const postgres = closeAfter(t, await openPostgres(url, options))
    return openPostgresAccounts(postgres)
  }

  for (const row of ACCOUNTS_CONTRACT) {
    t.test(`contract: ${row.name}`, async (t) => row.run(await opened(t, await server.database(), PATIENT), t))
  }

  t.test('tables that another process is making are not waited for long', async (t) => {
    const url = await server.database()
    await server.stop()
    const accounts = await opened(t, url)
    await server.restart()
    const other = closeAfter(t, await openPostgres(url))
    const [locked, free] = [new EventEmitter(), new EventEmitter()]
    const isLocked = once(locked, 'now')
    const holding = other.transaction(async (query) => {
      await query('SELECT pg_advisory_xact_lock(1511100487)')
      const isFree = once(free, 'now')
      locked.emit('now')
      await isFree
    }, 60_000)
    await isLocked
    const outcome = accounts.findAccount(ACCOUNT.id).catch(String)
    t.match(await Promise.race([outcome, delay(10_000, 'it waits')]), /the tables were not created/)
    free.emit('now')
    await holding
    while ((await accounts.createAccount(ACCOUNT).catch(() => undefined)) !== true);
  })
})
