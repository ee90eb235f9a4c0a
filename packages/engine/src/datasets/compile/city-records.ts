import { createGrowingColumn, type GeoRecord, type GrowingColumn, SallyportError } from '@sallyport/core'
import { type CityColumns, type CityDescription, DEGREE, ID_BYTES, NO_PLACE } from '../format/city.ts'
import { createNumbering } from '../parse/numbering.ts'

export type RecordColumns = Pick<CityColumns, Extract<keyof CityColumns, `records.${string}` | `texts.${string}`>>

/** Collects the distinct records of a city database as columns. Record 0 exists from the start and means no record. */
export interface RecordWriter {
  /** Returns the number of the record. Throws `corrupt_data` for a record that the columns cannot hold. */
  add(record: GeoRecord): number
  finish(): { readonly columns: RecordColumns } & Pick<CityDescription, 'countries' | 'zones'>
}

const MAX_COUNTRIES = 255
const MAX_ZONES = 65_535
const MAX_RADIUS = 65_535
const MAX_RECORDS = 2 ** (8 * ID_BYTES)

export function createRecordWriter(): RecordWriter {
  const rows = {
    countries: createColumn(0),
    zones: createColumn(0),
    cities: createColumn(0),
    regions: createColumn(0),
    postalCodes: createColumn(0),
    latitudes: createColumn(NO_PLACE),
    longitudes: createColumn(NO_PLACE),
    radii: createColumn(0),
  }
  const countries = createNumbering(MAX_COUNTRIES)
  const zones = createNumbering(MAX_ZONES)
  const texts = createNumbering(2 ** 32 - 1)

  return {
    add({ countryCode, city, region, postalCode, latitude, longitude, timezone, accuracyRadius: radius = 0 }) {
      if (!Number.isInteger(radius) || radius > MAX_RADIUS) {
        throw new SallyportError('corrupt_data', `a record has an accuracy radius of ${radius} km`)
      }
      if (rows.radii.length === MAX_RECORDS) throw new SallyportError('corrupt_data', 'the file has too many records')
      rows.countries.push(countries.number(countryCode))
      rows.zones.push(zones.number(timezone))
      rows.cities.push(texts.number(city))
      rows.regions.push(texts.number(region))
      rows.postalCodes.push(texts.number(postalCode))
      rows.latitudes.push(latitude === undefined ? NO_PLACE : Math.round(latitude * DEGREE))
      rows.longitudes.push(longitude === undefined ? NO_PLACE : Math.round(longitude * DEGREE))
      rows.radii.push(radius)
      return rows.radii.length - 1
    },
    finish() {
      const list = texts.list()
      let end = 0
      return {
        columns: {
          'records.countries': Uint8Array.from(rows.countries.finish()),
          'records.zones': Uint16Array.from(rows.zones.finish()),
          'records.cities': rows.cities.finish(),
          'records.regions': rows.regions.finish(),
          'records.postalCodes': dropEmpty(rows.postalCodes.finish()),
          'records.latitudes': viewSigned(rows.latitudes.finish()),
          'records.longitudes': viewSigned(rows.longitudes.finish()),
          'records.radii': Uint16Array.from(dropEmpty(rows.radii.finish())),
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
function dropEmpty(column: Uint32Array): Uint32Array {
  return column.some((value) => value !== 0) ? column : new Uint32Array(0)
}

/** Creates a column for some hundred thousand numbers, which would take twice the room in the heap. */
function createColumn(first: number): GrowingColumn {
  const column = createGrowingColumn()
  column.push(first)
  return column
}

function viewSigned({ buffer, byteOffset, length }: Uint32Array): Int32Array {
  return new Int32Array(buffer, byteOffset, length)
}
