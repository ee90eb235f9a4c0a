import { type Address, address4, formatAddress, maskWord, parseAddress, parseAddressIn } from './address.ts'
import { compareAddresses, nextAddress } from './address-order.ts'

/** A CIDR prefix starts at `address`, whose host bits are zero. `length` counts bits of its own family. */
export interface Prefix {
  readonly address: Address
  readonly length: number
}

/** Makes the prefix of this length that holds `address`. `length` is 0 to 32 or 128, by the family of the address. */
export function makePrefix(address: Address, length: number): Prefix {
  const { family, a, b, c, d } = address
  const first: Address =
    family === 4
      ? address4(d & maskWord(length))
      : {
          family: 6,
          a: a & maskWord(length),
          b: b & maskWord(length - 32),
          c: c & maskWord(length - 64),
          d: d & maskWord(length - 96),
        }
  return { address: first, length }
}

/**
 * Returns the prefix that `text` writes in CIDR notation, or `undefined`. The address is strict as in `parseAddress`; the length is a
 * decimal number without leading zeros; host bits become zero. A prefix of IPv4-mapped addresses is an IPv4 prefix, and its length must
 * reach past the 96 bits of the mapping: a shorter one would cover half of IPv6.
 */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseAddressIn(text, 0, slash)
  const length = parseLength(text, slash + 1)
  if (address === undefined || length < 0) return undefined
  const written = text.lastIndexOf(':', slash) < 0 ? 4 : 6
  if (length > (written === 4 ? 32 : 128)) return undefined
  if (written === address.family) return makePrefix(address, length)
  return length < 96 ? undefined : makePrefix(address, length - 96)
}

/** Returns -1 when the text is not a number of one to three digits without leading zeros. */
function parseLength(text: string, start: number): number {
  const count = text.length - start
  if (count < 1 || count > 3 || (count > 1 && text.charCodeAt(start) === 48)) return -1
  let length = 0
  for (let at = start; at < text.length; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return -1
    length = length * 10 + digit
  }
  return length
}

export function hostPrefix(address: Address): Prefix {
  return { address, length: address.family === 4 ? 32 : 128 }
}

/** Parses an address as the prefix that holds only it, or a prefix in CIDR notation; `undefined` for any other text. */
export function parseHostOrPrefix(text: string): Prefix | undefined {
  const address = parseAddress(text)
  return address === undefined ? parsePrefix(text) : hostPrefix(address)
}

/** Writes a prefix of one address as that address, and any other in CIDR notation; both are canonical. */
export function formatHostOrPrefix(prefix: Prefix): string {
  const { address, length } = prefix
  return length === hostPrefix(address).length ? formatAddress(address) : formatPrefix(prefix)
}

export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.address)}/${prefix.length}`
}

export function lastAddress({ address, length }: Prefix): Address {
  const { family, a, b, c, d } = address
  if (family === 4) return address4(d | ~maskWord(length))
  return {
    family: 6,
    a: a | ~maskWord(length),
    b: b | ~maskWord(length - 32),
    c: c | ~maskWord(length - 64),
    d: d | ~maskWord(length - 96),
  }
}

export function prefixContains({ address, length }: Prefix, { family, a, b, c, d }: Address): boolean {
  if (family !== address.family) return false
  if (family === 4) return ((d ^ address.d) & maskWord(length)) === 0
  return (
    ((a ^ address.a) & maskWord(length)) === 0 &&
    ((b ^ address.b) & maskWord(length - 32)) === 0 &&
    ((c ^ address.c) & maskWord(length - 64)) === 0 &&
    ((d ^ address.d) & maskWord(length - 96)) === 0
  )
}

/**
 * Returns the smallest set of prefixes that together hold exactly the addresses from `first` to `last`, both included, in address order.
 * The set is empty when `last` comes before `first` or is of the other family.
 */
export function coverRange(first: Address, last: Address): readonly Prefix[] {
  if (first.family !== last.family) return []
  const bits = first.family === 4 ? 32 : 128
  const lastOnes = trailingZeros(~last.a, ~last.b, ~last.c, ~last.d)
  const prefixes: Prefix[] = []
  for (let from: Address | undefined = first; from !== undefined && compareAddresses(from, last) <= 0; ) {
    // The largest block that starts here is aligned to its own size and ends by `last`. A block of as many bits as lie below the highest
    // differing bit always ends by `last`; a block of one more bit does so only where all these bits are set.
    const differing = differingBits(from, last)
    const room = lastOnes >= differing ? differing : differing - 1
    const free = Math.min(trailingZeros(from.a, from.b, from.c, from.d), room, bits)
    const prefix: Prefix = { address: from, length: bits - free }
    prefixes.push(prefix)
    from = nextAddress(lastAddress(prefix))
  }
  return prefixes
}

/** Counts the low bits that hold every bit in which two addresses differ. */
function differingBits(x: Address, y: Address): number {
  if (x.a !== y.a) return 128 - Math.clz32(x.a ^ y.a)
  if (x.b !== y.b) return 96 - Math.clz32(x.b ^ y.b)
  if (x.c !== y.c) return 64 - Math.clz32(x.c ^ y.c)
  return 32 - Math.clz32(x.d ^ y.d)
}

function trailingZeros(a: number, b: number, c: number, d: number): number {
  if (d !== 0) return 31 - Math.clz32(d & -d)
  if (c !== 0) return 63 - Math.clz32(c & -c)
  if (b !== 0) return 95 - Math.clz32(b & -b)
  return a === 0 ? 128 : 127 - Math.clz32(a & -a)
}
