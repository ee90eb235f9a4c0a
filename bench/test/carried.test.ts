import t from 'tap'
import { carriedRate } from '../carried.ts'

/** A machine that carries so much a second, and what it was asked for. */
function machineOf(most: number, spoilt = 0) {
  const asked: number[] = []
  return {
    asked,
    async run(perSecond: number) {
      asked.push(perSecond)
      const errors = asked.length === spoilt ? 1 : 0
      return { perSecond: Math.min(perSecond, most), errors }
    },
  }
}

t.test('a rate is asked for where a machine carries a quarter more', async (t) => {
  t.equal(await carriedRate(machineOf(10_000), 5_000), 5_000)
})

t.test('a machine that carries less is asked for four fifths of what it carries', async (t) => {
  const machine = machineOf(3_500)
  t.equal(await carriedRate(machine, 5_000), 2_400)
  t.equal(Math.max(...machine.asked), 4_000)
})

t.test('one error does not end the search', async (t) => {
  t.equal(await carriedRate(machineOf(10_000, 6), 5_000), 5_000)
})
