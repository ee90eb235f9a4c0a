import t from 'tap'
import { createPlaces } from '../src/places.ts'

const turn = () => new Promise((resolve) => setImmediate(resolve))

t.test('works begin in the order of their calls, and never more at once than there are places', async (t) => {
  const places = createPlaces(2)
  const began: number[] = []
  const ends: (() => void)[] = []
  const work = (number: number) => () => {
    began.push(number)
    return new Promise<number>((resolve) => ends.push(() => resolve(number)))
  }
  const all = [0, 1, 2, 3].map((number) => places.run(work(number)))
  await turn()
  t.same([began, places.taken, places.waiting], [[0, 1], 2, 2])
  t.equal(places.take(), undefined, 'no place is free')
  for (const expected of [
    [0, 1, 2],
    [0, 1, 2, 3],
  ]) {
    ends.shift()?.()
    await turn()
    t.same(began, expected)
  }
  for (const end of ends) end()
  t.same(await Promise.all(all), [0, 1, 2, 3])
  t.same([places.taken, places.waiting], [0, 0])
})

t.test('a work that fails gives its place to the next, and a taken place holds a work back', async (t) => {
  const places = createPlaces(1)
  const failed = places.run(() => Promise.reject(new Error('failed')))
  const next = places.run(async () => 'next')
  await t.rejects(failed, /failed/)
  t.equal(await next, 'next')
  await t.rejects(
    places.run(() => {
      throw new Error('at once')
    }),
    /at once/,
  )
  const release = places.take()
  const held = places.run(async () => 'held')
  await turn()
  t.equal(places.waiting, 1)
  release?.()
  t.equal(await held, 'held')
})
