import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import type { Taken } from '@sallyport/core'
import t from 'tap'
import { createMemoryCounts } from '../../src/stores/index.ts'
import { task } from './count-tasks.ts'

const START = 1_800_000_000_000

t.test('an exhausted key stays exhausted among a million others, in bounded memory', async (t) => {
  const counts = createMemoryCounts({ maxKeys: 10_000, now: () => START })
  const take = (key: string) => counts.take([task('sliding', 2, 3_600_000, { key })], 'f') as Taken
  for (const allowed of [true, true, false]) t.equal(take('flooder').states[0]?.allowed, allowed)
  setFlagsFromString('--expose-gc')
  const collect: () => void = runInNewContext('gc')
  collect()
  const before = process.memoryUsage().heapUsed
  // Keys of one length and one beginning, as a flood that aims at a table would have them.
  for (let key = 0; key < 1_000_000; key++) take(`k${String(key).padStart(12, '0')}`)
  t.equal(take('flooder').states[0]?.allowed, false)
  collect()
  const held = process.memoryUsage().heapUsed - before
  t.ok(held < 10e6, `${held} bytes`)
})
