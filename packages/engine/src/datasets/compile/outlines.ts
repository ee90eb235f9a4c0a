import { address6, findNameRule, type NamedType, type SystemShape, typeByRule } from '@sallyport/core'
import type { PerFamily } from '../parse/contents.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { layOut } from '../ranges/layout.ts'
import { createRangeWriter, FAMILIES, mapValues, WORDS } from '../ranges/ranges.ts'
import { type Layers, overlay, type Segments, uniform } from '../ranges/segments.ts'
import type { Parts } from './parts.ts'
import { registeredSystems } from './registered-countries.ts'
import { allSystems, sizeColumns } from './systems.ts'

/** Holds the statements of the files of systems and of registrations, before any list. An index counts systems in order of ASN. */
export type Outlines = ReturnType<typeof measureOutlines>

export function measureOutlines(parts: Pick<Parts, 'systems' | 'fallbacks' | 'registrations'>) {
  const files = [parts.systems, ...parts.fallbacks]
  const all = allSystems(files.flatMap((file) => FAMILIES.flatMap((family) => file[family] ?? [])))
  const { asns, names } = all
  const rules = names.map(findNameRule)
  const layers = systemLayers(files, all)
  const sizes = sizeColumns(layers, asns.length)
  const registered = registeredSystems(parts.registrations, layers, asns.length)
  const sides = Int8Array.from(asns, (asn, index) => systemSide(asn, rules[index]))
  const { octets, neighbours } = countSurroundings(layers[4], sides)
  return {
    asns,
    names,
    rules,
    layers,
    /** The IPv6 layer with the gaps that are one system's. */
    filled: fillGaps6(layers[6]),
    sizes,
    registered,
    readShape: (index: number): SystemShape => ({
      ipv4Addresses: sizes.ipv4Addresses[index] as number,
      ipv4Prefixes: sizes.ipv4Prefixes[index] as number,
      ipv6Prefixes: sizes.ipv6Prefixes[index] as number,
      ipv4Blocks: octets[index] as number,
      countries: registered.counts[index + 1] as number,
      neighbours: neighbours(index),
    }),
  }
}

/** Returns 1 for a host, -1 for an access network, 0 for a system that is neither or does not say so. */
function systemSide(asn: number, rule: NamedType | undefined): number {
  const { type } = typeByRule(asn, rule)
  if (type === 'hosting') return 1
  return type === 'isp' || type === 'mobile' ? -1 : 0
}

/** Counts the first octets in which each system's IPv4 segments begin, and the sides in the same /16s. */
function countSurroundings({ starts, values, count }: Segments, sides: Int8Array) {
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

/**
 * Returns the systems of both families as segments. Values are positions in order of ASN, from 1; the first file that has a system at a
 * place decides.
 */
function systemLayers(
  files: readonly PerFamily<SystemRanges>[],
  { positionsIn }: ReturnType<typeof allSystems>,
): Layers {
  const layer = (family: 4 | 6) => {
    const [first = uniform(family, 0), ...further] = files.flatMap(({ [family]: read }) => {
      if (read === undefined) return []
      const positions = positionsIn(read)
      return layOut(mapValues(read.ranges, (system) => positions[system] as number))
    })
    return further.reduce((known, next) => overlay(known, next, (system, other) => system || other), first)
  }
  return { 4: layer(4), 6: layer(6) }
}

/**
 * Registries give out these IPv6 blocks whole: where one system routes so many parts of a block, and nine of ten, the gaps are its own. Of
 * parts that were held out, this held for 95 in 100, and for 98 in the larger blocks.
 */
const WHOLE = [
  { length: 28, parts: 10 },
  { length: 32, parts: 3 },
] as const
const MOST = 0.9

/** Fills such gaps in the IPv6 layer: the address of a visitor is routed by now. */
function fillGaps6(layer: Segments): Segments {
  const writer = createRangeWriter(6)
  for (const { length, parts: least } of WHOLE) {
    const low = 2 ** (32 - length) - 1
    const blocks = new Map<number, Map<number, number>>()
    for (const [segment, system] of layer.values.subarray(0, layer.count).entries()) {
      if (system === 0) continue
      const block = ((layer.starts[segment * WORDS[6]] as number) & ~low) >>> 0
      const parts = blocks.get(block) ?? new Map<number, number>()
      blocks.set(block, parts.set(system, (parts.get(system) ?? 0) + 1))
    }
    for (const [block, parts] of blocks) {
      const all = [...parts.values()].reduce((sum, count) => sum + count, 0)
      const most = [...parts].find(([, count]) => count >= least && count >= all * MOST)
      if (most !== undefined) writer.add(address6(block, 0, 0, 0), address6(block | low, -1, -1, -1), most[0])
    }
  }
  return overlay(layer, layOut(writer.finish()), (known, fill) => known || fill)
}
