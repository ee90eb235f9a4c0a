import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { createPace } from '../src/listener/pace.ts'

t.test(
  'of a thousand requests of one connection few are begun in a turn, and another connection is next',
  async (t) => {
    const pace = createPace()
    const [flood, visitor] = [{}, {}]
    const begun: string[] = []
    for (let sent = 0; sent < 1_000; sent++) pace(flood, () => begun.push('flood'))
    pace(visitor, (waitedMs) => begun.push(waitedMs > 0 ? 'visitor' : 'at once'))
    const atOnce = begun.length
    t.ok(atOnce > 0 && atOnce < 50, `${atOnce} at once`)
    await nextTurn()
    t.ok(begun.slice(atOnce, atOnce + 2).includes('visitor'), 'connections take turns')
    for (let before = begun.length; begun.length < 1_001; before = begun.length) {
      await nextTurn()
      t.ok(begun.length > before && begun.length - before < 50, 'few in each turn, and some')
    }
  },
)

t.test('a request that comes alone waits for nobody, also after many', async (t) => {
  const pace = createPace()
  for (let round = 0; round < 3; round++) {
    let waited = Number.NaN
    pace({}, (waitedMs) => {
      waited = waitedMs
    })
    t.equal(waited, 0)
    let left = 200
    for (let sent = 0; sent < 200; sent++) pace({}, () => left--)
    while (left > 0) await nextTurn()
    await nextTurn()
  }
})

t.test('a request that begins another one within its own turn does not begin all of them at once', async (t) => {
  const pace = createPace()
  const connection = {}
  let begun = 0
  const again = (): void => {
    begun++
    if (begun < 500) pace(connection, again)
  }
  pace(connection, again)
  t.ok(begun < 50)
  while (begun < 500) await nextTurn()
})
