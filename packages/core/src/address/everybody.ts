import type { Prefix } from './prefix.ts'

/**
 * Bounds of each family's public addresses, as shares of the family: below multicast, and the half of global unicast (RFC 4291
 * 2.4) of which registries have been given all that they have, 2000::/4.
 */
const PUBLIC = { 4: { from: 0, until: 224 / 256 }, 6: { from: 1 / 8, until: 3 / 16 } } as const

/** The share of the public addresses above which a set is everybody: no one's proxies are three quarters of the internet. */
const NEARLY_ALL = 3 / 4

/** The family of which these prefixes together cover nearly all public addresses; `undefined` where it is none. */
export function everybodyIn(prefixes: readonly Prefix[]): 4 | 6 | undefined {
  for (const family of [4, 6] as const) {
    const { from, until } = PUBLIC[family]
    const ranges = prefixes
      .filter(({ address }) => address.family === family)
      .map(rangeOf)
      .sort((x, y) => x.from - y.from)
    let covered = 0
    let end = from
    for (const range of ranges) {
      const start = Math.max(range.from, end)
      end = Math.max(end, Math.min(range.until, until))
      covered += Math.max(0, end - start)
    }
    if (covered > (until - from) * NEARLY_ALL) return family
  }
  return undefined
}

/** As shares of the family; what of IPv6 is smaller than a /52 does not count. */
function rangeOf({ address: { family, a, b, d }, length }: Prefix): { readonly from: number; readonly until: number } {
  const from = family === 4 ? (d >>> 0) / 2 ** 32 : (a >>> 0) / 2 ** 32 + (b >>> 0) / 2 ** 64
  return { from, until: from + 2 ** -length }
}
