import { AS_TYPES, NETWORK_CLASSES, type SystemType } from '@sallyport/core'
import { BASES } from '../format/tables.ts'
import { createNumbering } from '../parse/numbering.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'

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
