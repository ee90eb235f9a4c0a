import { SallyportError } from '@sallyport/core/tables'
import { BAD_LINE, type CsvFile, readRangeLines } from '../parse/csv.ts'
import { compareAt, type Ranges } from '../parse/ranges.ts'
import { addressesBetween, type Segments } from './segments.ts'

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
  const { bytes } = file
  return readRangeLines(file, family, onProgress, ({ count, rests, ends, values }) => {
    for (let line = 0; line < count; line++) {
      const start = rests[line] as number
      const first = bytes[start] as number
      const second = bytes[start + 1] as number
      const isCode = (ends[line] as number) - start === 2 && isCapital(first) && isCapital(second)
      values[line] = isCode ? countries.number((first << 8) | second) : BAD_LINE
    }
  })
}

function isCapital(code: number): boolean {
  return code >= 65 && code <= 90
}

/** Both layers of one family: which system an address is of, and where it is registered. */
export interface Registration {
  readonly systems: Segments
  readonly countries: Segments
}

/** What the registries say of the systems, by position from 1. */
export interface RegisteredSystems {
  /** The country in which most addresses of a system are registered; 0 when unknown. */
  readonly countries: Uint8Array
  /** In how many countries its IPv4 addresses are registered. */
  readonly counts: Uint16Array
}

/**
 * Where systems are registered, by the countries of their addresses. The first layer in which a system has any address
 * decides, so IPv6 counts only for systems without IPv4.
 */
export function registeredSystems(layers: readonly Registration[], systemCount: number): RegisteredSystems {
  const countries = new Uint8Array(systemCount + 1)
  const counts = new Uint16Array(systemCount + 1)
  for (const layer of layers) {
    const { firsts, sums, others } = sumsOf(layer, systemCount)
    const winners = firsts.slice()
    const counted = layer.systems.family === 4 ? 1 : 0
    for (let system = 1; system <= systemCount; system++) {
      if (firsts[system] !== 0) counts[system] = (counts[system] as number) + counted
    }
    for (const [key, addresses] of others) {
      const system = key >>> 8
      counts[system] = (counts[system] as number) + counted
      if (addresses > (sums[system] as number)) {
        sums[system] = addresses
        winners[system] = key & 255
      }
    }
    for (let system = 1; system <= systemCount; system++) {
      if (countries[system] === 0) countries[system] = winners[system] as number
    }
  }
  return { countries, counts }
}

/** How many addresses of each system are registered in each country. */
interface Sums {
  /** Most systems are in one country: the first that is met, 0 for none, and its sum have columns. */
  readonly firsts: Uint8Array
  readonly sums: Float64Array
  /** The others, by `system << 8 | country`. */
  readonly others: ReadonlyMap<number, number>
}

function sumsOf({ systems, countries }: Registration, systemCount: number): Sums {
  const { family } = systems
  const firsts = new Uint8Array(systemCount + 1)
  const sums = new Float64Array(systemCount + 1)
  const others = new Map<number, number>()
  let from = systems.starts
  let place = 0
  // The last segments have no end here; the top of both families is reserved, so nothing is lost.
  for (let atX = 0, atY = 0; atX + 1 < systems.count || atY + 1 < countries.count; ) {
    const system = systems.values[atX] as number
    const country = countries.values[atY] as number
    const isLastX = atX + 1 === systems.count
    const isLastY = atY + 1 === countries.count
    const order = isLastX ? 1 : isLastY ? -1 : compareAt(family, systems.starts, atX + 1, countries.starts, atY + 1)
    if (order <= 0) atX++
    if (order >= 0) atY++
    const to = order <= 0 ? systems.starts : countries.starts
    const end = order <= 0 ? atX : atY
    if (system !== 0 && country !== 0) {
      const addresses = addressesBetween(family, from, place, to, end)
      if (firsts[system] === 0) firsts[system] = country
      if (firsts[system] === country) sums[system] = (sums[system] as number) + addresses
      else others.set((system << 8) | country, (others.get((system << 8) | country) ?? 0) + addresses)
    }
    from = to
    place = end
  }
  return { firsts, sums, others }
}
