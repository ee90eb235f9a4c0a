import { PRIVATE_RELAY } from '@sallyport/core'
import { type Segments, valueAt4 } from '../ranges/segments.ts'
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
  for (const { networkClass, provider, services: named = [], ranges } of lists) {
    const read = ranges[4]
    if (networkClass !== 'vpn' || provider === PRIVATE_RELAY || read === undefined) continue
    for (let range = 0; range < read.count; range++) {
      const first = read.firsts[range] as number
      if ((read.lasts[range] as number) - first >= LARGEST_NARROW) continue
      const system = valueAt4(systems, first)
      const { services, blocks } = tenants.get(system) ?? { services: new Set(), blocks: new Set() }
      tenants.set(system, { services, blocks })
      blocks.add(first >>> 8)
      const service = named[(read.values[range] as number) - 1] ?? provider
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
