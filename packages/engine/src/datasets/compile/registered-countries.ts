import type { PerFamily } from '../parse/contents.ts'
import { layOut } from '../ranges/layout.ts'
import { addressesBetween, FAMILIES, type Ranges } from '../ranges/ranges.ts'
import { type Layers, overlay, type Segments } from '../ranges/segments.ts'

/**
 * Finds the country in which most addresses of each system are registered, by position from 1 (0 when unknown), and counts the countries of
 * its IPv4 addresses. The first family in which a system has any address decides, so IPv6 counts only for systems without IPv4.
 */
export function registeredSystems(registrations: PerFamily<Ranges>, layers: Layers, systemCount: number) {
  const countries = new Uint8Array(systemCount + 1)
  const counts = new Uint16Array(systemCount + 1)
  for (const family of FAMILIES) {
    const ranges = registrations[family]
    if (ranges === undefined) continue
    const largest = new Float64Array(systemCount + 1)
    const winners = new Uint8Array(systemCount + 1)
    for (const [key, addresses] of sumCountries(layers[family], layOut(ranges))) {
      const system = key >>> 8
      if (family === 4) counts[system] = (counts[system] as number) + 1
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
function sumCountries(systems: Segments, countries: Segments): ReadonlyMap<number, number> {
  const both = overlay(systems, countries, (system, country) => (system && country ? (system << 8) | country : 0))
  const { family, starts, values, count } = both
  const sums = new Map<number, number>()
  // The last segment has no end here; the top of both families is reserved, so nothing is lost.
  for (let segment = 0; segment + 1 < count; segment++) {
    const key = values[segment] as number
    if (key !== 0) sums.set(key, (sums.get(key) ?? 0) + addressesBetween(family, starts, segment, starts, segment + 1))
  }
  return sums
}
