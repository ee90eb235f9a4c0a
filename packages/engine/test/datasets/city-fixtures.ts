import { readFileSync, statSync } from 'node:fs'
import { type Address, formatAddress, type GeoReader, type GeoRecord } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { withFreeLock, withLock } from '#stores'
import { compileCity } from '../../src/datasets/compile/city.ts'
import type { CitySource } from '../../src/datasets/compile/city-path.ts'
import { type MmdbFile, parseMmdb } from '../../src/datasets/mmdb/file.ts'
import { readGeoRecord } from '../../src/datasets/mmdb/geo-record.ts'
import { walkNetworks } from '../../src/datasets/mmdb/walk.ts'
import { createSegmentWriter, type Segments } from '../../src/datasets/ranges/segments.ts'
import { openCityFile } from '../../src/datasets/service/city-file.ts'
import { type CitySourceReader, joinCities, type OpenedCity } from '../../src/datasets/tables/cities.ts'
import { folder } from './fixtures.ts'

/** DB-IP's flat layout has such records. */
export const FLAT = {
  city: 'London',
  country_code: 'GB',
  latitude: 51.51430130004883,
  longitude: -0.09122440218925476,
  postcode: '',
  state1: 'England',
  state2: '',
  timezone: '',
}

export const NESTED = {
  city: { geoname_id: 1, names: { de: 'Linköping', en: 'Linköping' } },
  continent: { code: 'EU' },
  country: { iso_code: 'SE', names: { en: 'Sweden' } },
  location: { accuracy_radius: 76, latitude: 58.4167, longitude: 15.6167, time_zone: 'Europe/Stockholm' },
  postal: { code: '580 00' },
  registered_country: { iso_code: 'DE' },
  subdivisions: [{ iso_code: 'E', names: { en: 'Östergötland County' } }, { names: { en: 'Second' } }],
}

/** A city database that says the same of every address, as a service opens it. */
export function madeCity(record: GeoRecord | undefined, more: Partial<CitySourceReader> = {}): readonly OpenedCity[] {
  const reader = { read: () => record }
  const status = { id: 'made', title: 'made', state: 'loaded', licence: '', credit: '' } as const
  const country = () => record?.countryCode
  return [{ status, cities: { families: [4, 6], country, places: async () => reader, opened: () => reader, ...more } }]
}

/** The networks of a tree laid out, each with where its record stands as its value. */
export function readSegments(file: MmdbFile, family: 4 | 6): Segments {
  const writer = createSegmentWriter(family)
  walkNetworks(file, family, (at) => at, writer.push)
  return writer.finish()
}

export function citySource(path: string, id = 'city'): CitySource {
  const row = SOURCES.find((source) => source.id === id) as SourceRow
  const { size, mtimeMs } = statSync(path)
  return { row, file: { path, size, modified: Math.trunc(mtimeMs) } }
}

export async function compiledCity(dataDir: string, path: string, id = 'city'): Promise<OpenedCity> {
  const source = citySource(path, id)
  await compileCity({ dataDir, source })
  const cities = openCityFile(dataDir, source, { lock: { withLock, withFreeLock } })
  return { status: cities.source, family: source.row.family, cities }
}

/** A city database as the reader of its format reads it, not compiled. Throws `corrupt_data` naming it. */
function openDatabase(path: string, families: readonly (4 | 6)[]): CitySourceReader {
  const { reader } = parseMmdb(readFileSync(path), path)
  const read = (address: Address) => {
    const value = reader.get(formatAddress(address))
    return value === null ? undefined : readGeoRecord(value)
  }
  const places = { read }
  const opened = () => places
  return { families, country: (address) => read(address)?.countryCode, places: async () => places, opened }
}

/** A database opened both ways, compiled and as it is: every answer is compared. */
export async function openedFile(t: Parameters<typeof folder>[0], path: string): Promise<GeoReader> {
  const compiled = await compiledCity(folder(t), path)
  const { geo } = joinCities([compiled])
  const { geo: direct } = joinCities([{ ...compiled, cities: openDatabase(path, compiled.cities?.families ?? []) }])
  if (geo === undefined || direct === undefined) throw new Error(`${path}: not opened`)
  return {
    families: geo.families,
    async read(address) {
      const answer = await geo.read(address)
      // One assertion an address would drown the others.
      const before = await direct.read(address)
      if (JSON.stringify(before) !== JSON.stringify(answer)) t.same(answer, before, formatAddress(address))
      return answer
    },
  }
}
