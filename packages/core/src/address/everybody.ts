import { type Prefix, parsePrefix } from './prefix.ts'

/**
 * Visitors of each family come from addresses below multicast, and from the prefixes out of which registries assign IPv6 addresses (IANA,
 * IPv6 Global Unicast Address Assignments). Prefixes that are hardly used are left out.
 */
const PUBLIC = {
  4: ['0.0.0.0/1', '128.0.0.0/2', '192.0.0.0/3'],
  6: [
    '2001::/16',
    '2003::/18',
    '2400::/12',
    '2600::/12',
    '2610::/23',
    '2620::/23',
    '2800::/12',
    '2a00::/11',
    '2c00::/12',
  ],
} as const

/** A set that covers more than this share of public addresses covers everybody: the largest country has two fifths of IPv4. */
const MOST = 47 / 100

/** Returns the family of which these prefixes together cover most public addresses; `undefined` for neither. */
export function everybodyIn(prefixes: readonly Prefix[]): 4 | 6 | undefined {
  for (const family of [4, 6] as const) {
    const ranges = prefixes
      .filter(({ address }) => address.family === family)
      .map(numberRange)
      .sort((x, y) => x.from - y.from)
    let whole = 0
    let covered = 0
    for (const text of PUBLIC[family]) {
      const { from, until } = numberRange(parsePrefix(text) as Prefix)
      whole += until - from
      let end = from
      for (const range of ranges) {
        const start = Math.max(range.from, end)
        end = Math.max(end, Math.min(range.until, until))
        covered += Math.max(0, end - start)
      }
    }
    if (covered > whole * MOST) return family
  }
  return undefined
}

/** Returns the bounds as shares of the family; parts of IPv6 smaller than a /52 do not count. */
function numberRange({ address: { family, a, b, d }, length }: Prefix) {
  const from = family === 4 ? (d >>> 0) / 2 ** 32 : (a >>> 0) / 2 ** 32 + (b >>> 0) / 2 ** 64
  return { from, until: from + 2 ** -length }
}
