import { clientKey } from '../../counting/keys.ts'
import { hashText } from '../../hash-text.ts'

/** Bits of IPv6 that are one client: browsers change the rest within a day. */
const CLIENT_BITS = 64

/** Bits as a number from 0 up to 1, evenly spread, as MurmurHash3 ends. */
export function spread(start: number): number {
  let bits = Math.imul(start ^ (start >>> 16), 0x85ebca6b)
  bits = Math.imul(bits ^ (bits >>> 13), 0xc2b2ae35)
  return ((bits ^ (bits >>> 16)) >>> 0) / 2 ** 32
}

/** The hash of the client at an address, which many rules ask about one after the other: of IPv6 a home has a whole network. */
export class ClientHash {
  #address = ''
  #hash = 0

  of(address: string): number {
    if (address !== this.#address) {
      this.#address = address
      this.#hash = hashText(clientKey(address, CLIENT_BITS).narrow)
    }
    return this.#hash
  }
}
