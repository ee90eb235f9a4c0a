import { HOST_LIKENESS, type LikenessMeasure } from '@sallyport/data/host-likeness'
import type { OrganisationRule } from '@sallyport/data/organisation-names'

export interface SystemShape {
  readonly ipv4Addresses: number
  readonly ipv4Prefixes: number
  readonly ipv6Prefixes: number
  /** Counts the distinct first octets of its IPv4 prefixes. */
  readonly ipv4Blocks: number
  /** Counts the countries in which its IPv4 addresses are registered. */
  readonly countries: number
  /** Share of hosts, in per cent, among the known hosts and access providers in the same /16s; -1 where there is none. */
  readonly neighbours: number
}

/** Holds the type that a name shows; `weak` words are less certain. */
export type NamedType = Pick<OrganisationRule, 'type' | 'weak'>

export interface SystemOutline {
  readonly asn: number
  readonly shape: SystemShape
}

const STEPS = Object.entries(HOST_LIKENESS.points) as readonly (readonly [
  LikenessMeasure,
  readonly (readonly [atLeast: number, points: number])[],
])[]
/** 128 /24s have this many addresses: in one country, a regional carrier or a company holds them more often than a host. */
const MANY_AT_HOME = 2 ** 15

/** Reports whether a system is likely a host, by its number, outline and neighbours; `rule` has the type that its name shows. */
export function looksLikeHosting(outline: SystemOutline, rule?: NamedType): boolean {
  const { ipv4Prefixes, ipv4Addresses, countries } = outline.shape
  if (ipv4Prefixes === 0) return false
  if (countries <= 1 && ipv4Addresses >= MANY_AT_HOME) return false
  // A strong word is right: of 1,797 systems that sell access under such a name, 13 call themselves hosts.
  if (rule !== undefined && !rule.weak) return false
  const { unnamed, weaklyNamed } = HOST_LIKENESS.least
  return hostPoints(outline) >= (rule === undefined ? unnamed : weaklyNamed)
}

/** Adds up the points of a system: tenths of the logarithm of its odds to be a host. */
export function hostPoints({ asn, shape }: SystemOutline): number {
  let points = HOST_LIKENESS.start
  for (const [measure, steps] of STEPS) {
    const value = measure === 'asn' ? asn : readMeasure(shape, measure)
    let reached = 0
    for (const [atLeast, worth] of steps) if (value >= atLeast) reached = worth
    points += reached
  }
  return points
}

function readMeasure(shape: SystemShape, measure: Exclude<LikenessMeasure, 'asn'>): number {
  return measure === 'addressesPerPrefix' ? shape.ipv4Addresses / shape.ipv4Prefixes : shape[measure]
}
