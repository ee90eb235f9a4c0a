import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { isUnreachable, openPostgres } from '../../src/stores/index.ts'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import type { Postgres, PostgresOptions, PostgresRow } from '../../src/stores/postgres/pool.ts'
import { type Cleanup, freePort, NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { sharedPostgres } from './postgres-server.ts'

async function readError(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
    return undefined
  } catch (error) {
    return error
  }
}

t.test('a pool without a server', async (t) => {
  const postgres = await openPostgres(`postgres://nobody@127.0.0.1:${await freePort()}/nothing`)
  const error = await readError(postgres.query('SELECT 1'))
  t.equal(isUnreachable(error), true, String(error))
  await postgres.close()
  await postgres.close()
})

t.test('a real PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()
  const opened = async (t: Cleanup, url?: string, options?: PostgresOptions): Promise<Postgres> => {
    const postgres = await openPostgres(url ?? (await server.database()), options)
    t.teardown(() => postgres.close())
    return postgres
  }

  t.test('a count of 64 bits is a number, and one that no number holds is an error', async (t) => {
    const { query } = await opened(t)
    t.same(await query('SELECT 9007199254740991::int8 AS count, $1::text AS word', ['a']), {
      rows: [{ count: 9007199254740991, word: 'a' }],
      changes: 1,
    })
    await t.rejects(query('SELECT 9007199254740992::int8 AS count'), RangeError)
    const refused = await readError(query('nonsense'))
    t.equal(isUnreachable(refused), false, 'a refusal is not an outage')
  })

  t.test('a transaction is whole or not at all', async (t) => {
    const postgres = await opened(t)
    await postgres.query('CREATE TABLE a (x int)')
    t.equal(await postgres.transaction(async (query) => (await query('INSERT INTO a VALUES (1)')).changes), 1)
    await t.rejects(
      postgres.transaction(async (query) => {
        await query('INSERT INTO a VALUES (2)')
        throw new Error('changed my mind')
      }),
      /changed my mind/,
    )
    t.same((await postgres.query('SELECT x FROM a')).rows, [{ x: 1 }])
  })

  t.test('a statement that takes too long is ended, there and here', async (t) => {
    const { query, transaction } = await opened(t, await server.database(), { statementMs: 100 })
    const late = await readError(query('SELECT pg_sleep(60)'))
    t.match(String(late), /timeout/)
    await delay(100)
    const { rows } = await query(`SELECT count(*) AS asleep FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)'`)
    t.same(rows, [{ asleep: 0 }])
    await transaction((own) => own('SELECT pg_sleep(0.2)'), 5_000)
  })

  t.test('steps run once each, whichever pool is first', async (t) => {
    const url = await server.database()
    const pools = await Promise.all(Array.from({ length: 4 }, () => opened(t, url)))
    const steps = ['CREATE TABLE a (x int)', 'INSERT INTO a VALUES (1)']
    await Promise.all(pools.map((postgres) => migrate(postgres, 'first', steps)))
    const [postgres] = pools
    if (postgres === undefined) return t.fail('no pool')
    await migrate(postgres, 'first', [...steps, 'UPDATE a SET x = x + 10'])
    await migrate(postgres, 'second', ['CREATE TABLE b (x int)'])
    t.same((await postgres.query('SELECT x FROM a')).rows, [{ x: 11 }])
    t.same((await postgres.query('SELECT * FROM sallyport_version ORDER BY family')).rows, [
      { family: 'first', version: 3 },
      { family: 'second', version: 1 },
    ])
    await t.rejects(
      migrate(postgres, 'first', steps),
      /version 3, but this Sallyport supports version 2\. Open them with the release/,
    )
    await t.rejects(migrate(postgres, 'third', ['CREATE TABLE c (x int)', 'nonsense']), /syntax/)
    await t.rejects(postgres.query('SELECT * FROM c'), /does not exist/, 'nothing of a step that failed')
  })

  t.test('a pool that waits for the migration of another continues when that one dies', async (t) => {
    const url = await server.database()
    const [holder, waiter] = [await opened(t, url), await opened(t, url)]
    let locked = (): void => {}
    const held = new Promise<void>((resolve) => {
      locked = resolve
    })
    const holding = readError(
      holder.transaction(async (query) => {
        await query('SELECT pg_advisory_xact_lock(1511100487)')
        locked()
        await query('SELECT pg_sleep(60)')
      }, 61_000),
    )
    await held
    let done = false
    const waiting = migrate(waiter, 'a', ['CREATE TABLE a (x int)']).then(() => {
      done = true
    })
    await delay(150)
    t.equal(done, false)
    await waiter.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(60)'
                        AND pid <> pg_backend_pid()`)
    t.equal(isUnreachable(await holding), true)
    await waiting
    t.equal(done, true)
  })

  const outages = {
    stop: () => server.stop(),
    'kill -9': () => server.kill(),
    SIGSTOP: async () => server.freeze(),
  }
  for (const [name, begin] of Object.entries(outages)) {
    t.test(`${name}: everything settles, and works again after`, async (t) => {
      const postgres = await opened(t)
      await postgres.query('CREATE TABLE a (x int)')
      await begin()
      for (let round = 0; round < 2; round++) {
        const asked = Array.from({ length: 30 }, () => readError(postgres.query('SELECT 1')))
        const errors = await Promise.all(asked)
        t.same(
          errors.filter((error) => !isUnreachable(error)),
          [],
          `all 30 failed, round ${round}`,
        )
      }
      t.equal(isUnreachable(await readError(postgres.transaction((query) => query('SELECT 1')))), true)
      if (name === 'SIGSTOP') {
        const other = await openPostgres(`postgres://sallyport@127.0.0.1:${server.port}/postgres`)
        await readError(other.query('SELECT 1'))
        await other.close()
        server.thaw()
      } else await server.restart()
      let rows: readonly PostgresRow[] | undefined
      while (rows === undefined) {
        rows = await postgres.query('SELECT count(*) AS rows FROM a').then(
          ({ rows }) => rows,
          () => undefined,
        )
      }
      t.same(rows, [{ rows: 0 }])
    })
  }
})
