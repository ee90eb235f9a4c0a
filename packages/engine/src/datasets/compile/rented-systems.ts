import { PRIVATE_RELAY } from '@sallyport/core'
import { type Segments, valueAt4 } from '../ranges/segments.ts'
import type { RangeList } from './parts.ts'
import { LARGEST_NARROW } from './system-evidence.ts'

/** Thresholds from which all of a host is taken for its tenants': services, /24s with their exits, and these as a share of its own. */
const MIN_SERVICES = 3
const MIN_BLOCKS = 5
const MIN_SHARE = 0.015

/** Exits known in a system. */
interface Tenants {
  readonly services: Set<string>
  readonly blocks: Set<number>
}

/**
 * Which systems, by index, several VPN services rent from: three are seldom guests of one host by chance, and where they are
 * most of its other machines in reach of visitors are exits too. Lists that name no service add /24s alone. Undefined
 * where fewer than three services are loaded: they can show no host.
 */
export function rentedSystems(
  lists: readonly RangeList[],
  systems: Segments,
  ipv4Addresses: Float64Array,
): (index: number) => boolean | undefined {
  const tenants = new Map<number, Tenants>()
  const loaded = new Set<string>()
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
      if (service === '') continue
      services.add(service.toLowerCase())
      loaded.add(service.toLowerCase())
    }
  }
  if (loaded.size < MIN_SERVICES) return () => undefined
  return (index) => {
    const { services, blocks } = tenants.get(index + 1) ?? NONE
    const share = (blocks.size * LARGEST_NARROW) / (ipv4Addresses[index] as number)
    return services.size >= MIN_SERVICES && blocks.size >= MIN_BLOCKS && share >= MIN_SHARE
  }
}

const NONE: Tenants = { services: new Set(), blocks: new Set() }
