import { EventEmitter, once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import type { Accounts } from '#accounts'
import { openPostgresAccounts } from '../../src/stores/accounts/postgres-accounts.ts'
import { openPostgres } from '../../src/stores/index.ts'
import type { PostgresOptions } from '../../src/stores/postgres/pool.ts'
import { type Cleanup, NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { ACCOUNT, ACCOUNTS_CONTRACT, makeKey } from '../accounts/contract.ts'
import { sharedPostgres } from './postgres-server.ts'

/** Whether the account was made, once the store answers. */
async function createdAtLast(accounts: Accounts): Promise<boolean> {
  let created: boolean | undefined
  while (created === undefined) {
    created = await accounts.createAccount(ACCOUNT).catch(() => undefined)
  }
  return created
}

/** Sixteen or forty calls at once, for a few connections of a machine that may be busy. */
const PATIENT: PostgresOptions = { connectMs: 20_000, statementMs: 20_000 }

t.test('accounts in PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()
  const opened = async (t: Cleanup, url: string, options?: PostgresOptions) => {
    const postgres = await openPostgres(url, options)
    t.teardown(() => postgres.close())
    return openPostgresAccounts(postgres)
  }

  for (const row of ACCOUNTS_CONTRACT) {
    t.test(`contract: ${row.name}`, async (t) => row.run(await opened(t, await server.database(), PATIENT), t))
  }

  t.test('two nodes share one count, and what one stored the other finds', async (t) => {
    const url = await server.database()
    const nodes = await Promise.all([opened(t, url, PATIENT), opened(t, url, PATIENT)])
    await nodes[0].createAccount(ACCOUNT)
    const { key } = makeKey(1)
    await nodes[0].createKey(key)
    t.same(await nodes[1].findKey(key.id), { key, account: ACCOUNT })
    const spends = Array.from({ length: 40 }, (_, call) => nodes[call % 2 === 0 ? 0 : 1].spend(ACCOUNT.id, 'w', 25))
    t.equal((await Promise.all(spends)).filter(({ granted }) => granted === 1).length, 25)
    t.equal(await nodes[1].usage(ACCOUNT.id, 'w'), 25)
  })

  t.test('opened while the server is away it rejects, and works when the server comes', async (t) => {
    const url = await server.database()
    await server.stop()
    const accounts = await opened(t, url)
    await t.rejects(accounts.findAccount(ACCOUNT.id), { code: 'ECONNREFUSED' })
    await server.restart()
    t.equal(await createdAtLast(accounts), true)
  })

  t.test('tables that another process is making are not waited for long', async (t) => {
    const url = await server.database()
    await server.stop()
    const accounts = await opened(t, url)
    await server.restart()
    const other = await openPostgres(url)
    t.teardown(() => other.close())
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
    t.equal(await createdAtLast(accounts), true)
  })

  t.test('a database that is not there is refused at once', async (t) => {
    const url = (await server.database()).replace(/test_\d+$/, 'nothing')
    await t.rejects(opened(t, url), /database "nothing" does not exist/)
  })
})
