import type { Ranges } from '../ranges/ranges.ts'
import { type CsvFile, readRangeLines } from './csv.ts'
import type { Numbering } from './numbering.ts'

/** Country numbers, and one more, fit one byte. */
export const MAX_COUNTRIES = 254

/** Reads `start,end,country` lines; values are numbers of countries, 0 for ZZ, which means unknown. Throws `corrupt_data`. */
export function readCountryRanges(
  file: CsvFile,
  family: 4 | 6,
  countries: Numbering,
  onRead?: (bytesRead: number) => void,
): Ranges {
  const countryNumber = (code: string) => {
    if (!/^[A-Z]{2}$/.test(code)) return undefined
    return countries.number(code === 'ZZ' ? undefined : code)
  }
  return readRangeLines(file, family, countryNumber, onRead)
}
