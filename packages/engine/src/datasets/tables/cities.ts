import {
  type Address,
  type CountryTable,
  type GeoReader,
  type GeoRecord,
  type KnownCountry,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core'
import { completed, type PlaceTable } from './places.ts'

/** One city source as it was opened, or why it could not be. */
export interface OpenedCity {
  readonly status: SourceStatus
  /** The one family that the source is for; absent: both. */
  readonly family?: 4 | 6 | undefined
  readonly cities?: CitySourceReader | undefined
}

/** A city database of which the countries are there, and the places from when somebody first asks for one. */
export interface CitySourceReader {
  /** Families of which some address has a record. */
  readonly families: readonly (4 | 6)[]
  country(address: Address): string | undefined
  /** Opens the places, once. Rejects with `missing_data` or `corrupt_data` where that cannot be. */
  places(): Promise<PlaceReader>
}

export interface PlaceReader {
  /** `undefined` where there is no record. */
  read(address: Address): GeoRecord | undefined
}

/** Readers of places: members are absent when no source could be opened. */
export interface Cities {
  readonly geo?: GeoReader | undefined
  readonly countries?: CountryTable | undefined
}

/**
 * Puts city sources together, in order of preference: for each family the first that has an address of it is read. For a
 * family that none has `read` rejects with `missing_data`, because nothing was looked up. What an operator says of its own
 * prefixes (`places`) goes before all of them, and tables of countries after them.
 */
export function joinCities(
  opened: readonly OpenedCity[],
  {
    places,
    countries,
  }: { readonly places?: PlaceTable | undefined; readonly countries?: CountryTable | undefined } = {},
): Cities {
  const readerOf = (wanted: 4 | 6) =>
    opened.find(({ family = wanted, cities }) => family === wanted && cities?.families.includes(wanted))
  const readers = { 4: readerOf(4), 6: readerOf(6) }
  const families = ([4, 6] as const).filter((family) => readers[family] !== undefined)
  if (families.length === 0 && places === undefined) return countries === undefined ? {} : { countries }
  const said = createSaid()
  return {
    geo: {
      families,
      async read(address) {
        const cities = readers[address.family]?.cities
        const place = places?.find(address)
        if (place !== undefined) return completed(place, await readSafely(cities, address))
        if (cities === undefined) {
          throw new SallyportError('missing_data', `no city database for IPv${address.family}`)
        }
        return (await cities.places()).read(address)
      },
    },
    countries: {
      find(address) {
        const place = places?.find(address)
        if (place?.countryCode !== undefined) return said(place.countryCode, place.source ?? '', 'geofeed')
        const reader = readers[address.family]
        const code = reader?.cities?.country(address)
        return code === undefined ? countries?.find(address) : said(code, reader?.status.id ?? '', 'city')
      },
    },
  }
}

/** Countries as sources name them, each one object. */
function createSaid(): (code: string, source: string, basis: KnownCountry['basis']) => KnownCountry {
  const kept = new Map<string, KnownCountry>()
  return (code, source, basis) => {
    const key = `${code} ${source}`
    const known = kept.get(key) ?? Object.freeze({ code, source, basis })
    kept.set(key, known)
    return known
  }
}

/** A city database that cannot be read takes nothing from what the operator says. */
async function readSafely(cities: CitySourceReader | undefined, address: Address): Promise<GeoRecord | undefined> {
  try {
    return (await cities?.places())?.read(address)
  } catch {
    return undefined
  }
}
