import { hasExits } from '../format/range-source.ts'
import { narrowRanges } from '../ranges/ranges.ts'
import { type Segments, valueAt } from '../ranges/segments.ts'
import type { RangeList } from './parts.ts'
import { LARGEST_NARROW } from './system-evidence.ts'

/** From these thresholds on a whole host counts as rented: VPN services, /24s with exits, and their share of the host's /24s. */
const MIN_SERVICES = 3
const MIN_BLOCKS = 5
const MIN_SHARE = 0.015

/** The services and the /24s with exits that are known in a system. */
interface Tenants {
  readonly services: Set<string>
  readonly blocks: Set<number>
}

/**
 * Reports which systems, by index, several VPN services rent from. Three services rarely share one host by chance, and most other machines
 * of such a host that reach sites are exits too. Lists that name no service add only /24s.
 */
export function rentedSystems(
  lists: readonly RangeList[],
  systems: Segments,
  ipv4Addresses: Float64Array,
): (index: number) => boolean {
  const tenants = new Map<number, Tenants>()
  for (const { provider, services: named = [], ranges } of lists.filter(hasExits)) {
    for (const { first, value } of narrowRanges(ranges, LARGEST_NARROW)) {
      const system = valueAt(systems, Uint32Array.of(first))
      const { services, blocks } = tenants.get(system) ?? { services: new Set(), blocks: new Set() }
      tenants.set(system, { services, blocks })
      blocks.add(first >>> 8)
      const service = named[value - 1] ?? provider
      if (service !== '') services.add(service.toLowerCase())
    }
  }
  return (index) => {
    const { services, blocks } = tenants.get(index + 1) ?? NONE
    const share = (blocks.size * LARGEST_NARROW) / (ipv4Addresses[index] as number)
    return services.size >= MIN_SERVICES && blocks.size >= MIN_BLOCKS && share >= MIN_SHARE
  }
}

const NONE: Tenants = { services: new Set(), blocks: new Set() }
