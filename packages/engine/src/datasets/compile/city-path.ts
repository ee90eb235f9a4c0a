import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { CITY_FORMAT } from '../format/city.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { identifyFile, type SourceFile } from '../sources/source-file.ts'

export type CitySource = ResolvedSource & { readonly file: SourceFile }

/** Reports whether a source is a city database that has its file. */
export function isCity(source: ResolvedSource): source is CitySource {
  return source.row.kind === 'city' && source.file !== undefined
}

/** Returns the path of the city file compiled from this source, whether it exists or not. The name changes with the source. */
export function cityPath(dataDir: string, source: CitySource): string {
  return join(dataDir, `city-${cityFileName(source)}.bin`)
}

/** Returns the path of the file of countries that is compiled with the city file. */
export function countriesPath(dataDir: string, source: CitySource): string {
  return join(dataDir, `countries-${cityFileName(source)}.bin`)
}

function cityFileName({ row, file }: CitySource): string {
  const made = { format: CITY_FORMAT, family: row.family, file: identifyFile(file) }
  return `${row.id}-${createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)}`
}
