import { join } from 'node:path'
import type { KeptReverseCheck } from '@sallyport/core'
import t from 'tap'
import { openSqliteReverseChecks } from '../../src/stores/index.ts'
import { closeAfter } from './processes.ts'

function makeCheck(key: string, until: number, status: KeptReverseCheck['status'] = 'refuted'): KeptReverseCheck {
  return { key, status, detail: `detail of ${key}`, until }
}

t.test('a saved check is there after a restart, while it is valid', async (t) => {
  const path = join(t.testdir(), 'new', 'crawler-verdicts.db')
  const first = await openSqliteReverseChecks(path)
  const confirmed = { ...makeCheck('a', 5000, 'passed'), hostname: 'crawl.example.org' }
  first.save([confirmed, makeCheck('b', 2000), makeCheck('c', 3000, 'could-not-run')], 1000, 100)
  first.close()
  const again = closeAfter(t, await openSqliteReverseChecks(path))
  t.strictSame(again.load(1000, 100), [confirmed, makeCheck('b', 2000)], 'what could not run is not kept')
  t.strictSame(again.load(2000, 100), [confirmed])
  t.strictSame(again.load(5000, 100), [])
})

t.test('a newer check replaces the older, expired ones go, and of too many the longest valid stay', async (t) => {
  const store = closeAfter(t, await openSqliteReverseChecks(join(t.testdir(), 'checks.db')))
  store.save([makeCheck('a', 2000), makeCheck('b', 9000)], 1000, 100)
  store.save([makeCheck('b', 5000, 'passed')], 3000, 100)
  t.strictSame(store.load(0, 100), [makeCheck('b', 5000, 'passed')])
  const many = Array.from({ length: 50 }, (_, index) => makeCheck(`k${index}`, 6000 + index))
  store.save(many, 4000, 20)
  t.same(store.load(0, 100), many.slice(30).toReversed())
  t.equal(store.load(0, 5).length, 5)
})
