import { buildAddressIndex } from '@sallyport/core'
import { prefixed } from '../format/partitions.ts'
import { sortRanges } from '../ranges/range-order.ts'
import { compareAt, joinColumns, WORDS } from '../ranges/ranges.ts'
import type { RangeList } from './parts.ts'

type ListedAddresses = Pick<RangeList, 'ranges' | 'expires'>

const NONE = new Uint32Array(0)

/** Puts lists of single addresses, in order of precedence, into one index: of equal addresses the earlier list's is first. */
export function addressColumns(ranked: readonly ListedAddresses[]) {
  const four = sortAddresses(4, ranked)
  const six = sortAddresses(6, ranked)
  const { filter, four: fours, six: sixes } = buildAddressIndex(four.addresses, six.addresses)
  const lists = [...four.lists, ...six.lists]
  const expires = lists.map((list) => ranked[list]?.expires ?? 0)
  return prefixed('addresses', { filter, four: fours, six: sixes, lists, expires })
}

/** Sorts the addresses of a family, each as often as lists name it, with their lists: of equal ones the earlier list's is first. */
function sortAddresses(family: 4 | 6, lists: readonly ListedAddresses[]) {
  const width = WORDS[family]
  const { words, from } = joinColumns(
    family,
    lists.map(({ ranges }) => ranges[family]?.firsts ?? NONE),
  )
  const addresses = new Uint32Array(words.length)
  const named = new Uint8Array(from.length)
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
