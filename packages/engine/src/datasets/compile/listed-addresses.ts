import { buildAddressIndex } from '@sallyport/core'
import { prefixed } from '../format/partitions.ts'
import { sortRanges } from '../ranges/range-order.ts'
import { compareAt, WORDS } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

type ListedAddresses = Pick<RangeList, 'ranges' | 'expires'>

const NO_RANGES = { firsts: new Uint32Array(0), count: 0 } as const

/** Puts lists of single addresses, in order of precedence, into one index: of equal addresses the earlier list's is first. */
export function addressColumns(ranked: readonly ListedAddresses[]) {
  const four = sortAddresses(4, ranked)
  const six = sortAddresses(6, ranked)
  const { filter, four: fours, six: sixes } = buildAddressIndex(four.addresses, six.addresses)
  const lists = [...four.lists, ...six.lists]
  const expires = lists.map((list) => ranked[list]?.expires ?? 0)
  return prefixed('addresses', { filter, four: fours, six: sixes, lists, expires })
}

interface Sorted {
  readonly addresses: Uint32Array
  /** Position of the list that each address comes from. */
  readonly lists: Uint8Array
}

/** Sorts the addresses of a family, each as often as lists name it: of equal ones the earlier list's is first. */
function sortAddresses(family: 4 | 6, lists: readonly ListedAddresses[]): Sorted {
  const width = WORDS[family]
  const total = lists.reduce((sum, { ranges }) => sum + (ranges[family]?.count ?? 0), 0)
  const words = new Uint32Array(total * width)
  const from = new Uint8Array(total)
  let count = 0
  for (const [list, { ranges }] of lists.entries()) {
    const { firsts, count: size } = ranges[family] ?? NO_RANGES
    words.set(firsts, count * width)
    from.fill(list, count, count + size)
    count += size
  }
  const addresses = new Uint32Array(total * width)
  const named = new Uint8Array(total)
  let distinct = 0
  let before = -1
  for (const entry of sortRanges(family, words)) {
    const isAgain =
      before !== -1 && from[before] === from[entry] && compareAt(family, words, before, words, entry) === 0
    before = entry
    if (isAgain) continue
    addresses.set(words.subarray(entry * width, (entry + 1) * width), distinct * width)
    named[distinct++] = from[entry] as number
  }
  return { addresses: addresses.subarray(0, distinct * width), lists: named.subarray(0, distinct) }
}
