import type { Address } from '../address/address.ts'
import { everybodyIn } from '../address/everybody.ts'
import { type Prefix, parsePrefix } from '../address/prefix.ts'
import { type ReservedRow, reservedRow } from '../address/reserved.ts'
import { isInternal } from '../network/inside.ts'
import { compilePatterns, isLiteral } from '../policy/language/text-pattern.ts'

/* A list that others write may not close the door for everybody, nor for the house itself. */

/** Shortest prefixes that a guarded list takes, by family. */
const SHORTEST = { 4: 8, 6: 16 } as const

/** Summed shares of a family that can be nearly all of its public addresses. */
const LARGE = { 4: 1 / 2, 6: 1 / 32 } as const

/** The row of an internal address. Those of documents stand for anybody: a policy is tried with them. */
function internalRow(address: Address): ReservedRow | undefined {
  const row = reservedRow(address)
  return row !== undefined && isInternal(row) && row.label !== 'documentation' ? row : undefined
}

export function isInternalAddress(address: Address): boolean {
  return internalRow(address) !== undefined
}

/** Whether a prefix is too short, or all of it internal. */
export function isWithheld({ address, length }: Prefix): boolean {
  if (length < SHORTEST[address.family]) return true
  const row = internalRow(address)
  return row !== undefined && length >= (parsePrefix(row.prefix)?.length ?? 0)
}

/** Whether texts that have nothing in common match. */
export function isAnyText(pattern: string): boolean {
  return !isLiteral(pattern) && ['x', '/0'].every((text) => compilePatterns([pattern])(text))
}

/** The family of which prefixes together are nearly every public address; `undefined` where it is none. */
export function everybodyListed(prefixes: readonly Prefix[]): 4 | 6 | undefined {
  const shares = { 4: 0, 6: 0 }
  for (const { address, length } of prefixes) shares[address.family] += 2 ** -length
  return shares[4] > LARGE[4] || shares[6] > LARGE[6] ? everybodyIn(prefixes) : undefined
}
