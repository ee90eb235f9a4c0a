import { SallyportError } from '@sallyport/core'
import { type CsvFile, readRangeLines } from '../parse/csv.ts'
import { createRangeWriter, type Ranges } from '../parse/ranges.ts'
import { addressesBetween, overlay, type Segments } from './segments.ts'

/** Country numbers, and one more, fit one byte; 0 is unknown. */
const MOST_COUNTRIES = 254

/** Two-letter codes met in any source, numbered from 1. */
export interface CountryRegister {
  /** `letters` is `first << 8 | second`. 0 for what is no code, and for ZZ, which means unknown. */
  number(letters: number): number
  list(): readonly string[]
}

export function createCountryRegister(): CountryRegister {
  const numbers = new Uint8Array(0x10000)
  const codes: string[] = []
  return {
    number(letters) {
      const known = letters < 0 ? 0 : (numbers[letters] as number)
      if (known !== 0 || letters < 0) return known
      const code = String.fromCharCode(letters >> 8, letters & 255)
      if (!/^[A-Z]{2}$/.test(code) || code === 'ZZ') return 0
      if (codes.length === MOST_COUNTRIES) throw new SallyportError('corrupt_data', 'more countries than there are')
      codes.push(code)
      numbers[letters] = codes.length
      return codes.length
    },
    list: () => [...codes],
  }
}

/** Reads `start,end,country` lines; values are country numbers. Throws `corrupt_data`. */
export function readCountryRanges(
  file: CsvFile,
  family: 4 | 6,
  countries: CountryRegister,
  onProgress: (bytesRead: number) => void,
): Ranges {
  const ranges = createRangeWriter(65_536)
  readRangeLines(
    file,
    family,
    ({ first, last, start, end }) => {
      if (!/^[A-Z]{2}$/.test(file.text.slice(start, end))) return false
      const letters = (file.text.charCodeAt(start) << 8) | file.text.charCodeAt(start + 1)
      ranges.add(first, last, countries.number(letters))
      return true
    },
    onProgress,
  )
  return ranges.finish()
}

/** Both layers of one family: which system an address is of, and where it is registered. */
export interface Registration {
  readonly systems: Segments
  readonly countries: Segments
}

/**
 * For each system, by position from 1, the country in which most of its addresses are registered; 0 when unknown. The
 * first layer in which a system has any registered address decides, so IPv6 counts only for systems without IPv4.
 */
export function countriesOfSystems(layers: readonly Registration[], systemCount: number): Uint8Array {
  const decided = new Uint8Array(systemCount + 1)
  for (const layer of layers) {
    const most = new Float64Array(systemCount + 1)
    const winners = new Uint8Array(systemCount + 1)
    for (const [key, addresses] of addressesByPair(layer)) {
      const system = Math.floor(key / 256)
      if (addresses > (most[system] as number)) {
        most[system] = addresses
        winners[system] = key % 256
      }
    }
    for (let system = 1; system <= systemCount; system++) {
      if (decided[system] === 0) decided[system] = winners[system] as number
    }
  }
  return decided
}

/** For each system, by position from 1, in how many countries its addresses are registered. */
export function countryCounts(layer: Registration, systemCount: number): Uint16Array {
  const counts = new Uint16Array(systemCount + 1)
  for (const key of addressesByPair(layer).keys()) {
    const system = Math.floor(key / 256)
    counts[system] = (counts[system] as number) + 1
  }
  return counts
}

/** Addresses by `system * 256 + country`, both known. */
function addressesByPair({ systems, countries }: Registration): ReadonlyMap<number, number> {
  const pairs = overlay([systems, countries], (values) => {
    const system = values[0] as number
    const country = values[1] as number
    return system === 0 || country === 0 ? 0 : system * 256 + country
  })
  const sums = new Map<number, number>()
  for (let index = 0; index < pairs.count; index++) {
    const key = pairs.values[index] as number
    // The last segment of a family has no end here; the top of both families is reserved, so nothing is lost.
    if (key === 0 || index + 1 === pairs.count) continue
    sums.set(key, (sums.get(key) ?? 0) + addressesBetween(pairs.starts, index, pairs.starts, index + 1))
  }
  return sums
}
