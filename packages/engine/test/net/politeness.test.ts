import t from 'tap'
import { createPoliteness } from '../../src/net/politeness.ts'

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
  const served = order.filter((name) => !name.includes('refused'))
  t.strictSame([served, order.length], [['a1', 'b1', 'c1', 'd1'], 9])
  await Promise.all(['a6', 'a7', 'b3'].map((name) => ask(name, name.slice(0, 1))))
  t.strictSame(order.slice(-3), ['a6', 'b3', 'a7'], 'what was refused is not held against the asker')
})
