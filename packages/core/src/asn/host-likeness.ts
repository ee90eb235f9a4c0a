import { HOST_LIKENESS, type LikenessMeasure } from '@sallyport/data/host-likeness'
import type { AsType } from '../vocabulary.ts'

/** The outline of a system's address space. */
export interface SystemShape {
  readonly ipv4Addresses: number
  readonly ipv4Prefixes: number
  readonly ipv6Prefixes: number
  /** Distinct first octets of its IPv4 prefixes. */
  readonly ipv4Blocks: number
  /** Countries in which its IPv4 addresses are registered. */
  readonly countries: number
  /** Hosts in per cent of the systems in the same /16s that are known as hosts or to sell access; -1 for none. */
  readonly neighbours: number
}

/** The type that a name shows, and whether by weak words. */
export interface NamedType {
  readonly type: AsType
  readonly weak: boolean
}

/** A system without any list. */
export interface SystemOutline {
  readonly asn: number
  readonly shape: SystemShape
}

const STEPS = Object.entries(HOST_LIKENESS.points) as readonly (readonly [
  LikenessMeasure,
  readonly (readonly [atLeast: number, points: number])[],
])[]
/** The addresses of 128 /24s: in one country, so much is a regional carrier's or a company's more often than a host's. */
const MANY_AT_HOME = 2 ** 15

/** Whether a system is more likely a host than not, by its number, its outline and its neighbours; `rule` is what a name rule says of it. */
export function looksLikeHosting(outline: SystemOutline, rule?: NamedType): boolean {
  const { ipv4Prefixes, ipv4Addresses, countries } = outline.shape
  if (ipv4Prefixes === 0) return false
  if (countries <= 1 && ipv4Addresses >= MANY_AT_HOME) return false
  // A strong word stands: of 1,797 that sell access by such a name 13 call themselves hosts.
  if (rule !== undefined && !rule.weak) return false
  const { unnamed, weaklyNamed } = HOST_LIKENESS.least
  return hostPoints(outline) >= (rule === undefined ? unnamed : weaklyNamed)
}

/** The points of a system: tenths of the logarithm of its odds to be a host. */
export function hostPoints({ asn, shape }: SystemOutline): number {
  let points = HOST_LIKENESS.start
  for (const [measure, steps] of STEPS) {
    const value = measure === 'asn' ? asn : measureOf(shape, measure)
    let reached = 0
    for (const [atLeast, worth] of steps) if (value >= atLeast) reached = worth
    points += reached
  }
  return points
}

function measureOf(shape: SystemShape, measure: Exclude<LikenessMeasure, 'asn'>): number {
  return measure === 'addressesPerPrefix' ? shape.ipv4Addresses / shape.ipv4Prefixes : shape[measure]
}
