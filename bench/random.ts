import { type Address, address4, address6 } from '@sallyport/core'
import type { Random } from '@sallyport/core/testing'

/** Returns a random address inside a prefix. */
export function addressIn({ family, a, b, c, d }: Address, length: number, random: Random): Address {
  const word = (value: number, kept: number) => {
    if (kept >= 32) return value
    const free = kept <= 0 ? -1 : -1 >>> kept
    return (value & ~free) | (random(2 ** 32) & free)
  }
  if (family === 4) return address4(word(d, length))
  return address6(word(a, length), word(b, length - 32), word(c, length - 64), word(d, length - 96))
}

/** Returns a string in one piece, as a socket gives it. */
export function flat(text: string): string {
  return Buffer.from(text).toString('latin1')
}
