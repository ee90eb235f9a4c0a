import type { Address } from './address.ts'
import { createPartition } from './partition.ts'
import type { Prefix } from './prefix.ts'

/** A set of prefixes, asked whether one of them holds an address. */
export interface PrefixSet {
  has(address: Address): boolean
}

export function createPrefixSet(prefixes: Iterable<Prefix>): PrefixSet {
  const partition = createPartition([...prefixes])
  return { has: (address) => partition.find(address) >= 0 }
}
