import { AS_TYPES, NETWORK_CLASSES, type SystemType } from '@sallyport/core'
import { BASES } from '../format/tables.ts'
import type { PerFamily } from '../parse/contents.ts'
import { createNumbering } from '../parse/numbering.ts'
import type { SystemRanges } from '../parse/system-ranges.ts'

/** The largest numbers that the columns of brands and lists can hold. */
const MAX_BRANDS = 0xffff
const MAX_LISTS = 0xff

/** All systems of both files in order of ASN, and the position of each file's systems among them, from 1. */
export interface AllSystems {
  readonly asns: Uint32Array
  readonly names: readonly string[]
  readonly positions: Readonly<Record<4 | 6, Uint32Array>>
}

/** Puts the systems of both families together; a name in the IPv4 file goes before the other one. */
export function allSystems(systems: PerFamily<SystemRanges>): AllSystems {
  const { 4: four, 6: six } = systems
  const sorted = Uint32Array.from([...(four?.asns ?? []), ...(six?.asns ?? [])]).sort()
  const numbers = new Map<number, number>()
  let count = 0
  for (const asn of sorted) {
    if (count > 0 && sorted[count - 1] === asn) continue
    numbers.set(asn, count)
    sorted[count++] = asn
  }
  const names = new Array<string>(count)
  const positionsIn = (file: SystemRanges | undefined) => {
    const positions = new Uint32Array(file?.asns.length ?? 0)
    for (let system = 0; system < positions.length; system++) {
      const position = numbers.get(file?.asns[system] as number) as number
      names[position] = file?.names[system] as string
      positions[system] = position + 1
    }
    return positions
  }
  const positions6 = positionsIn(six)
  return { asns: sorted.slice(0, count), names, positions: { 4: positionsIn(four), 6: positions6 } }
}

/** What each system is, as columns: numbers into the vocabularies, and into `brands` and `lists`, which begin with ''. */
export interface SystemColumns {
  readonly types: Uint8Array
  readonly classes: Uint8Array
  readonly bases: Uint8Array
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
    brandNumbers: new Uint16Array(size),
    listNumbers: new Uint8Array(size),
  }
  for (let index = 0; index < size; index++) {
    const { type, networkClass, brand, basis, list } = typeAt(index)
    columns.types[index] = AS_TYPES.indexOf(type)
    columns.classes[index] = NETWORK_CLASSES.indexOf(networkClass)
    columns.bases[index] = BASES.indexOf(basis)
    columns.brandNumbers[index] = brands.number(brand)
    columns.listNumbers[index] = lists.number(list)
  }
  return { ...columns, brands: ['', ...brands.list()], lists: ['', ...lists.list()] }
}
