import { buildAddressIndex } from '@sallyport/core/tables'
import { orderOf } from '../parse/order.ts'
import { compareAt, type Ranges, WORDS } from '../parse/ranges.ts'
import type { Columns } from '../tables/format.ts'

/** A list of single addresses that was read. */
export interface AddressList {
  readonly ranges: { readonly 4?: Ranges; readonly 6?: Ranges }
  /** The last day on which its entries hold, in days since the epoch; absent: for ever. */
  readonly expires?: number
}

type AddressColumns = Pick<Columns, Extract<keyof Columns, `addresses.${string}`>>

/** The position of a list is kept in a byte. */
const MOST_LISTS = 256

const NONE = { firsts: new Uint32Array(0), count: 0 } as const

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

/** The addresses of IPv4 in order, each as often as lists name it: of equal ones the earlier list's is first. */
function sorted4(lists: readonly AddressList[]): Sorted {
  // Address and list are one number, exact in a float: numbers are sorted by the engine itself.
  const keys = new Float64Array(lists.reduce((sum, { ranges }) => sum + (ranges[4]?.count ?? 0), 0))
  let count = 0
  for (const [list, { ranges }] of lists.entries()) {
    const { firsts, count: size } = ranges[4] ?? NONE
    for (let at = 0; at < size; at++) keys[count++] = (firsts[at] as number) * MOST_LISTS + list
  }
  keys.sort()
  const addresses = new Uint32Array(count)
  const named = new Uint8Array(count)
  let distinct = 0
  for (let at = 0; at < count; at++) {
    const key = keys[at] as number
    if (at > 0 && key === keys[at - 1]) continue
    const address = Math.floor(key / MOST_LISTS)
    addresses[distinct] = address
    named[distinct++] = key - address * MOST_LISTS
  }
  return { addresses: addresses.subarray(0, distinct), lists: named.subarray(0, distinct) }
}

/** The same of IPv6. */
function sorted6(lists: readonly AddressList[]): Sorted {
  const width = WORDS[6]
  const total = lists.reduce((sum, { ranges }) => sum + (ranges[6]?.count ?? 0), 0)
  const words = new Uint32Array(total * width)
  const from = new Uint8Array(total)
  let count = 0
  for (const [list, { ranges }] of lists.entries()) {
    const { firsts, count: size } = ranges[6] ?? NONE
    words.set(firsts, count * width)
    from.fill(list, count, count + size)
    count += size
  }
  const addresses = new Uint32Array(total * width)
  const named = new Uint8Array(total)
  let distinct = 0
  let before = -1
  for (const entry of orderOf(6, words)) {
    const again = before !== -1 && from[before] === from[entry] && compareAt(6, words, before, words, entry) === 0
    before = entry
    if (again) continue
    for (let word = 0; word < width; word++) addresses[distinct * width + word] = words[entry * width + word] as number
    named[distinct++] = from[entry] as number
  }
  return { addresses: addresses.subarray(0, distinct * width), lists: named.subarray(0, distinct) }
}
