import table from './host-likeness.json' with { type: 'json' }

/**
 * How much a system looks like a host, by the outline of its address space, its number and the systems around it: points are tenths of the logarithm of its odds.
 */
export interface HostLikeness {
  /** Year and month in which the points were fitted. */
  readonly date: string
  readonly start: number
  /** Steps `[at least, points]` of each measure, ascending; the last that is reached counts. */
  readonly points: Readonly<Record<LikenessMeasure, readonly (readonly [atLeast: number, points: number])[]>>
  /** Least points of a host without a name rule, and with a weak one that says that it sells access. */
  readonly least: Readonly<Record<'unnamed' | 'weaklyNamed', number>>
}

export type LikenessMeasure =
  | 'asn'
  | 'addressesPerPrefix'
  | 'ipv4Prefixes'
  | 'ipv4Blocks'
  | 'countries'
  | 'ipv6Prefixes'
  | 'neighbours'

const { date, start, points, least } = table as unknown as HostLikeness

export const HOST_LIKENESS: HostLikeness = { date, start, points, least }
