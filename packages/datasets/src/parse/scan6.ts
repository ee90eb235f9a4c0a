import { parseAddressIn } from '@sallyport/core/tables'

const DOT = 46
const COLON = 58
const GROUPS = 8

/** Value of an ASCII byte as a hexadecimal digit, or -1. */
const HEX = Int8Array.from({ length: 256 }, (_, byte) =>
  '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()),
)

/**
 * Reads the IPv6 address that stands from `start` up to `end`, by the rules of `parseAddress`, into four words from `place`
 * of `words` on; false where it is none, or an IPv4-mapped one. Nothing is allocated.
 */
export function scan6(bytes: Buffer, start: number, end: number, words: Uint32Array, place: number): boolean {
  for (let word = place; word < place + 4; word++) words[word] = 0
  let groups = 0
  let gap = -1
  let group = 0
  let digits = 0
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte === COLON) {
      const isGap = at + 1 < end && bytes[at + 1] === COLON
      if (digits > 0) {
        if (groups === GROUPS) return false
        put(words, place, groups++, group)
        group = 0
        digits = 0
      } else if (at !== start || !isGap) return false
      if (isGap) {
        if (gap >= 0) return false
        gap = groups
        at++
      } else if (at + 1 === end) return false
    } else if (byte === DOT) return scanText(bytes, start, end, words, place)
    else {
      const digit = HEX[byte] as number
      if (digit < 0 || digits === 4) return false
      group = (group << 4) | digit
      digits++
    }
  }
  if (digits > 0) {
    if (groups === GROUPS) return false
    put(words, place, groups++, group)
  }
  if (gap < 0) {
    if (groups < GROUPS) return false
  } else {
    // `::` stands for at least one group, and what is behind it goes to the end.
    if (groups === GROUPS) return false
    for (let from = groups - 1, to = GROUPS - 1; from >= gap; from--, to--) move(words, place, from, to)
  }
  return words[place] !== 0 || words[place + 1] !== 0 || words[place + 2] !== 0xffff
}

/** One with an IPv4 address at its end, as lists hardly ever write it. */
function scanText(bytes: Buffer, start: number, end: number, words: Uint32Array, place: number): boolean {
  const address = parseAddressIn(bytes.toString('latin1', start, end), 0, end - start)
  if (address?.family !== 6) return false
  words[place] = address.a
  words[place + 1] = address.b
  words[place + 2] = address.c
  words[place + 3] = address.d
  return true
}

/** Groups are halves of words. The half that is put must be 0 before. */
function put(words: Uint32Array, place: number, group: number, value: number): void {
  const word = place + (group >> 1)
  words[word] = (words[word] as number) | ((group & 1) === 1 ? value : value << 16)
}

function move(words: Uint32Array, place: number, from: number, to: number): void {
  const word = place + (from >> 1)
  const both = words[word] as number
  const value = (from & 1) === 1 ? both & 0xffff : both >>> 16
  words[word] = (from & 1) === 1 ? both ^ value : both & 0xffff
  put(words, place, to, value)
}
