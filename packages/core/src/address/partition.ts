import { type Address, compareAddresses, nextAddress } from './address.ts'
import { lastAddress, type Prefix } from './prefix.ts'

interface Segment {
  readonly start: Address
  readonly owner: number
}

/**
 * Lays prefixes out over the address space without overlap, in O(n log n); `find` is a binary search over typed arrays. The longest prefix
 * that holds an address wins, and the first of two equal ones.
 */
export function createPartition(prefixes: readonly Prefix[]) {
  const segments = layOut(prefixes)
  const ofFamily = (family: 4 | 6) => {
    const own = segments.filter(({ start }) => start.family === family)
    const starts = new Uint32Array(4 * own.length)
    const owners = new Int32Array(own.length)
    for (const [at, { start, owner }] of own.entries()) {
      const { a, b, c, d } = start
      starts.set([a, b, c, d], 4 * at)
      owners[at] = owner
    }
    return { starts, owners }
  }
  const four = ofFamily(4)
  const six = ofFamily(6)
  return {
    /** Returns the position in the given list of the longest prefix that holds the address; -1 when none does. */
    find(address: Address): number {
      const { starts, owners } = address.family === 4 ? four : six
      const index = lastNotAbove(starts, address)
      return index < 0 ? -1 : (owners[index] as number)
    },
  }
}

/**
 * Returns the start of each segment, in address order; of several with one start the last wins. Prefixes nest or are disjoint, so the owner
 * of an address is the top of a stack of open prefixes.
 */
function layOut(prefixes: readonly Prefix[]): readonly Segment[] {
  const order = prefixes.map((prefix, owner) => ({ first: prefix.address, last: lastAddress(prefix), owner }))
  // Outer prefixes sort before inner ones. The first of two equal prefixes becomes the innermost, because the innermost wins.
  order.sort((x, y) => compareAddresses(x.first, y.first) || compareAddresses(y.last, x.last) || y.owner - x.owner)
  const segments: Segment[] = []
  const open: typeof order = []
  const closeBefore = (limit: Address | undefined) => {
    for (let top = open.at(-1); top !== undefined; top = open.at(-1)) {
      if (limit !== undefined && compareAddresses(top.last, limit) >= 0) return
      open.pop()
      const after = nextAddress(top.last)
      if (after !== undefined) segments.push({ start: after, owner: open.at(-1)?.owner ?? -1 })
    }
  }
  for (const entry of order) {
    closeBefore(entry.first)
    segments.push({ start: entry.first, owner: entry.owner })
    open.push(entry)
  }
  closeBefore(undefined)
  return segments
}

/**
 * Returns the index of the last start that is not above the address; -1 when the first is. `starts` are ascending addresses of the same
 * family, four words each, flat.
 */
export function lastNotAbove(starts: Uint32Array, address: Address): number {
  let low = 0
  let high = starts.length >>> 2
  while (low < high) {
    const middle = (low + high) >>> 1
    if (notAbove(starts, middle * 4, address)) low = middle + 1
    else high = middle
  }
  return low - 1
}

function notAbove(starts: Uint32Array, at: number, { a, b, c, d }: Address): boolean {
  const first = starts[at] as number
  if (first !== a >>> 0) return first < a >>> 0
  const second = starts[at + 1] as number
  if (second !== b >>> 0) return second < b >>> 0
  const third = starts[at + 2] as number
  if (third !== c >>> 0) return third < c >>> 0
  return (starts[at + 3] as number) <= d >>> 0
}
