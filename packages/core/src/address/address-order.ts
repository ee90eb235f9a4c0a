import { type Address, address4 } from './address.ts'

/** Orders addresses as unsigned numbers, every IPv4 address before every IPv6 address: negative, 0 or positive. */
export function compareAddresses(x: Address, y: Address): number {
  if (x.family !== y.family) return x.family - y.family
  if (x.a !== y.a) return (x.a >>> 0) - (y.a >>> 0)
  if (x.b !== y.b) return (x.b >>> 0) - (y.b >>> 0)
  if (x.c !== y.c) return (x.c >>> 0) - (y.c >>> 0)
  return (x.d >>> 0) - (y.d >>> 0)
}

export function sameAddress(x: Address, y: Address): boolean {
  return x.d === y.d && x.c === y.c && x.b === y.b && x.a === y.a && x.family === y.family
}

/** Returns the next address of the family; `undefined` after the last. */
export function nextAddress({ family, a, b, c, d }: Address): Address | undefined {
  const low = (d + 1) | 0
  if (family === 4) return low === 0 ? undefined : address4(low)
  // A word that becomes zero has overflowed and carries into the one above it.
  const third = low === 0 ? (c + 1) | 0 : c
  const second = low === 0 && third === 0 ? (b + 1) | 0 : b
  const first = low === 0 && third === 0 && second === 0 ? (a + 1) | 0 : a
  if (first === 0 && second === 0 && third === 0 && low === 0) return undefined
  return { family: 6, a: first, b: second, c: third, d: low }
}

/** Returns the previous address of the family; `undefined` before the first. */
export function previousAddress({ family, a, b, c, d }: Address): Address | undefined {
  // A zero word borrows: it takes one from each word above until a word is not zero.
  if (d !== 0) return { family, a, b, c, d: (d - 1) | 0 }
  if (c !== 0) return { family, a, b, c: (c - 1) | 0, d: -1 }
  if (b !== 0) return { family, a, b: (b - 1) | 0, c: -1, d: -1 }
  return a === 0 ? undefined : { family, a: (a - 1) | 0, b: -1, c: -1, d: -1 }
}
