import { buildAddressIndex } from '@sallyport/core'
import { compareAt, type Ranges } from '../parse/ranges.ts'
import type { Columns } from '../tables/format.ts'

/** A list of single addresses that was read. */
export interface AddressList {
  readonly ranges: { readonly 4?: Ranges; readonly 6?: Ranges }
  /** The last day on which its entries hold, in days since the epoch; absent: for ever. */
  readonly expires?: number
}

type AddressColumns = Pick<Columns, Extract<keyof Columns, `addresses.${string}`>>

/** Puts lists of single addresses, in order of precedence, into one index: of equal addresses the earlier list's is first. */
export function addressColumns(lists: readonly AddressList[]): AddressColumns {
  const four = sorted4(lists)
  const six = sorted6(lists)
  const index = buildAddressIndex(four.addresses, six.addresses)
  const numbers = new Uint8Array(four.lists.length + six.lists.length)
  numbers.set(four.lists)
  numbers.set(six.lists, four.lists.length)
  const expires = new Uint16Array(numbers.length)
  for (let entry = 0; entry < numbers.length; entry++) expires[entry] = lists[numbers[entry] as number]?.expires ?? 0
  return {
    'addresses.filter': index.filter,
    'addresses.four': index.four,
    'addresses.six': index.six,
    'addresses.lists': numbers,
    'addresses.expires': expires,
  }
}

interface Sorted {
  readonly addresses: Uint32Array
  /** Position of the list that each address comes from. */
  readonly lists: Uint8Array
}

/** Address and list are sorted as one number, which is many times faster than a comparison function. */
function sorted4(lists: readonly AddressList[]): Sorted {
  const keys = new Float64Array(lists.reduce((sum, { ranges }) => sum + (ranges[4]?.count ?? 0), 0))
  let count = 0
  for (const [list, { ranges }] of lists.entries()) {
    const { firsts, count: size } = ranges[4] ?? { firsts: new Uint32Array(0), count: 0 }
    for (let entry = 0; entry < size; entry++) keys[count++] = (firsts[entry * 4 + 3] as number) * 256 + list
  }
  keys.sort()
  const addresses = new Uint32Array(count)
  const from = new Uint8Array(count)
  let distinct = 0
  for (let place = 0; place < count; place++) {
    const key = keys[place] as number
    if (key === keys[place - 1]) continue
    addresses[distinct] = Math.floor(key / 256)
    from[distinct++] = key % 256
  }
  return { addresses: addresses.subarray(0, distinct), lists: from.subarray(0, distinct) }
}

function sorted6(lists: readonly AddressList[]): Sorted {
  const total = lists.reduce((sum, { ranges }) => sum + (ranges[6]?.count ?? 0), 0)
  const words = new Uint32Array(total * 4)
  const from = new Uint8Array(total)
  let count = 0
  for (const [list, { ranges }] of lists.entries()) {
    const { firsts, count: size } = ranges[6] ?? { firsts: new Uint32Array(0), count: 0 }
    words.set(firsts.subarray(0, size * 4), count * 4)
    from.fill(list, count, count + size)
    count += size
  }
  const order = Uint32Array.from({ length: total }, (_, index) => index)
  order.sort((x, y) => compareAt(words, x, words, y) || x - y)
  const once = order.filter((entry, index) => {
    const before = order[index - 1]
    return before === undefined || from[before] !== from[entry] || compareAt(words, before, words, entry) !== 0
  })
  const addresses = new Uint32Array(once.length * 4)
  for (const [place, entry] of once.entries()) addresses.set(words.subarray(entry * 4, entry * 4 + 4), place * 4)
  return { addresses, lists: Uint8Array.from(once, (entry) => from[entry] as number) }
}
