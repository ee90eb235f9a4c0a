import { AS_TYPES, NETWORK_CLASSES, typeOfSystem } from '@sallyport/core'
import { type CsvFile, readAsn, readLastField, readRangeLines } from '../parse/csv.ts'
import { createRangeWriter, type Ranges } from '../parse/ranges.ts'

/** What `AutonomousSystem.basis` may be; the order is its number in a compiled file. */
export const BASES = ['operator', 'name', 'none'] as const

/** Ranges of which the values are ASNs, and the name of each ASN, never empty. */
export interface SystemRanges {
  readonly ranges: Ranges
  readonly names: ReadonlyMap<number, string>
}

/** Reads `start,end,asn,organisation` lines. Throws `corrupt_data`. */
export function readSystemRanges(file: CsvFile, family: 4 | 6, onRead: (bytesRead: number) => void): SystemRanges {
  const ranges = createRangeWriter(65_536)
  const names = new Map<number, string>()
  readRangeLines(
    file,
    family,
    (line) => {
      const system = readAsn(file.text, line)
      if (system === undefined) return false
      if (!names.has(system.asn)) {
        const name = readLastField(file, system.next, line.end)
        if (name === undefined) return false
        names.set(system.asn, name.trim() || `AS${system.asn}`)
      }
      ranges.add(line.first, line.last, system.asn)
      return true
    },
    onRead,
  )
  return { ranges: ranges.finish(), names }
}

/** What each system is, as columns: numbers into the vocabularies, and into `brands`, of which the first is ''. */
export interface SystemTypes {
  readonly types: Uint8Array
  readonly classes: Uint8Array
  readonly bases: Uint8Array
  readonly brandNumbers: Uint16Array
  readonly brands: readonly string[]
}

export function typeSystems(asns: Uint32Array, names: ReadonlyMap<number, string>): SystemTypes {
  const brands = new Map([['', 0]])
  const columns = {
    types: new Uint8Array(asns.length),
    classes: new Uint8Array(asns.length),
    bases: new Uint8Array(asns.length),
    brandNumbers: new Uint16Array(asns.length),
  }
  for (const [position, asn] of asns.entries()) {
    const { type, networkClass, brand, basis } = typeOfSystem(asn, names.get(asn) as string)
    if (!brands.has(brand)) brands.set(brand, brands.size)
    columns.types[position] = AS_TYPES.indexOf(type)
    columns.classes[position] = NETWORK_CLASSES.indexOf(networkClass)
    columns.bases[position] = BASES.indexOf(basis)
    columns.brandNumbers[position] = brands.get(brand) as number
  }
  return { ...columns, brands: [...brands.keys()] }
}
