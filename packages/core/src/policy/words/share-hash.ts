import { clientKey } from '../../counting/keys.ts'
import { hashText } from '../../hash-text.ts'
import type { Inspection } from '../../values/inspection.ts'
import type { Asked } from '../language/asked.ts'

/** Spreads bits evenly to a number from 0 up to 1, as MurmurHash3 ends. */
export function spread(start: number): number {
  let bits = Math.imul(start ^ (start >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

/** Returns the hash of the client. A client of IPv6 has a whole network. */
export function hashClient(_: Asked, { client }: Inspection): number {
  return hashText(clientKey(client.address).narrow)
}
