import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SourceFile } from './source-file.ts'

/** One list of a release's snapshot. */
export interface ShippedSource {
  readonly id: string
  /** When it was made, milliseconds since the epoch. */
  readonly made: number
  readonly size: number
  readonly sha256: string
}

/** Name of the file that says what a snapshot holds; each list lies beside it, under its id. */
export const SHIPPED_INDEX = 'index.json'

/**
 * The lists that came with this release, by id: what an installation has until its first download. None in a clone, where
 * `npm run data:snapshot` makes them.
 */
export function shippedSources(folder: string): ReadonlyMap<string, SourceFile> {
  const index = join(folder, SHIPPED_INDEX)
  if (!existsSync(index)) return new Map()
  const sources: readonly ShippedSource[] = JSON.parse(readFileSync(index, 'utf8'))
  return new Map(sources.map(({ id, size, made }) => [id, { path: join(folder, id), size, modified: made, made }]))
}
