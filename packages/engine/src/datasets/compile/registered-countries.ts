import { addressesBetween, compareAt } from '../ranges/ranges.ts'
import type { Segments } from '../ranges/segments.ts'

/** Holds both layers of one family: the system of an address, and the country in which it is registered. */
export interface Registration {
  readonly systems: Segments
  readonly countries: Segments
}

/** Says where each system is registered, by position from 1. */
export interface RegisteredSystems {
  /** The country in which most addresses of a system are registered; 0 when unknown. */
  readonly countries: Uint8Array
  /** Counts the countries in which its IPv4 addresses are registered. */
  readonly counts: Uint16Array
}

/**
 * Finds the country of each system by the countries of its addresses. The first layer in which a system has any address decides, so IPv6
 * counts only for systems without IPv4.
 */
export function registeredSystems(layers: readonly Registration[], systemCount: number): RegisteredSystems {
  const countries = new Uint8Array(systemCount + 1)
  const counts = new Uint16Array(systemCount + 1)
  for (const layer of layers) {
    const largest = new Float64Array(systemCount + 1)
    const winners = new Uint8Array(systemCount + 1)
    for (const [key, addresses] of sumCountries(layer)) {
      const system = key >>> 8
      if (layer.systems.family === 4) counts[system] = (counts[system] as number) + 1
      if (addresses > (largest[system] as number)) {
        largest[system] = addresses
        winners[system] = key & 255
      }
    }
    for (let system = 1; system <= systemCount; system++) {
      if (countries[system] === 0) countries[system] = winners[system] as number
    }
  }
  return { countries, counts }
}

/** Counts the addresses of each system in each country, by `system << 8 | country`. */
function sumCountries({ systems, countries }: Registration): ReadonlyMap<number, number> {
  const { family } = systems
  const sums = new Map<number, number>()
  let from = systems.starts
  let place = 0
  // The last segments have no end here; the top of both families is reserved, so nothing is lost.
  for (let atX = 0, atY = 0; atX + 1 < systems.count || atY + 1 < countries.count; ) {
    const system = systems.values[atX] as number
    const country = countries.values[atY] as number
    const isLastX = atX + 1 === systems.count
    const isLastY = atY + 1 === countries.count
    const order = isLastX ? 1 : isLastY ? -1 : compareAt(family, systems.starts, atX + 1, countries.starts, atY + 1)
    if (order <= 0) atX++
    if (order >= 0) atY++
    const to = order <= 0 ? systems.starts : countries.starts
    const end = order <= 0 ? atX : atY
    if (system !== 0 && country !== 0) {
      const key = (system << 8) | country
      sums.set(key, (sums.get(key) ?? 0) + addressesBetween(family, from, place, to, end))
    }
    from = to
    place = end
  }
  return sums
}
