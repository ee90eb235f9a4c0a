const DOT = 46
const COLON = 58
const ZERO = 48

/** Value of an ASCII character as a hexadecimal digit, or -1. A table is faster: branches mispredict where digits and letters alternate. */
const HEX = Int8Array.from({ length: 128 }, (_, code) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(code).toLowerCase()),
)

/**
 * An IP address has four 32-bit words, most significant first; IPv4 uses `d` alone, and its other words are zero. V8 keeps signed 32-bit
 * integers unboxed, so words are signed: read them with `>>> 0`. An IPv4-mapped IPv6 address is an IPv4 address here, so one host has one
 * value.
 */
export interface Address {
  readonly family: 4 | 6
  readonly a: number
  readonly b: number
  readonly c: number
  readonly d: number
}

/**
 * Returns the address that `text` writes, or `undefined`. Accepts IPv4 in dotted decimal without leading zeros, and IPv6 in any form of RFC
 * 4291 section 2.2, in either case. Rejects zone ids, ports, brackets and space. Allocates only the result.
 */
export function parseAddress(text: string): Address | undefined {
  return parseAddressIn(text, 0, text.length)
}

/** Parses the address in `text` from `start` up to `end`, by the rules of `parseAddress`. */
export function parseAddressIn(text: string, start: number, end: number): Address | undefined {
  const value = parse4(text, start, end)
  return value < 0 ? parse6(text, start, end) : address4(value)
}

/**
 * Parses an address by the rules of `parseAddress`, with an optional zone. Sockets and proxies name the interface behind a link-local
 * address (`fe80::1%eth0`, RFC 4007 section 11); the zone is no part of the address. Behind any other address it is an error.
 */
export function parseZoned(text: string): Address | undefined {
  const zone = text.indexOf('%')
  if (zone < 0 || zone === text.length - 1) return parseAddress(text)
  const address = parseAddress(text.slice(0, zone))
  return address !== undefined && isLinkLocal(address) ? address : undefined
}

function isLinkLocal({ family, a }: Address): boolean {
  return family === 6 && a >>> 22 === 0x3fa
}

/**
 * Parses an IPv4 address in strict dotted decimal as an unsigned 32-bit number, or returns -1. Accepts only four decimal numbers of 0 to
 * 255 without leading zeros: programs disagree about which host octal, hexadecimal, short and single-number forms name. Reads `text` from
 * `start` up to `end`; allocates nothing.
 */
export function parse4(text: string, start = 0, end = text.length): number {
  const length = end - start
  if (length < 7 || length > 15) return -1
  let value = 0
  let octet = -1
  let dots = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const digit = code - ZERO
    if (digit >= 0 && digit <= 9) {
      // A digit after a lone 0 makes it a leading zero.
      if (octet === 0) return -1
      octet = octet < 0 ? digit : octet * 10 + digit
      if (octet > 255) return -1
    } else {
      if (code !== DOT || octet < 0) return -1
      value = (value << 8) | octet
      octet = -1
      dots++
    }
  }
  if (octet < 0 || dots !== 3) return -1
  return ((value << 8) | octet) >>> 0
}

/** Parses IPv6 by RFC 4291 section 2.2: shifts each group into 128 bits; at the end `::` moves the groups before it up. */
function parse6(text: string, start: number, end: number): Address | undefined {
  let a = 0
  let b = 0
  let c = 0
  let d = 0
  let groups = 0
  let gap = -1
  let group = 0
  let digits = 0
  for (let at = start; at < end; at++) {
    const code = text.charCodeAt(at)
    const value = code < 128 ? (HEX[code] as number) : -1
    if (value >= 0) {
      if (digits === 4) return undefined
      group = (group << 4) | value
      digits++
    } else if (code === COLON) {
      const next = at + 1 < end ? text.charCodeAt(at + 1) : 0
      if (digits > 0) {
        a = (a << 16) | (b >>> 16)
        b = (b << 16) | (c >>> 16)
        c = (c << 16) | (d >>> 16)
        d = (d << 16) | group
        groups++
        group = 0
        digits = 0
      } else if (at !== start || next !== COLON) {
        return undefined
      }
      if (next === COLON) {
        if (gap >= 0) return undefined
        gap = groups
        at++
      } else if (at + 1 === end) {
        return undefined
      }
    } else if (code === DOT) {
      const embedded = parse4(text, at - digits, end)
      if (embedded < 0) return undefined
      a = b
      b = c
      c = d
      d = embedded | 0
      groups += 2
      digits = 0
      break
    } else {
      return undefined
    }
  }
  if (digits > 0) {
    a = (a << 16) | (b >>> 16)
    b = (b << 16) | (c >>> 16)
    c = (c << 16) | (d >>> 16)
    d = (d << 16) | group
    groups++
  }
  if (gap < 0) return groups === 8 ? address6(a, b, c, d) : undefined
  // `::` replaces at least one group.
  return groups > 7 ? undefined : withGap(a, b, c, d, 8 - groups, groups - gap)
}

/** Puts `missing` zero groups above the lowest `below` groups. */
function withGap(a: number, b: number, c: number, d: number, missing: number, below: number): Address {
  const lowA = a & lowBits(below * 16 - 96)
  const lowB = b & lowBits(below * 16 - 64)
  const lowC = c & lowBits(below * 16 - 32)
  const lowD = d & lowBits(below * 16)
  let highA = a ^ lowA
  let highB = b ^ lowB
  let highC = c ^ lowC
  let highD = d ^ lowD
  for (let left = missing; left > 0; left--) {
    highA = (highA << 16) | (highB >>> 16)
    highB = (highB << 16) | (highC >>> 16)
    highC = (highC << 16) | (highD >>> 16)
    highD <<= 16
  }
  return address6(highA | lowA, highB | lowB, highC | lowC, highD | lowD)
}

/** Returns a word whose low `bits` bits are set; below 0 counts as 0 and above 32 as 32. */
function lowBits(bits: number): number {
  if (bits >= 32) return -1
  return bits <= 0 ? 0 : (1 << bits) - 1
}

/** Returns a word with its upper `bits` bits set; below 0 counts as 0 and above 32 as 32. */
export function maskWord(bits: number): number {
  if (bits >= 32) return -1
  return bits <= 0 ? 0 : -1 << (32 - bits)
}

/** Makes an IPv4 address from the low 32 bits of `value`. */
export function address4(value: number): Address {
  return { family: 4, a: 0, b: 0, c: 0, d: value | 0 }
}

/** Makes an address from 128 bits; an IPv4-mapped one (::ffff:0:0/96) becomes the IPv4 address that it maps. */
export function address6(a: number, b: number, c: number, d: number): Address {
  return a === 0 && b === 0 && c === 0xffff
    ? { family: 4, a: 0, b: 0, c: 0, d: d | 0 }
    : { family: 6, a: a | 0, b: b | 0, c: c | 0, d: d | 0 }
}

/** Writes the canonical text of an address: dotted decimal, or RFC 5952 (lower case, longest run of zeros as `::`). */
export function formatAddress(address: Address): string {
  const { a, b, c, d } = address
  if (address.family === 4) return `${d >>> 24}.${(d >>> 16) & 255}.${(d >>> 8) & 255}.${d & 255}`
  const groups = [a >>> 16, a & 0xffff, b >>> 16, b & 0xffff, c >>> 16, c & 0xffff, d >>> 16, d & 0xffff]
  // RFC 5952 section 4.2 writes a single zero group as `0`, and `::` in place of the first of two equal runs.
  let longest = 1
  let longestEnd = 0
  let run = 0
  groups.forEach((group, index) => {
    run = group === 0 ? run + 1 : 0
    if (run > longest) {
      longest = run
      longestEnd = index + 1
    }
  })
  const hex = groups.map((group) => group.toString(16))
  if (longestEnd === 0) return hex.join(':')
  return `${hex.slice(0, longestEnd - longest).join(':')}::${hex.slice(longestEnd).join(':')}`
}
