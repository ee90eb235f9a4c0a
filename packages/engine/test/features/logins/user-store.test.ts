import { join } from 'node:path'
import t from 'tap'
import { type Cleanup, NO_POSTGRES, NO_REDIS, startRedis } from '#stores/testing'
import { openPostgresUsers } from '../../../src/features/logins/postgres-users.ts'
import { openRedisUsers } from '../../../src/features/logins/redis-users.ts'
import { openSqliteUsers } from '../../../src/features/logins/sqlite-users.ts'
import type { UserStore } from '../../../src/features/logins/user-store.ts'
import { createUsers } from '../../../src/features/logins/users.ts'
import { sharedPostgres } from '../../stores/postgres-server.ts'
import { temporaryFolder } from '../../stores/processes.ts'

const HOUR = 3_600_000

/** Each returns what opens a store; two that it opens share what they hold. */
const STORES: Readonly<Record<string, (t: Cleanup, now: () => number) => Promise<() => Promise<UserStore>>>> = {
  async SQLite(t, now) {
    const path = join(await temporaryFolder(t), 'logins.db')
    return () => openSqliteUsers(path, now)
  },
  async PostgreSQL(_, now) {
    const url = await sharedPostgres().database()
    return () => openPostgresUsers(url, now)
  },
  async Redis(t, now) {
    const { url } = await startRedis(t)
    return () => openRedisUsers(url, now)
  },
}
const SKIPS: Readonly<Record<string, string | false>> = { PostgreSQL: NO_POSTGRES, Redis: NO_REDIS }

for (const [name, start] of Object.entries(STORES)) {
  t.test(name, { skip: SKIPS[name] ?? false }, async (t) => {
    const clock = { now: Date.now() }
    const open = await start(t, () => clock.now)
    const [one, other] = [await open(), await open()]
    t.teardown(() => Promise.all([one.close(), other.close()]))
    const until = clock.now + HOUR

    t.test('a text is found where another process wrote it', async (t) => {
      t.equal(await one.read('ada'), undefined)
      t.equal(await one.replace('ada', undefined, 'first', until), true)
      t.equal(await other.read('ada'), 'first')
      t.equal(await other.read('bob'), undefined)
    })

    t.test('a text that was changed meanwhile is not overwritten', async (t) => {
      t.equal(await other.replace('ada', 'first', 'second', until), true)
      t.equal(await one.replace('ada', 'first', 'lost', until), false)
      t.equal(await one.replace('ada', undefined, 'lost', until), false)
      t.equal(await one.read('ada'), 'second')
      // Few: each may open a connection of its own, which has 400 ms.
      const stores = [one, other, one, other, one, other]
      const raced = stores.map((store, at) => store.replace('race', undefined, `${at}`, until))
      t.equal((await Promise.all(raced)).filter((won) => won).length, 1, 'one of six')
    })

    t.test('logins of a user at the same time are all remembered', async (t) => {
      const machines = [createUsers(one), createUsers(other)] as const
      const user = await machines[0].read('busy')
      const networks = ['AS1', 'AS2', 'AS3', 'AS4']
      await Promise.all(networks.map((network, at) => machines[at % 2]?.remember(user, { at: clock.now, network })))
      const { memory } = await machines[1].read('busy')
      t.same(memory?.networks.map(([network]) => network).sort(), networks)
    })

    t.test('an erased text is gone', async (t) => {
      t.equal(await one.erase('ada'), true)
      t.equal(await other.read('ada'), undefined)
      t.equal(await one.erase('ada'), false)
    })

    t.test('a text ends', async (t) => {
      await one.replace('late', undefined, 'text', clock.now + 40)
      clock.now += 41
      while ((await other.read('late')) !== undefined);
      t.equal(await one.replace('late', undefined, 'again', clock.now + HOUR), true)
      t.equal(await other.read('late'), 'again')
    })

    t.test('no key and no text is code', async (t) => {
      const key = `'; DROP TABLE login; --`
      t.equal(await one.replace(key, undefined, `$1 ' \u{1f600} \\`, clock.now + HOUR), true)
      t.equal(await other.read(key), `$1 ' \u{1f600} \\`)
    })
  })
}
