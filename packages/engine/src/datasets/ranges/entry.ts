import { type Address, compareAddresses, lastAddress, parseAddress, parsePrefix } from '@sallyport/core'

/** A range of addresses as a list holds it, both ends inclusive. */
export interface Entry {
  readonly first: Address
  readonly last: Address
}

/** Reads an address, a CIDR (host bits are set aside) or `first-last`; `undefined` when it is none of them. */
export function parseEntry(text: string): Entry | undefined {
  const prefix = parsePrefix(text)
  if (prefix !== undefined) return { first: prefix.address, last: lastAddress(prefix) }
  const address = parseAddress(text)
  if (address !== undefined) return { first: address, last: address }
  const dash = text.indexOf('-')
  const first = parseAddress(text.slice(0, Math.max(dash, 0)))
  const last = parseAddress(text.slice(dash + 1))
  if (first === undefined || first.family !== last?.family || compareAddresses(first, last) > 0) return undefined
  return { first, last }
}

/** Counts the addresses of an entry, as a floating-point number: exact up to 2^53. */
export function entrySize({ first, last }: Entry): number {
  const words = ['a', 'b', 'c', 'd'] as const
  return words.reduce((sum, word) => sum * 2 ** 32 + (last[word] >>> 0) - (first[word] >>> 0), 0) + 1
}

export function holds({ first, last }: Entry, address: Address): boolean {
  return compareAddresses(first, address) <= 0 && compareAddresses(address, last) <= 0
}

export function overlap(x: Entry, y: Entry): boolean {
  return compareAddresses(x.first, y.last) <= 0 && compareAddresses(y.first, x.last) <= 0
}
