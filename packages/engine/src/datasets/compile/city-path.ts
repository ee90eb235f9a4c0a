import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { CITY_FORMAT } from '../format/city.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { identityOf, type SourceFile } from '../sources/source-file.ts'

/** A city source of which the file is there. */
export type CitySource = ResolvedSource & { readonly file: SourceFile }

/** Whether a source is a city database that is there. */
export function isCity(source: ResolvedSource): source is CitySource {
  return source.row.kind === 'city' && source.file !== undefined
}

/** The path of the city file made from this source, whether it exists or not: the name changes with the source. */
export function cityPath(dataDir: string, source: CitySource): string {
  return join(dataDir, `city-${nameOf(source)}.bin`)
}

/** The path of the file of countries that is made with it. */
export function countriesPath(dataDir: string, source: CitySource): string {
  return join(dataDir, `countries-${nameOf(source)}.bin`)
}

function nameOf({ row, file }: CitySource): string {
  const made = { format: CITY_FORMAT, family: row.family, file: identityOf(file) }
  return `${row.id}-${createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)}`
}
