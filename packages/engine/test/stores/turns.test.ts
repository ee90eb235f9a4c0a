import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '#stores'
import { createTurns } from '../../src/stores/sqlite/turns.ts'
import { temporaryFolder } from './processes.ts'

t.test('calls of one turn are one transaction, and fail together', async (t) => {
  const path = join(await temporaryFolder(t), 'turns.db')
  const steps = ['CREATE TABLE entry (value INTEGER NOT NULL) STRICT']
  const [one, other] = [await openDatabase(path, steps), await openDatabase(path, steps)]
  t.teardown(() => [one, other].forEach((database) => void database.close()))
  const insert = one.prepare('INSERT INTO entry VALUES (?)')
  const count = other.prepare('SELECT count(*) AS entries FROM entry')
  const seen: unknown[] = []
  const add = createTurns(one, (value: number) => {
    seen.push(count.get()?.['entries'])
    if (value < 0) throw new Error('below nothing')
    insert.run(value)
    return value
  })
  t.same(await Promise.all([1, 2, 3].map(add)), [1, 2, 3])
  t.same(seen, [0, 0, 0], 'others see nothing of it before all is there')
  t.equal(count.get()?.['entries'], 3, 'what was answered is committed')
  const failed = await Promise.allSettled([4, -1, 5].map(add))
  t.same(
    failed.map(({ status }) => status),
    Array(3).fill('rejected'),
  )
  t.equal(count.get()?.['entries'], 3, 'and nothing of it is there')
  t.equal(await add(6), 6)
})
