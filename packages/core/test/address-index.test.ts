import fc from 'fast-check'
import t from 'tap'
import { type Address, address4, address6, compareAddresses, sameAddress } from '../src/address/address.ts'
import { buildAddressIndex, findAddress, isRepeated } from '../src/address/address-index.ts'

/** Few different words, so that addresses share all words but one. */
const word = fc.oneof(fc.integer({ min: 0, max: 3 }), fc.integer({ min: -2, max: -1 }), fc.integer())
const address = fc.oneof(
  word.map(address4),
  fc.tuple(word, word, word, word).map((words) => address6(...words)),
)

function buildIndex(addresses: readonly Address[]) {
  const sorted = addresses.toSorted(compareAddresses)
  const four = Uint32Array.from(
    sorted.filter(({ family }) => family === 4),
    ({ d }) => d,
  )
  const six = Uint32Array.from(sorted.filter(({ family }) => family === 6).flatMap(({ a, b, c, d }) => [a, b, c, d]))
  return { sorted, index: buildAddressIndex(four, six) }
}

t.test('an address is found by its number, and another one is not', async () => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: 200 }), fc.array(address, { maxLength: 50 }), (listed, others) => {
      const { sorted, index } = buildIndex(listed)
      return [...sorted, ...others].every(
        (one) => findAddress(index, one) === sorted.findIndex((other) => sameAddress(one, other)),
      )
    }),
  )
})

t.test('an empty index finds nothing', async (t) => {
  const { index } = buildIndex([])
  t.same(
    [address4(0), address6(0, 0, 0, 0)].map((one) => findAddress(index, one)),
    [-1, -1],
  )
})

t.test('an address that stands several times is found by its first number, and the others are reported', async () => {
  fc.assert(
    fc.property(fc.array(address, { maxLength: 60 }), (listed) => {
      const { sorted, index } = buildIndex([...listed, ...listed.slice(0, 9)])
      return sorted.every(
        (one, number) => isRepeated(index, number) === (number > 0 && sameAddress(one, sorted[number - 1] as Address)),
      )
    }),
  )
})
