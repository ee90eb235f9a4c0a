import {
  type Address,
  type CountryTable,
  findRegion,
  findTwin,
  type GeoReader,
  type GeoRecord,
  isGateway,
  type KnownCountry,
  type RegionTable,
  SallyportError,
  type SourceStatus,
} from '@sallyport/core'
import { FAMILIES } from '../ranges/ranges.ts'
import type { CityTable } from './city.ts'
import { completed, type PlaceTable } from './places.ts'

/** One city source as it was opened, or why it could not be. */
export interface OpenedCity {
  readonly status: SourceStatus
  /** The one family that the source is for; absent for both. */
  readonly family?: 4 | 6 | undefined
  readonly cities?: CitySourceReader | undefined
}

/** Reads a city database. Its countries are there from the start, its places when a lookup first needs one. */
export interface CitySourceReader {
  /** Families of which some address has a record. */
  readonly families: readonly (4 | 6)[]
  country(address: Address): string | undefined
  /** Opens the places, once. Rejects with `missing_data` or `corrupt_data` when that fails. */
  places(): Promise<PlaceReader>
  /** Returns the places when they are open. */
  opened(): PlaceReader | undefined
}

type PlaceReader = Pick<CityTable, 'read'>

/** Readers of places: members are absent when no source could be opened. */
export interface Cities {
  readonly geo?: GeoReader | undefined
  readonly countries?: CountryTable | undefined
  /** Knows the places of city databases from when they are open. */
  readonly regions?: RegionTable | undefined
}

/**
 * Joins city sources in order of preference: for each family it reads the first source that has an address of it. For a family that none
 * has, `read` rejects with `missing_data`, because nothing was looked up. The places that operators publish of their own prefixes
 * (`places`) come before all of them, and tables of countries after them.
 */
export function joinCities(
  opened: readonly OpenedCity[],
  { places, countries }: Pick<Cities, 'countries'> & { readonly places?: PlaceTable | undefined } = {},
): Cities {
  const findReader = (wanted: 4 | 6) =>
    opened.find(({ family = wanted, cities }) => family === wanted && cities?.families.includes(wanted))
  const readers = { 4: findReader(4), 6: findReader(6) }
  const families = FAMILIES.filter((family) => readers[family] !== undefined)
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
    regions: joinRegions(readers, places),
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

type Readers = Readonly<Record<4 | 6, OpenedCity | undefined>>

/** An operator's code goes first, then the name in a city database, unless both disagree on the country. */
function joinRegions(readers: Readers, places: PlaceTable | undefined): RegionTable {
  const readCode = createRegionNames()
  return {
    find(address) {
      const place = places?.find(address)
      const code = places?.region(address) ?? findTwin(place?.countryCode ?? '')
      if (code !== undefined) return { code, source: place?.source ?? '', basis: 'geofeed' }
      const reader = readers[address.family]
      const { countryCode, region = '', city = '' } = reader?.cities?.opened()?.read(address) ?? {}
      if (countryCode === undefined || (place?.countryCode ?? countryCode) !== countryCode) return undefined
      const named = readCode(countryCode, region) ?? findTwin(countryCode)
      if (named === undefined) return undefined
      // Of IPv6 these files know the operator's place: of homes in the US they name the right region of fewer than half.
      const isVague = address.family === 6 || isGateway(named, city)
      return { code: named, source: reader?.status.id ?? '', basis: 'city', ...(isVague && { isVague }) }
    },
  }
}

/** Finds codes by names, each once: a database has some thousand names. */
function createRegionNames(): typeof findRegion {
  const kept = new Map<string, string | undefined>()
  return (country, name) => {
    const key = `${country} ${name}`
    if (!kept.has(key)) kept.set(key, findRegion(country, name))
    return kept.get(key)
  }
}

/** Creates one object for each country that a source names. */
function createSaid(): (code: string, source: string, basis: KnownCountry['basis']) => KnownCountry {
  const kept = new Map<string, Map<string, KnownCountry>>()
  return (code, source, basis) => {
    const known = kept.get(source)?.get(code)
    if (known !== undefined) return known
    const country = Object.freeze({ code, source, basis })
    kept.set(source, (kept.get(source) ?? new Map()).set(code, country))
    return country
  }
}

/** A city database that cannot be read takes nothing from what the operator says. */
async function readSafely(cities: CitySourceReader | undefined, address: Address): Promise<GeoRecord | undefined> {
  const places = await cities?.places().catch(() => undefined)
  return places?.read(address)
}
