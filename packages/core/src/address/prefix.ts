import { type Address, address4, compareAddresses, formatAddress, parseAddressIn } from './address.ts'

/** A CIDR prefix; `address` is its first address, host bits zero. `length` counts bits of its own family. */
export interface Prefix {
  readonly address: Address
  readonly length: number
}

/** The prefix of this length that holds `address`. `length`: 0 to 32 or 128, by the family of the address. */
export function prefixOf(address: Address, length: number): Prefix {
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
 * The prefix that `text` is in CIDR notation, or `undefined`. The address is strict as in `parseAddress`, the length a
 * decimal number without leading zeros; host bits are set to zero. A prefix of IPv4-mapped addresses is an IPv4
 * prefix, and its length must reach past the 96 bits of the mapping: a shorter one would mean half of IPv6.
 */
export function parsePrefix(text: string): Prefix | undefined {
  const slash = text.indexOf('/')
  if (slash < 0) return undefined
  const address = parseAddressIn(text, 0, slash)
  const length = parseLength(text, slash + 1)
  if (address === undefined || length < 0) return undefined
  const written = text.lastIndexOf(':', slash) < 0 ? 4 : 6
  if (length > (written === 4 ? 32 : 128)) return undefined
  if (written === address.family) return prefixOf(address, length)
  return length < 96 ? undefined : prefixOf(address, length - 96)
}

/** -1 when it is not a number of one to three digits without leading zeros. */
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

/** CIDR notation, canonical. */
export function formatPrefix(prefix: Prefix): string {
  return `${formatAddress(prefix.address)}/${prefix.length}`
}

export function firstAddress(prefix: Prefix): Address {
  return prefix.address
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

/** The upper `bits` bits of a word set; below 0 counts as 0 and above 32 as 32. */
function maskWord(bits: number): number {
  if (bits >= 32) return -1
  return bits <= 0 ? 0 : -1 << (32 - bits)
}

/**
 * The smallest set of prefixes that together hold exactly the addresses from `first` to `last`, both included, in
 * address order. Empty when `last` comes before `first` or is of the other family.
 */
export function coverRange(first: Address, last: Address): readonly Prefix[] {
  if (first.family !== last.family || compareAddresses(first, last) > 0) return []
  return first.family === 4 ? cover4(first.d >>> 0, last.d >>> 0) : cover6(bitsOf(first), bitsOf(last))
}

function cover4(first: number, last: number): readonly Prefix[] {
  const prefixes: Prefix[] = []
  for (let from = first; from <= last; ) {
    let length = 32
    let size = 1
    // The largest block that starts here: aligned to its own size, and not past the end.
    while (length > 0 && from % (size * 2) === 0 && from + size * 2 - 1 <= last) {
      size *= 2
      length--
    }
    prefixes.push({ address: address4(from), length })
    from += size
  }
  return prefixes
}

function cover6(first: bigint, last: bigint): readonly Prefix[] {
  const prefixes: Prefix[] = []
  for (let from = first; from <= last; ) {
    let length = 128
    let size = 1n
    while (length > 0 && (from & (size * 2n - 1n)) === 0n && from + size * 2n - 1n <= last) {
      size *= 2n
      length--
    }
    prefixes.push({ address: fromBits(from), length })
    from += size
  }
  return prefixes
}

function bitsOf({ a, b, c, d }: Address): bigint {
  const high = (BigInt(a >>> 0) << 32n) | BigInt(b >>> 0)
  return (high << 64n) | (BigInt(c >>> 0) << 32n) | BigInt(d >>> 0)
}

function fromBits(bits: bigint): Address {
  // `| 0` although it is in range already: a number out of a BigInt may come boxed, and one address with a boxed word
  // makes every later address of the program slow to make and to read (measured: four times).
  const word = (shift: bigint) => Number(BigInt.asIntN(32, bits >> shift)) | 0
  return { family: 6, a: word(96n), b: word(64n), c: word(32n), d: word(0n) }
}
