import { AS_TYPES, coverRange, foldName, NETWORK_CLASSES, type SystemType } from '@sallyport/core'
import { packTexts } from '../columns/encode.ts'
import { BASES } from '../format/tables.ts'
import { createNumbering } from '../parse/numbering.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'
import { entrySize } from '../ranges/entry.ts'
import { largestFirst } from '../ranges/range-order.ts'
import { FAMILIES } from '../ranges/ranges.ts'
import { type Layers, readBounds } from '../ranges/segments.ts'

/** The largest numbers that the columns of brands and lists can hold. */
const MAX_BRANDS = 0xffff
const MAX_LISTS = 0xff

/**
 * Merges the systems of all files in order of ASN; `positionsIn` returns the positions of a file's systems among them, from 1. The first
 * file that has a system names it.
 */
export function allSystems(files: readonly SystemRanges[]) {
  const sorted = Uint32Array.from(files.flatMap(({ asns }) => asns)).sort()
  const numbers = new Map<number, number>()
  let count = 0
  for (const asn of sorted) {
    if (count > 0 && sorted[count - 1] === asn) continue
    numbers.set(asn, count)
    sorted[count++] = asn
  }
  const names = new Array<string>(count)
  for (const { asns, names: given } of files.toReversed()) {
    for (const [system, asn] of asns.entries()) names[numbers.get(asn) as number] = given[system] as string
  }
  return {
    asns: sorted.slice(0, count),
    names,
    positionsIn: ({ asns }: SystemRanges) => Uint32Array.from(asns, (asn) => (numbers.get(asn) as number) + 1),
  }
}

/** Makes columns of the systems' types: numbers into the vocabularies, and into `brands` and `lists`, which begin with ''. */
export function systemColumns(size: number, typeAt: (index: number) => SystemType) {
  const brands = createNumbering(MAX_BRANDS)
  const lists = createNumbering(MAX_LISTS)
  const columns = {
    types: new Uint8Array(size),
    classes: new Uint8Array(size),
    bases: new Uint8Array(size),
    hostLike: new Uint8Array(size),
    brands: new Uint16Array(size),
    lists: new Uint8Array(size),
  }
  for (let index = 0; index < size; index++) {
    const { type, networkClass, brand, basis, list, hostLike } = typeAt(index)
    columns.types[index] = AS_TYPES.indexOf(type)
    columns.classes[index] = NETWORK_CLASSES.indexOf(networkClass)
    columns.bases[index] = BASES.indexOf(basis)
    columns.hostLike[index] = hostLike === true ? 1 : 0
    columns.brands[index] = brands.number(brand)
    columns.lists[index] = lists.number(list)
  }
  return { columns, brands: ['', ...brands.list()], lists: ['', ...lists.list()] }
}

/** Counts each system's IPv4 addresses, and the prefixes of the minimal cover of its ranges. */
export function sizeColumns(layers: Layers, size: number) {
  const addresses = new Float64Array(size)
  const prefixes = { 4: new Uint32Array(size), 6: new Uint32Array(size) }
  for (const family of FAMILIES) {
    const { values, count } = layers[family]
    const counts = prefixes[family]
    for (let segment = 0; segment < count; segment++) {
      const index = (values[segment] as number) - 1
      if (index === -1) continue
      const { first, last } = readBounds(layers[family], segment)
      counts[index] = (counts[index] as number) + coverRange(first, last).length
      if (family === 4) addresses[index] = (addresses[index] as number) + entrySize({ first, last })
    }
  }
  return { ipv4Prefixes: prefixes[4], ipv6Prefixes: prefixes[6], ipv4Addresses: addresses }
}

/** Sorts the directory of systems in its orders, and folds the names for the search. `names` is by position. */
export function directoryColumns(
  names: readonly string[],
  { ipv4Addresses, ipv4Prefixes, ipv6Prefixes }: ReturnType<typeof sizeColumns>,
) {
  const byAddresses = largestFirst(ipv4Addresses)
  const { bytes, ends } = packTexts([...byAddresses].map((position) => `${foldName(names[position] as string)}\n`))
  return {
    byAddresses,
    byPrefixes: largestFirst(ipv4Prefixes.map((count, position) => count + (ipv6Prefixes[position] as number))),
    folded: bytes,
    foldedEnds: ends,
  }
}
