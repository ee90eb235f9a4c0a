import { ACCOUNT, ACCOUNTS_CONTRACT, keyOf } from '@sallyport/accounts/testing'
import t from 'tap'
import { openPostgres, openPostgresAccounts } from '../src/index.ts'
import { type Cleanup, NO_POSTGRES } from '../src/testing/index.ts'
import { sharedPostgres } from './postgres-server.ts'

t.test('accounts in PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()
  const opened = async (t: Cleanup, url: string) => {
    const postgres = await openPostgres(url)
    t.teardown(() => postgres.close())
    return openPostgresAccounts(postgres)
  }

  for (const row of ACCOUNTS_CONTRACT) {
    t.test(`contract: ${row.name}`, async (t) => row.run(await opened(t, await server.database()), t))
  }

  t.test('two nodes share one count, and what one stored the other finds', async (t) => {
    const url = await server.database()
    const nodes = await Promise.all([opened(t, url), opened(t, url)])
    await nodes[0].createAccount(ACCOUNT)
    const { key } = keyOf(1)
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
    const deadline = performance.now() + 10_000
    let created: boolean | undefined
    while (created === undefined && performance.now() < deadline) {
      created = await accounts.createAccount(ACCOUNT).catch(() => undefined)
    }
    t.equal(created, true)
  })

  t.test('a database that is not there is refused at once', async (t) => {
    const url = (await server.database()).replace(/test_\d+$/, 'nothing')
    await t.rejects(opened(t, url), /database "nothing" does not exist/)
  })
})
