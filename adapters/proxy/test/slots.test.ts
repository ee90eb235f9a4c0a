import t from 'tap'
import { type SlotLimits, Slots, type Taker } from '../src/bounds/slots.ts'

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

t.test('a client has its share, and another the rest', async (t) => {
  const { slots, told, take } = makeSlots({ total: 3, perClient: 2, waitMs: 10_000 })
  const first = take('a', 'a1')
  take('a', 'a2')
  const third = take('a', 'a3')
  take('b')
  t.same(told, ['a1 granted', 'a2 granted', 'b granted'])
  slots.leave(first)
  t.same(told.slice(3), ['a3 granted'], 'the next of it when one has left')
  slots.leave(third)
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
  t.same(
    told.slice(24),
    [...'cdefghij'].map((client) => `${client} granted`),
    'and each has one of the rest',
  )
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

t.test('a taker that leaves while it waits is not called', async (t) => {
  const { slots, told, take } = makeSlots({ total: 1, waitMs: 10_000 })
  const holder = take('a')
  slots.leave(take('b'))
  const last = take('c')
  slots.leave(holder)
  t.same(told, ['a granted', 'c granted'])
  slots.leave(last)
  take('d')
  t.equal(told.at(-1), 'd granted', 'and all slots are free again')
})

t.test('a taker gives back what it has, and only once', async (t) => {
  const { slots, told, take } = makeSlots({ total: 2, perClient: 1, waiting: 1, waitMs: 10_000 })
  const [held, waiting] = [take('a'), take('a', 'a2')]
  const refused = take('a', 'a3')
  for (const taker of [refused, waiting, waiting, held, held, refused]) slots.leave(taker)
  t.same(told, ['a granted', 'a3 refused'])
  t.same(slots.load, { used: 0, waiting: 0 })
  for (const taker of [take('a', 'a4'), take('b')]) slots.leave(taker)
  t.same(told.slice(2), ['a4 granted', 'b granted'], 'and no share of a client is lost')
})

t.test('a queue has an end, and a clock', async (t) => {
  const { slots, told, take } = makeSlots({ total: 1, waiting: 1, waitMs: 20 })
  const holder = take('a')
  take('b')
  slots.leave(take('c'))
  t.same(told, ['a granted', 'c refused'], 'nobody waits behind a full queue')
  while (told.length < 3) await new Promise((resolve) => setTimeout(resolve, 5))
  t.equal(told[2], 'b refused')
  slots.leave(holder)
  take('d')
  t.equal(told.at(-1), 'd granted')
  const none = makeSlots({ total: 1, waitMs: 0 })
  none.take('a')
  none.take('b')
  t.same(none.told, ['a granted', 'b refused'], 'without a time nobody waits')
})
