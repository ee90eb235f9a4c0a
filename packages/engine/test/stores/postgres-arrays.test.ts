import t from 'tap'
import { openPostgres } from '../../src/stores/index.ts'
import { bytesArray, numberArray, textArray } from '../../src/stores/postgres/arrays.ts'
import { NO_POSTGRES } from '../../src/stores/testing/index.ts'
import { sharedPostgres } from './postgres-server.ts'

t.test('PostgreSQL reads arrays as they were meant', { skip: NO_POSTGRES }, async (t) => {
  const postgres = await openPostgres(await sharedPostgres().database())
  t.teardown(() => postgres.close())
  const numbers = [0, -1, 255, 2 ** 32, -(2 ** 40), Number.MAX_SAFE_INTEGER]
  const texts = ['', '{"a":"\\"}', 'NULL', undefined, 'é\n😀']
  const pieces = [Buffer.alloc(0), Buffer.from([0, 92, 34, 255]), undefined, Buffer.alloc(100_000, 1)]
  const { rows } = await postgres.query(
    'SELECT number, text, bytes FROM unnest($1::bigint[], $2::text[], $3::bytea[]) AS r (number, text, bytes)',
    [numberArray(numbers), textArray(texts), bytesArray(pieces)],
  )
  t.same(
    rows,
    numbers.map((number, index) => ({ number, text: texts[index] ?? null, bytes: pieces[index] ?? null })),
  )
  const empty = [numberArray([]), textArray([]), bytesArray([])]
  t.same((await postgres.query('SELECT FROM unnest($1::bigint[], $2::text[], $3::bytea[])', empty)).rows, [])
})

t.test('a text that is no integer is no element', async (t) => {
  for (const value of [1.5, Number.NaN, Number.POSITIVE_INFINITY]) t.throws(() => numberArray([value]), RangeError)
})
