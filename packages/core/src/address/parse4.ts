const DOT = 46
const ZERO = 48

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
