import { RESERVED, type ReservedRow } from '@sallyport/data/reserved'
import type { Address } from './address.ts'
import { createPartition } from './partition.ts'
import { type Prefix, parsePrefix } from './prefix.ts'

export type { ReservedRow }

/** IANA has allocated no IPv6 outside 2000::/3 that has no row of its own. */
const UNALLOCATED: ReservedRow = Object.freeze({
  prefix: '::/0',
  label: 'unallocated',
  detail: 'Outside 2000::/3, the only IPv6 space from which public addresses are given out (RFC 4291).',
  rfc: 'RFC 4291',
  globallyReachable: false,
  reserved: true,
})

const PARTITION = createPartition(RESERVED.map(({ prefix }) => parsePrefix(prefix) as Prefix))

/**
 * Returns the row that makes an address not publicly routable; `undefined` for a public address. The longest row decides, so a globally
 * reachable service address inside a reserved block (192.0.0.9, 2001:1::1) is public.
 */
export function reservedRow(address: Address): ReservedRow | undefined {
  const index = PARTITION.find(address)
  const row = index < 0 ? undefined : RESERVED[index]
  if (row !== undefined) return row.reserved ? row : undefined
  return address.family === 4 || address.a >>> 29 === 1 ? undefined : UNALLOCATED
}
