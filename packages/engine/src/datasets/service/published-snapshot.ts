import type { Snapshot, SourceStatus } from '@sallyport/core'
import { dayNumber } from '../format/days.ts'
import type { BundleFolder } from '../published/folder.ts'
import { type BundleFile, type Manifest, neededFiles, rowOf, subjectOf } from '../published/manifest.ts'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import type { OpenedCity } from '../tables/cities.ts'
import { readFrontEnds } from '../tables/front-ends.ts'
import type { Confirmed } from '../tables/listed-addresses.ts'
import { loadTables } from '../tables/load.ts'
import { type CityFile, openCityPaths } from './city-file.ts'
import { FACTS, FACTS_READ } from './facts.ts'
import { snapshotOf } from './snapshot.ts'

export interface PublishedFiles {
  readonly manifest: Manifest
  readonly folder: BundleFolder
  readonly city: boolean
}

export interface PublishedOptions {
  readonly confirmed: Confirmed
  /** City files that were opened before, by path; a path names what is in its file. Others are dropped. */
  readonly cityFiles: Map<string, CityFile>
  /** Somebody asked for a place, and this file could not be read. */
  readonly onLost: (path: string, message: string) => void
  readonly signal: AbortSignal
}

/** The snapshot of a service without data: the facts of the program. */
export const NO_SNAPSHOT: Snapshot = snapshotOf({
  tables: { rangesLoaded: false, proxiesLoaded: false },
  cities: [],
  frontEnds: new Map(),
  sources: FACTS,
})

/** Loads what was published, and compiles nothing. Throws `missing_data` and `corrupt_data` that name the file. */
export function openPublishedSnapshot(files: PublishedFiles, options: PublishedOptions): Snapshot {
  const { manifest, folder, city } = files
  const needed = neededFiles(manifest, city)
  const tables = needed.find(({ name }) => name === 'tables')
  if (tables === undefined) return NO_SNAPSHOT
  const cities = citiesOf(files, needed, options)
  return snapshotOf({
    tables: loadTables(folder.pathOf(tables), { confirmed: options.confirmed }),
    cities,
    frontEnds: readFrontEnds(downloadsOf(files, needed)),
    sources: statusesOf(manifest, city),
  })
}

function citiesOf(
  { folder }: PublishedFiles,
  needed: readonly BundleFile[],
  { cityFiles, onLost, signal }: PublishedOptions,
): readonly OpenedCity[] {
  const found = needed.flatMap((file) => {
    const { kind, row } = subjectOf(file)
    const countries = needed.find(({ name }) => name === `countries-${row?.id}`)
    return kind === 'city' && countries !== undefined ? [{ row, file, countries }] : []
  })
  const paths = new Set(found.map(({ file }) => folder.pathOf(file)))
  for (const path of cityFiles.keys()) if (!paths.has(path)) cityFiles.delete(path)
  return found.map(({ row, file, countries }) => {
    const places = folder.pathOf(file)
    const lost = (message: string) => onLost(places, message)
    const opened =
      cityFiles.get(places) ?? openCityPaths({ places, countries: folder.pathOf(countries) }, { signal, onLost: lost })
    cityFiles.set(places, opened)
    return { status: opened.source, family: row?.family, cities: opened }
  })
}

/** Downloads that are read as they are, as sources of this dataDir. */
export function downloadsOf(
  { folder }: Pick<PublishedFiles, 'folder'>,
  files: readonly BundleFile[],
): readonly ResolvedSource[] {
  return files.flatMap((file) => {
    const { kind, row } = subjectOf(file)
    if (kind !== 'feed' || row === undefined) return []
    return [{ row, file: { path: folder.pathOf(file), size: file.bytes, modified: 0 } }]
  })
}

/** The sources as the publisher knows them, but for places that are not wanted and for facts of this program. */
function statusesOf({ sources }: Manifest, city: boolean): readonly SourceStatus[] {
  return sources.map((status) => {
    const row = rowOf(status.id)
    if (!city && row?.kind === 'city') return sourceStatus(row, 'absent', { reason: 'switched off' })
    return FACTS_READ.get(status.id) ?? Object.freeze(status)
  })
}

/** By source id the day on which its publisher last confirmed it, in days since the epoch. */
export function publishedDays({ sources }: Manifest): ReadonlyMap<string, number> {
  return new Map(
    sources.flatMap(({ id, checked }) =>
      checked === undefined ? [] : [[id, dayNumber(Date.parse(checked))] as const],
    ),
  )
}
