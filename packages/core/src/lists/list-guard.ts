import type { Address } from '../address/address.ts'
import { everybodyIn } from '../address/everybody.ts'
import { type Prefix, parsePrefix } from '../address/prefix.ts'
import { type ReservedRow, reservedRow } from '../address/reserved.ts'
import { isInternal } from '../network/inside.ts'
import { compilePatterns, isLiteral } from '../policy/language/text-pattern.ts'

/* A list that others write may not block everybody, nor the operator's own network. */

/** A guarded list takes no shorter prefixes than these, by family. */
const SHORTEST = { 4: 8, 6: 16 } as const

/** Prefixes whose summed shares of a family exceed these can be most of its public addresses. */
const LARGE = { 4: 2 / 5, 6: 1 / 2048 } as const

/** Returns the row of an internal address. Addresses for documentation count as a visitor's, because policies are tested with them. */
function internalRow(address: Address): ReservedRow | undefined {
  const row = reservedRow(address)
  return row !== undefined && isInternal(row) && row.label !== 'documentation' ? row : undefined
}

export function isInternalAddress(address: Address): boolean {
  return internalRow(address) !== undefined
}

/** Reports whether a prefix is too short, or all of it internal. */
export function isWithheld({ address, length }: Prefix): boolean {
  if (length < SHORTEST[address.family]) return true
  const row = internalRow(address)
  return row !== undefined && length >= (parsePrefix(row.prefix)?.length ?? 0)
}

/** Reports whether texts that have nothing in common match. */
export function isAnyText(pattern: string): boolean {
  return !isLiteral(pattern) && ['x', '/0'].every((text) => compilePatterns([pattern])(text))
}

/** Returns the family of which prefixes together are most public addresses; `undefined` where it is none. */
export function everybodyListed(prefixes: readonly Prefix[]): 4 | 6 | undefined {
  const shares = { 4: 0, 6: 0 }
  for (const { address, length } of prefixes) shares[address.family] += 2 ** -length
  return shares[4] > LARGE[4] || shares[6] > LARGE[6] ? everybodyIn(prefixes) : undefined
}
