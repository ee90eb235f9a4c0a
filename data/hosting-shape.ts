import table from './hosting-shape.json' with { type: 'json' }

/**
 * How much the outline of a system's address space looks like a hoster's: a few small prefixes, bought here and there
 * and registered in several countries, with IPv6. A system with zero points or more is more likely a host than not.
 */
export interface HostingShape {
  /** Year and month in which the points were fitted. */
  readonly date: string
  readonly start: number
  /** Steps `[at least, points]` of each measure, ascending; the last that is reached counts. */
  readonly points: Readonly<Record<ShapeMeasure, readonly (readonly [atLeast: number, points: number])[]>>
  /** Thresholds without a name rule, with a weak one that says that it sells access, and with a strong one. */
  readonly unnamed: number
  readonly weaklyNamed: number
  readonly namedAccess: number
}

export type ShapeMeasure = 'addressesPerPrefix' | 'ipv4Prefixes' | 'ipv4Blocks' | 'countries' | 'ipv6Prefixes'

const { date, start, points, unnamed, weaklyNamed, namedAccess } = table as unknown as HostingShape

export const HOSTING_SHAPE: HostingShape = { date, start, points, unnamed, weaklyNamed, namedAccess }
