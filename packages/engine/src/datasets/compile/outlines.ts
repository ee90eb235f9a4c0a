import { coverRange, type NamedType, ruleOfName, type SystemShape, typeByRule } from '@sallyport/core'
import type { Columns } from '../format/tables.ts'
import type { PerFamily } from '../parse/contents.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { layOut } from '../ranges/layout.ts'
import { addressAt, FAMILIES, type Ranges, WORDS, withValues } from '../ranges/ranges.ts'
import { overlay, readBounds, type Segments, uniform } from '../ranges/segments.ts'
import type { Parts } from './parts.ts'
import { type RegisteredSystems, registeredSystems } from './registered-countries.ts'
import { type AllSystems, allSystems } from './systems.ts'

type SizeColumns = Pick<Columns, 'systems.ipv4Prefixes' | 'systems.ipv6Prefixes' | 'systems.ipv4Addresses'>

/** Content of the files of systems and of registrations, before any list; systems by index, in order of ASN. */
export interface Outlines {
  readonly asns: Uint32Array
  readonly names: readonly string[]
  /** The name rule of each. */
  readonly rules: readonly (NamedType | undefined)[]
  readonly layers: Layers
  readonly sizes: SizeColumns
  readonly registered: RegisteredSystems
  readonly shapeOf: (index: number) => SystemShape
}

export function outlinesOf(parts: Pick<Parts, 'systems' | 'fallbacks' | 'registrations'>): Outlines {
  const files = [parts.systems, ...parts.fallbacks]
  const all = allSystems(files.flatMap((file) => FAMILIES.flatMap((family) => file[family] ?? [])))
  const { asns, names } = all
  const rules = names.map(ruleOfName)
  const layers = systemLayers(files, all)
  const sizes = sizeColumns(layers, asns.length)
  const registered = registrationCountries(parts.registrations, layers, asns.length)
  const sides = Int8Array.from(asns, (asn, index) => sideOf(asn, rules[index]))
  const { octets, neighbours } = surroundings(layers[4], sides)
  return {
    asns,
    names,
    rules,
    layers,
    sizes,
    registered,
    shapeOf: (index) => ({
      ipv4Addresses: sizes['systems.ipv4Addresses'][index] as number,
      ipv4Prefixes: sizes['systems.ipv4Prefixes'][index] as number,
      ipv6Prefixes: sizes['systems.ipv6Prefixes'][index] as number,
      ipv4Blocks: octets[index] as number,
      countries: registered.counts[index + 1] as number,
      neighbours: neighbours(index),
    }),
  }
}

/** 1 for a host, -1 for an access network, 0 for what is neither or does not say so. */
function sideOf(asn: number, rule: NamedType | undefined): number {
  const { type } = typeByRule(asn, rule)
  if (type === 'hosting') return 1
  return type === 'isp' || type === 'mobile' ? -1 : 0
}

/** Each system's count of first octets that its IPv4 segments begin in, and the sides in the same /16s. */
function surroundings({ starts, values, count }: Segments, sides: Int8Array) {
  const hosts = new Uint16Array(2 ** 16)
  const sided = new Uint16Array(2 ** 16)
  for (let segment = 0; segment < count; segment++) {
    const side = sides[(values[segment] as number) - 1] ?? 0
    const block = (starts[segment] as number) >>> 16
    if (side !== 0) sided[block] = (sided[block] as number) + 1
    if (side === 1) hosts[block] = (hosts[block] as number) + 1
  }
  const octets = new Uint16Array(sides.length)
  const latest = new Int16Array(sides.length).fill(-1)
  const sums = new Float64Array(sides.length)
  const seen = new Uint32Array(sides.length)
  for (let segment = 0; segment < count; segment++) {
    const index = (values[segment] as number) - 1
    if (index === -1) continue
    const block = (starts[segment] as number) >>> 16
    if (latest[index] !== block >>> 8) octets[index] = (octets[index] as number) + 1
    latest[index] = block >>> 8
    if (sided[block] === 0) continue
    sums[index] = (sums[index] as number) + (hosts[block] as number) / (sided[block] as number)
    seen[index] = (seen[index] as number) + 1
  }
  const neighbours = (index: number) =>
    seen[index] === 0 ? -1 : Math.round((100 * (sums[index] as number)) / (seen[index] as number))
  return { octets, neighbours }
}

export type Layers = Readonly<Record<4 | 6, Segments>>

/**
 * The systems of both families as segments, of which the values are positions in order of ASN, from 1: those of the first
 * file that has one at a place.
 */
function systemLayers(files: readonly PerFamily<SystemRanges>[], { positionsIn }: AllSystems): Layers {
  const layer = (family: 4 | 6) =>
    files.reduce(
      (known, { [family]: read }) => {
        if (read === undefined) return known
        const positions = positionsIn(read)
        const segments = layOut(
          withValues(
            read.ranges,
            read.ranges.values.map((system) => positions[system] as number),
          ),
        )
        return known.count === 1 && known.values[0] === 0
          ? segments
          : overlay(known, segments, (first, further) => first || further)
      },
      uniform(family, 0),
    )
  return { 4: layer(4), 6: layer(6) }
}

function registrationCountries(registrations: PerFamily<Ranges>, layers: Layers, size: number): RegisteredSystems {
  const known = FAMILIES.flatMap((family) => {
    const ranges = registrations[family]
    return ranges === undefined ? [] : [{ systems: layers[family], countries: layOut(ranges) }]
  })
  return registeredSystems(known, size)
}

/** Prefixes of the minimal cover of each system's ranges, and its IPv4 addresses. */
function sizeColumns(layers: Layers, size: number): SizeColumns {
  const addresses = new Float64Array(size)
  const prefixes = { 4: new Uint32Array(size), 6: new Uint32Array(size) }
  for (const family of FAMILIES) {
    const { values, count } = layers[family]
    const counts = prefixes[family]
    const bounds = { first: new Uint32Array(WORDS[family]), last: new Uint32Array(WORDS[family]) }
    for (let segment = 0; segment < count; segment++) {
      const index = (values[segment] as number) - 1
      if (index === -1) continue
      readBounds(layers[family], segment, bounds)
      const { first, last } = bounds
      counts[index] =
        (counts[index] as number) + coverRange(addressAt(family, first, 0), addressAt(family, last, 0)).length
      if (family === 4) {
        addresses[index] = (addresses[index] as number) + (last[0] as number) - (first[0] as number) + 1
      }
    }
  }
  return {
    'systems.ipv4Prefixes': prefixes[4],
    'systems.ipv6Prefixes': prefixes[6],
    'systems.ipv4Addresses': addresses,
  }
}
