import { createGrowingColumn, type GeoRecord, type GrowingColumn, SallyportError } from '@sallyport/core'
import { packTexts } from '../columns/encode.ts'
import { DEGREE, ID_BYTES, NO_PLACE } from '../format/city.ts'
import { prefixed } from '../format/partitions.ts'
import { createNumbering } from '../parse/numbering.ts'

const MAX_COUNTRIES = 255
const MAX_ZONES = 65_535
const MAX_RADIUS = 65_535
const MAX_RECORDS = 2 ** (8 * ID_BYTES)

export type RecordWriter = ReturnType<typeof createRecordWriter>

/** Collects the distinct records of a city database as columns. Record 0 exists from the start and means no record. */
export function createRecordWriter() {
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
    /** Returns the number of the record. Throws `corrupt_data` for a record that the columns cannot hold. */
    add(record: GeoRecord): number {
      const { latitude, longitude, accuracyRadius: radius = 0 } = record
      if (!Number.isInteger(radius) || radius > MAX_RADIUS) {
        throw new SallyportError('corrupt_data', `a record has an accuracy radius of ${radius} km`)
      }
      if (rows.radii.length === MAX_RECORDS) throw new SallyportError('corrupt_data', 'the file has too many records')
      rows.countries.push(countries.number(record.countryCode))
      rows.zones.push(zones.number(record.timezone))
      rows.cities.push(texts.number(record.city))
      rows.regions.push(texts.number(record.region))
      rows.postalCodes.push(texts.number(record.postalCode))
      rows.latitudes.push(latitude === undefined ? NO_PLACE : Math.round(latitude * DEGREE))
      rows.longitudes.push(longitude === undefined ? NO_PLACE : Math.round(longitude * DEGREE))
      rows.radii.push(radius)
      return rows.radii.length - 1
    },
    finish() {
      const columns = {
        countries: rows.countries.finish(),
        zones: rows.zones.finish(),
        cities: rows.cities.finish(),
        regions: rows.regions.finish(),
        postalCodes: dropEmpty(rows.postalCodes.finish()),
        latitudes: rows.latitudes.finish(),
        longitudes: rows.longitudes.finish(),
        radii: dropEmpty(rows.radii.finish()),
      }
      return {
        columns: { ...prefixed('records', columns), ...prefixed('texts', packTexts(texts.list())) },
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
