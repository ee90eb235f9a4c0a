import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { isUnreachable, openPostgres } from '../../src/stores/index.ts'
import { bytesArray, numberArray, textArray } from '../../src/stores/postgres/arrays.ts'
import { migrate } from '../../src/stores/postgres/migrate.ts'
import type { Postgres, PostgresOptions } from '../../src/stores/postgres/pool.ts'
import { type Cleanup, NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { sharedPostgres } from './postgres-server.ts'
import { closeAfter } from './processes.ts'

async function readError(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise
    return undefined
  } catch (error) {
    return error
  }
}

t.test('a real PostgreSQL', { skip: NO_POSTGRES }, async (t) => {
  const server = sharedPostgres()
  const opened = async (t: Cleanup, url?: string, options?: PostgresOptions): Promise<Postgres> => {
    const postgres = closeAfter(t, await openPostgres(url ?? (await server.database()), options))
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
    const undone = postgres.transaction(async (query) => {
      await query('INSERT INTO a VALUES (2)')
      throw new Error('changed my mind')
    })
    await t.rejects(undone, /changed my mind/)
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
    const { rows } = await postgres.query('SELECT family || version AS known FROM sallyport_version ORDER BY family')
    t.same(rows, [{ known: 'first3' }, { known: 'second1' }])
    const newer = /version 3, but this Sallyport supports version 2\. Open them with the release/
    await t.rejects(migrate(postgres, 'first', steps), newer)
    await t.rejects(migrate(postgres, 'third', ['CREATE TABLE c (x int)', 'nonsense']), /syntax/)
    await t.rejects(postgres.query('SELECT * FROM c'), /does not exist/, 'nothing of a step that failed')
  })
})

t.test('PostgreSQL reads arrays as they were meant', { skip: NO_POSTGRES }, async (t) => {
  const postgres = closeAfter(t, await openPostgres(await sharedPostgres().database()))
  const numbers = [0, -1, 255, 2 ** 32, -(2 ** 40), Number.MAX_SAFE_INTEGER]
  const texts = ['', '{"a":"\\"}', 'NULL', undefined, 'é\n😀']
  const pieces = [Buffer.alloc(0), Buffer.from([0, 92, 34, 255]), undefined, Buffer.alloc(100_000, 1)]
  const { rows } = await postgres.query(
    'SELECT number, text, bytes FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS r (number, text, bytes)',
    [numberArray(numbers), textArray(texts), bytesArray(pieces)],
  )
  const expected = numbers.map((number, at) => ({ number, text: texts[at] ?? null, bytes: pieces[at] ?? null }))
  t.same(rows, expected)
  for (const value of [1.5, Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => numberArray([value]), RangeError)
  const empty = [numberArray([]), textArray([]), bytesArray([])]
  t.same((await postgres.query('SELECT FROM unnest($1::bigint[], $2::text[], $3::bytea[])', empty)).rows, [])
})
