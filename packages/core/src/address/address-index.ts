import type { Address } from './address.ts'

/**
 * Holds many single addresses, numbered in address order, IPv4 before IPv6. Columns beside the index say what an address means, by its
 * number. The arrays may be views of shared memory.
 */
export interface AddressIndex {
  /** The filter is a Bloom filter of one hash; its length is a power of two, or 0. */
  readonly filter: Uint32Array
  /** IPv4 addresses ascend; an address may occur several times, each time with another meaning. */
  readonly four: Uint32Array
  /** IPv6 addresses ascend, four words each; an address may occur several times. */
  readonly six: Uint32Array
}

/** Bits of the filter per address: about one absent address in sixteen passes it. */
const FILTER_BITS = 16

/** Builds an index from ascending addresses; an IPv6 address is four words, flat. */
export function buildAddressIndex(four: Uint32Array, six: Uint32Array): AddressIndex {
  const count = four.length + six.length / 4
  if (count === 0) return { filter: new Uint32Array(0), four, six }
  const filter = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max((count * FILTER_BITS) / 32, 1))))
  const mark = (hash: number) => {
    const at = (hash >>> 5) & (filter.length - 1)
    filter[at] = (filter[at] as number) | (1 << (hash & 31))
  }
  for (const word of four) mark(hashWords(0, 0, 0, word))
  for (let at = 0; at < six.length; at += 4) {
    mark(hashWords(six[at] as number, six[at + 1] as number, six[at + 2] as number, six[at + 3] as number))
  }
  return { filter, four, six }
}

/**
 * Returns the first number of an address in the index, or -1; one read of a Bloom filter rejects most absent addresses. A binary search
 * follows, whose time no list can exceed. Allocates nothing.
 */
export function findAddress({ filter, four, six }: AddressIndex, { family, a, b, c, d }: Address): number {
  if (filter.length === 0) return -1
  const hash = hashWords(a, b, c, d)
  if ((((filter[(hash >>> 5) & (filter.length - 1)] as number) >>> (hash & 31)) & 1) === 0) return -1
  if (family === 4) return find4(four, d >>> 0)
  const found = find6(six, a >>> 0, b >>> 0, c >>> 0, d >>> 0)
  return found === -1 ? -1 : four.length + found
}

/** Spreads every bit of an address over all bits of a word, by the finaliser of MurmurHash3. */
function hashWords(a: number, b: number, c: number, d: number): number {
  let hash = (Math.imul(a, 0x9e3779b1) ^ Math.imul(b, 0x85ebca6b) ^ Math.imul(c, 0xc2b2ae35) ^ d) | 0
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return hash ^ (hash >>> 16)
}

/** Reports whether this number has the same address as the number before it. */
export function isRepeated({ four, six }: AddressIndex, number: number): boolean {
  if (number < four.length) return four[number] === four[number - 1]
  const at = (number - four.length) * 4
  if (at === 0 || at >= six.length) return false
  for (let word = at; word < at + 4; word++) if (six[word] !== six[word - 4]) return false
  return true
}

function find4(addresses: Uint32Array, word: number): number {
  let from = 0
  let to = addresses.length
  while (from < to) {
    const middle = (from + to) >>> 1
    if ((addresses[middle] as number) < word) from = middle + 1
    else to = middle
  }
  return addresses[from] === word ? from : -1
}

function find6(addresses: Uint32Array, a: number, b: number, c: number, d: number): number {
  const orderAt = (at: number) =>
    (addresses[at] as number) - a ||
    (addresses[at + 1] as number) - b ||
    (addresses[at + 2] as number) - c ||
    (addresses[at + 3] as number) - d
  let from = 0
  let to = addresses.length / 4
  while (from < to) {
    const middle = (from + to) >>> 1
    if (orderAt(middle * 4) < 0) from = middle + 1
    else to = middle
  }
  return from * 4 < addresses.length && orderAt(from * 4) === 0 ? from : -1
}
