import { AS_TYPES, NETWORK_CLASSES, type SystemBasis, type SystemType } from '@sallyport/core/tables'
import { BAD_LINE, type CsvFile, readAsn, readLastField, readRangeLines } from '../parse/csv.ts'
import type { Ranges } from '../parse/ranges.ts'

/** What `AutonomousSystem.basis` may be; the order is its number in a compiled file. */
export const BASES = ['operator', 'name', 'list', 'prefixes', 'shape', 'none'] as const satisfies readonly SystemBasis[]

/** Ranges of the systems, and the name of each, never empty, by ASN; values count the names from 0. */
export interface SystemRanges {
  readonly ranges: Ranges
  readonly names: ReadonlyMap<number, string>
}

/** Reads `start,end,asn,organisation` lines. Throws `corrupt_data`. */
export function readSystemRanges(
  { path, bytes }: CsvFile,
  family: 4 | 6,
  onRead?: (bytesRead: number) => void,
): SystemRanges {
  const names = new Map<number, string>()
  const numbers = createNumbers()
  const numberAt = (start: number, end: number): number => {
    const system = readAsn(bytes, start, end)
    if (system === undefined) return BAD_LINE
    const known = numbers.get(system.asn)
    if (known !== undefined) return known
    const name = readLastField(bytes, system.next, end)
    if (name === undefined) return BAD_LINE
    numbers.set(system.asn, names.size)
    names.set(system.asn, name.trim() || `AS${system.asn}`)
    return names.size - 1
  }
  return { ranges: readRangeLines({ path, bytes }, family, numberAt, onRead), names }
}

/** Nearly all ASNs that are given out are below this. */
const LOW_ASNS = 2 ** 19

/** Numbers by ASN, as a map of them would hold them, in a tenth of the time. */
function createNumbers() {
  const low = new Int32Array(LOW_ASNS)
  const others = new Map<number, number>()
  return {
    get(asn: number): number | undefined {
      if (asn >= LOW_ASNS) return others.get(asn)
      const number = low[asn] as number
      return number === 0 ? undefined : number - 1
    },
    set(asn: number, number: number): void {
      if (asn < LOW_ASNS) low[asn] = number + 1
      else others.set(asn, number)
    },
  }
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
