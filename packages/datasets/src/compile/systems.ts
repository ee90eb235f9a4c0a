import { AS_TYPES, NETWORK_CLASSES, parseAsn, type SystemBasis, type SystemType } from '@sallyport/core/tables'
import { type CsvFile, readLastField, readRangeLines } from '../parse/csv.ts'
import type { Ranges } from '../parse/ranges.ts'

/** What `AutonomousSystem.basis` may be; the order is its number in a compiled file. */
export const BASES = ['operator', 'name', 'list', 'prefixes', 'shape', 'none'] as const satisfies readonly SystemBasis[]

/** Ranges of the systems, and their names, never empty; values count the systems from 0 as they come. */
export interface SystemRanges {
  readonly ranges: Ranges
  readonly asns: readonly number[]
  readonly names: readonly string[]
}

/** Reads `start,end,asn,organisation` lines. Throws `corrupt_data`. */
export function readSystemRanges(
  { path, bytes }: CsvFile,
  family: 4 | 6,
  onRead?: (bytesRead: number) => void,
): SystemRanges {
  const asns: number[] = []
  const names: string[] = []
  const numbers = new Map<number, number>()
  const numberOf = (fields: string): number | undefined => {
    const comma = fields.indexOf(',')
    const asn = parseAsn(fields.slice(0, Math.max(comma, 0)))
    if (asn === undefined || asn === 0) return undefined
    const known = numbers.get(asn)
    if (known !== undefined) return known
    const name = readLastField(fields.slice(comma + 1))
    if (name === undefined) return undefined
    numbers.set(asn, asns.push(asn) - 1)
    return names.push(name.trim() || `AS${asn}`) - 1
  }
  const ranges = readRangeLines({ path, bytes }, family, numberOf, onRead)
  return { ranges, asns, names }
}

/** All systems of both files in order of ASN, and the position of each file's systems among them, from 1. */
export interface AllSystems {
  readonly asns: Uint32Array
  readonly names: readonly string[]
  readonly positions: Readonly<Record<4 | 6, Uint32Array>>
}

/** Puts the systems of both families together; a name in the IPv4 file goes before the other one. */
export function allSystems(systems: Readonly<Partial<Record<4 | 6, SystemRanges>>>): AllSystems {
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
  const brands = createNumbered()
  const lists = createNumbered()
  const columns = {
    types: new Uint8Array(size),
    classes: new Uint8Array(size),
    bases: new Uint8Array(size),
    brandNumbers: new Uint16Array(size),
    listNumbers: new Uint8Array(size),
  }
  for (let index = 0; index < size; index++) {
    const { type, networkClass, brand, basis, list = '' } = typeAt(index)
    columns.types[index] = AS_TYPES.indexOf(type)
    columns.classes[index] = NETWORK_CLASSES.indexOf(networkClass)
    columns.bases[index] = BASES.indexOf(basis)
    columns.brandNumbers[index] = brands.numberOf(brand)
    columns.listNumbers[index] = lists.numberOf(list)
  }
  return { ...columns, brands: brands.texts, lists: lists.texts }
}

/** Distinct texts in the order in which they come, the empty one first. */
function createNumbered() {
  const texts = ['']
  const numbers = new Map<string, number>()
  return {
    texts,
    numberOf(text: string): number {
      if (text === '') return 0
      const known = numbers.get(text)
      if (known !== undefined) return known
      numbers.set(text, texts.length)
      return texts.push(text) - 1
    },
  }
}
