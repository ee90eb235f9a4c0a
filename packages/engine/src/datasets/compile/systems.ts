import { AS_TYPES, NETWORK_CLASSES, type SystemType } from '@sallyport/core'
import { BASES } from '../format/tables.ts'
import { createNumbering } from '../parse/numbering.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'

/** The largest numbers that the columns of brands and lists can hold. */
const MAX_BRANDS = 0xffff
const MAX_LISTS = 0xff

/** Holds all systems of all files in order of ASN, and for each file the positions of its systems among them, from 1. */
export interface AllSystems {
  readonly asns: Uint32Array
  readonly names: readonly string[]
  positionsIn(file: SystemRanges): Uint32Array
}

/** Merges the systems of all files. The first file that has a system names it. */
export function allSystems(files: readonly SystemRanges[]): AllSystems {
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
    positionsIn: ({ asns }) => Uint32Array.from(asns, (asn) => (numbers.get(asn) as number) + 1),
  }
}

/** Systems' types as columns: numbers into the vocabularies, and into `brands` and `lists`, which begin with ''. */
export interface SystemColumns {
  readonly types: Uint8Array
  readonly classes: Uint8Array
  readonly bases: Uint8Array
  readonly hostLike: Uint8Array
  readonly brandNumbers: Uint16Array
  readonly brands: readonly string[]
  readonly listNumbers: Uint8Array
  readonly lists: readonly string[]
}

export function systemColumns(size: number, typeAt: (index: number) => SystemType): SystemColumns {
  const brands = createNumbering(MAX_BRANDS)
  const lists = createNumbering(MAX_LISTS)
  const columns = {
    types: new Uint8Array(size),
    classes: new Uint8Array(size),
    bases: new Uint8Array(size),
    hostLike: new Uint8Array(size),
    brandNumbers: new Uint16Array(size),
    listNumbers: new Uint8Array(size),
  }
  for (let index = 0; index < size; index++) {
    const { type, networkClass, brand, basis, list, hostLike } = typeAt(index)
    columns.types[index] = AS_TYPES.indexOf(type)
    columns.classes[index] = NETWORK_CLASSES.indexOf(networkClass)
    columns.bases[index] = BASES.indexOf(basis)
    columns.hostLike[index] = hostLike === true ? 1 : 0
    columns.brandNumbers[index] = brands.number(brand)
    columns.listNumbers[index] = lists.number(list)
  }
  return { ...columns, brands: ['', ...brands.list()], lists: ['', ...lists.list()] }
}
