import { createRandom } from '@sallyport/core/testing'
import t from 'tap'
import { sortRanges } from '../../src/datasets/ranges/range-order.ts'

/** The order by comparing whole addresses; equal ones stay as they came. */
function plainOrder(width: number, words: Uint32Array): readonly number[] {
  const at = (position: number) =>
    words.subarray(position * width, (position + 1) * width).reduce((bits, word) => (bits << 32n) | BigInt(word), 0n)
  return Array.from({ length: words.length / width }, (_, position) => position).sort((x, y) => {
    const [first, second] = [at(x), at(y)]
    return first < second ? -1 : first > second ? 1 : x - y
  })
}

t.test('positions come in the order of their addresses, equal ones as they came', async (t) => {
  const random = createRandom(1)
  for (const [family, width] of [
    [4, 1],
    [6, 4],
  ] as const) {
    t.same([...sortRanges(family, new Uint32Array(0))], [], 'none')
    for (const bound of [2, 50, 2 ** 32]) {
      const words = Uint32Array.from({ length: 400 * width }, () => random(bound))
      const order = [...sortRanges(family, words)]
      t.same(order, plainOrder(width, words), `IPv${family}, words below ${bound}`)
      const sorted = Uint32Array.from(order.flatMap((at) => [...words.subarray(at * width, (at + 1) * width)]))
      t.same(
        [...sortRanges(family, sorted)],
        Array.from(order, (_, at) => at),
        'in order already',
      )
      const last = sorted.slice()
      last.set(new Uint32Array(width), last.length - width)
      t.same([...sortRanges(family, last)], plainOrder(width, last), 'in order but for the last')
    }
  }
})
