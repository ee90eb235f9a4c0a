import {
  AS_TYPES,
  NETWORK_CLASSES,
  type SystemBasis,
  type SystemEvidence,
  type SystemType,
  typeOfSystem,
} from '@sallyport/core'
import { type CsvFile, readAsn, readLastField, readRangeLines } from '../parse/csv.ts'
import { createRangeWriter, type Ranges } from '../parse/ranges.ts'

/** What `AutonomousSystem.basis` may be; the order is its number in a compiled file. */
export const BASES = ['operator', 'name', 'list', 'prefixes', 'shape', 'none'] as const satisfies readonly SystemBasis[]

/** Ranges of which the values are ASNs, and the name of each ASN, never empty. */
export interface SystemRanges {
  readonly ranges: Ranges
  readonly names: ReadonlyMap<number, string>
}

/** Reads `start,end,asn,organisation` lines. Throws `corrupt_data`. */
export function readSystemRanges(file: CsvFile, family: 4 | 6, onRead?: (bytesRead: number) => void): SystemRanges {
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

/** What each system is, in the order of `asns`, by its number, its name and what is known of its prefixes. */
export function typeSystems(
  asns: Uint32Array,
  names: ReadonlyMap<number, string>,
  evidence?: readonly SystemEvidence[],
): readonly SystemType[] {
  return Array.from(asns, (asn, position) => typeOfSystem(asn, names.get(asn) as string, evidence?.[position]))
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

export function systemColumns(systems: readonly SystemType[]): SystemColumns {
  const brands = [...new Set(['', ...systems.map(({ brand }) => brand)])]
  const lists = [...new Set(['', ...systems.map(({ list = '' }) => list)])]
  const brandNumbers = new Map(brands.map((brand, number) => [brand, number]))
  return {
    types: Uint8Array.from(systems, ({ type }) => AS_TYPES.indexOf(type)),
    classes: Uint8Array.from(systems, ({ networkClass }) => NETWORK_CLASSES.indexOf(networkClass)),
    bases: Uint8Array.from(systems, ({ basis }) => BASES.indexOf(basis)),
    brandNumbers: Uint16Array.from(systems, ({ brand }) => brandNumbers.get(brand) as number),
    brands,
    listNumbers: Uint8Array.from(systems, ({ list = '' }) => lists.indexOf(list)),
    lists,
  }
}
