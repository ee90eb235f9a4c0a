import t from 'tap'
import { createPoliteness } from '../../src/net/politeness.ts'

t.test('questions to one server are kept apart, those to others are not held up', async (t) => {
  const { turn } = createPoliteness({ burst: 1, spacingMs: 50, maxWaitMs: 1_000 })
  const order: string[] = []
  await Promise.all([
    ...[1, 2, 3].map(async (number) => {
      await turn('one.example')
      order.push(`one ${number}`)
    }),
    turn('other.example').then(() => order.push('other')),
  ])
  t.strictSame(order.toSorted(), ['one 1', 'one 2', 'one 3', 'other'])
  t.ok(order.indexOf('other') < order.indexOf('one 2'))
})

t.test('a question that would wait too long is not put at all', async (t) => {
  const { turn } = createPoliteness({ burst: 3, spacingMs: 60_000, maxWaitMs: 1_000 })
  for (const _ of [1, 2, 3]) await turn('one.example')
  t.equal(await turn('one.example'), false)
  t.equal(await turn('other.example'), true)
})

t.test('servers in their thousands do not make it grow without end', async (t) => {
  const { turn } = createPoliteness({ burst: 1, spacingMs: 60_000, maxWaitMs: 0 })
  for (let index = 0; index < 4_096; index++) await turn(`${index}.example`)
  t.equal(await turn('one-more.example'), false)
})

t.test('askers take turns: one who asked less goes first, and takes the place of one who asked more', async (t) => {
  const { turn } = createPoliteness({ burst: 1, spacingMs: 50, maxWaitMs: 150 })
  const order: string[] = []
  const ask = async (name: string, asker: string) =>
    order.push(`${name}${(await turn('one.example', asker)) ? '' : ' refused'}`)
  const asked = ['a1', 'a2', 'a3', 'a4', 'a5', 'b1', 'b2', 'c1', 'd1'].map((name) => ask(name, name.slice(0, 1)))
  await Promise.all(asked)
  t.strictSame(
    order.filter((name) => !name.includes('refused')),
    ['a1', 'b1', 'c1', 'd1'],
  )
  t.strictSame(order.filter((name) => name.includes('refused')).length, 5)
  await Promise.all(['a6', 'a7', 'b3'].map((name) => ask(name, name.slice(0, 1))))
  t.strictSame(order.slice(-3), ['a6', 'b3', 'a7'], 'what was refused is not held against the asker')
})
