import t from 'tap'
import { Counts, type SlotLimits, Slots, type Taker } from '../src/bounds/slots.ts'

/** Takers that write down what became of them. */
function makeSlots(limits: SlotLimits) {
  const slots = new Slots(limits)
  const told: string[] = []
  const take = (client: string, name = client): Taker => {
    const taker: Taker = {
      client,
      slot: undefined,
      granted: () => void told.push(`${name} granted`),
      refused: () => void told.push(`${name} refused`),
    }
    slots.take(taker)
    return taker
  }
  return { slots, told, take }
}

t.test('a count outlives those of clients that come and go', async (t) => {
  const counts = new Counts()
  counts.add('held', 2)
  for (let client = 0; client < 20_000; client++) {
    counts.add(`${client}`, 1)
    counts.add(`${client}`, -1)
    if (client === 10_000) counts.add('held', -1)
  }
  t.same(
    ['held', '0', '19999', 'none'].map((key) => counts.get(key)),
    [1, 0, 0, 0],
  )
})

t.test('clients take turns', async (t) => {
  const { slots, told, take } = makeSlots({ total: 1, waitMs: 10_000 })
  let holder = take('a', 'a0')
  const queued = [take('a', 'a1'), take('a', 'a2'), take('a', 'a3'), take('b', 'b1'), take('c', 'c1'), take('b', 'b2')]
  const order: string[] = []
  for (const _ of queued) {
    slots.leave(holder)
    const name = told.at(-1)?.split(' ')[0] as string
    order.push(name)
    holder = queued[['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].indexOf(name)] as Taker
  }
  t.same(order, ['b1', 'c1', 'a1', 'b2', 'a2', 'a3'], 'after who had the last slot')
})

t.test('clients that hold much leave room, and come after those that hold little', async (t) => {
  const { slots, told, take } = makeSlots({ total: 32, waitMs: 10_000 })
  const heavy = Array.from({ length: 40 }, () => take('a'))
  t.equal(told.length, 16, 'one that holds eight has the first half')
  const some = Array.from({ length: 12 }, () => take('b'))
  t.equal(told.length, 24, 'one that holds some has three quarters')
  for (const client of 'cdefghij') for (let turn = 0; turn < 3; turn++) take(client)
  const each = [...'cdefghij'].map((client) => `${client} granted`)
  t.same(told.slice(24), each, 'and each has one of the rest')
  take('k')
  const newcomer = take('l')
  slots.leave(heavy[0] as Taker)
  slots.leave(some[0] as Taker)
  t.same(told.slice(32), ['k granted', 'l granted'], 'who holds nothing comes first')
  slots.leave(newcomer)
  t.equal(told.length, 34, 'and what it had is kept for another')
  take('m')
  t.equal(told.at(-1), 'm granted')
})

t.test('one client cannot fill a queue', async (t) => {
  const { told, take } = makeSlots({ total: 1, waiting: 32, waitMs: 10_000 })
  take('a')
  for (let turn = 0; turn < 40; turn++) take('a')
  t.equal(told.filter((text) => text === 'a refused').length, 24, 'it has half of it')
  for (let turn = 0; turn < 12; turn++) take('b')
  t.equal(told.filter((text) => text === 'b refused').length, 4)
  take('c')
  t.equal(told.length, 29, 'another waits')
})

t.test('a taker gives back what it has, and only once', async (t) => {
  const { slots, told, take } = makeSlots({ total: 2, perClient: 1, waiting: 1, waitMs: 10_000 })
  const [held, waiting] = [take('a'), take('a', 'a2')]
  const refused = take('a', 'a3')
  for (const taker of [refused, waiting, waiting, held, held, refused]) slots.leave(taker)
  t.same(told, ['a granted', 'a3 refused'], 'one that leaves while it waits is not called')
  t.same(slots.load, { used: 0, waiting: 0 })
  for (const taker of [take('a', 'a4'), take('b')]) slots.leave(taker)
  t.same(told.slice(2), ['a4 granted', 'b granted'], 'and no share of a client is lost')
})
