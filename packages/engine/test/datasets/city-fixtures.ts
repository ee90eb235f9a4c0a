import { statSync } from 'node:fs'
import { formatAddress, type GeoReader } from '@sallyport/core'
import { SOURCES } from '@sallyport/data/sources'
import { withFreeLock, withLock } from '#stores'
import { compileCity } from '../../src/datasets/compile/city.ts'
import type { CitySource } from '../../src/datasets/compile/city-path.ts'
import type { MmdbFile } from '../../src/datasets/mmdb/file.ts'
import { walkNetworks } from '../../src/datasets/mmdb/walk.ts'
import { createSegmentWriter, type Segments } from '../../src/datasets/ranges/segments.ts'
import { openCityFile } from '../../src/datasets/service/city-file.ts'
import { joinCities, type OpenedCity } from '../../src/datasets/tables/cities.ts'
import { openDatabase } from './database.ts'
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

/** MaxMind's layout has such records. */
export const NESTED = {
  city: { geoname_id: 1, names: { de: 'Linköping', en: 'Linköping' } },
  continent: { code: 'EU' },
  country: { iso_code: 'SE', names: { en: 'Sweden' } },
  location: { accuracy_radius: 76, latitude: 58.4167, longitude: 15.6167, time_zone: 'Europe/Stockholm' },
  postal: { code: '580 00' },
  registered_country: { iso_code: 'DE' },
  subdivisions: [{ iso_code: 'E', names: { en: 'Östergötland County' } }, { names: { en: 'Second' } }],
}

/** The networks of a tree laid out, each with where its record stands as its value. */
export function readSegments(file: MmdbFile, family: 4 | 6): Segments {
  const writer = createSegmentWriter(family)
  walkNetworks(file, family, (at) => at, writer)
  return writer.finish()
}

/** Returns a source of this row with a file at the path. */
export function citySource(path: string, id = 'city'): CitySource {
  const row = SOURCES.find((source) => source.id === id)
  if (row === undefined) throw new Error(`no source ${id}`)
  const { size, mtimeMs } = statSync(path)
  return { row, file: { path, size, modified: Math.trunc(mtimeMs) } }
}

/** The database at the path, compiled and opened. */
export async function compiledCity(dataDir: string, path: string, id = 'city'): Promise<OpenedCity> {
  const source = citySource(path, id)
  await compileCity({ dataDir, source })
  const cities = openCityFile(dataDir, source, { lock: { withLock, withFreeLock } })
  return { status: cities.source, family: source.row.family, cities }
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
