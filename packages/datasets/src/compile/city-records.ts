import { type GeoRecord, SallyportError } from '@sallyport/core'
import { type CityColumns, type CityDescription, DEGREE, ID_BYTES, NO_PLACE } from '../format/city.ts'
import { createNumbering } from '../parse/numbering.ts'

export type RecordColumns = Pick<CityColumns, Extract<keyof CityColumns, `records.${string}` | `texts.${string}`>>

/** Collects the distinct records of a city database as columns. Record 0 is there from the start and is none. */
export interface RecordWriter {
  /** Gives the number of the record. Throws `corrupt_data` for one that the columns cannot hold. */
  add(record: GeoRecord): number
  finish(): { readonly columns: RecordColumns } & Pick<CityDescription, 'countries' | 'zones'>
}

const MAX_COUNTRIES = 255
const MAX_ZONES = 65_535
const MAX_RADIUS = 65_535
const MAX_RECORDS = 2 ** (8 * ID_BYTES)

export function createRecordWriter(): RecordWriter {
  const rows = {
    countries: [0],
    zones: [0],
    cities: [0],
    regions: [0],
    postalCodes: [0],
    latitudes: [NO_PLACE],
    longitudes: [NO_PLACE],
    radii: [0],
  }
  const countries = createNumbering(MAX_COUNTRIES)
  const zones = createNumbering(MAX_ZONES)
  const texts = createNumbering(2 ** 32 - 1)

  return {
    add({ countryCode, city, region, postalCode, latitude, longitude, timezone, accuracyRadius: radius = 0 }) {
      if (!Number.isInteger(radius) || radius > MAX_RADIUS) {
        throw new SallyportError('corrupt_data', `an accuracy radius of ${radius} km`)
      }
      if (rows.radii.length === MAX_RECORDS) throw new SallyportError('corrupt_data', 'more records than are possible')
      rows.countries.push(countries.number(countryCode))
      rows.zones.push(zones.number(timezone))
      rows.cities.push(texts.number(city))
      rows.regions.push(texts.number(region))
      rows.postalCodes.push(texts.number(postalCode))
      rows.latitudes.push(latitude === undefined ? NO_PLACE : Math.round(latitude * DEGREE))
      rows.longitudes.push(longitude === undefined ? NO_PLACE : Math.round(longitude * DEGREE))
      return rows.radii.push(radius) - 1
    },
    finish() {
      const list = texts.list()
      let end = 0
      return {
        columns: {
          'records.countries': Uint8Array.from(rows.countries),
          'records.zones': Uint16Array.from(rows.zones),
          'records.cities': Uint32Array.from(rows.cities),
          'records.regions': Uint32Array.from(rows.regions),
          'records.postalCodes': Uint32Array.from(someOf(rows.postalCodes)),
          'records.latitudes': Int32Array.from(rows.latitudes),
          'records.longitudes': Int32Array.from(rows.longitudes),
          'records.radii': Uint16Array.from(someOf(rows.radii)),
          'texts.bytes': Buffer.from(list.join('')),
          'texts.ends': Uint32Array.from(list, (text) => (end += Buffer.byteLength(text))),
        },
        countries: countries.list(),
        zones: zones.list(),
      }
    },
  }
}

/** A column in which no record says anything is left empty. */
function someOf(column: readonly number[]): readonly number[] {
  return column.some((value) => value !== 0) ? column : []
}
