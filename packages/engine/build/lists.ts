import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../src/datasets/sources/shipped.ts'

/** A list that the repository keeps until `npm run data:refresh` downloads the next one. */
export interface KeptList {
  readonly id: string
  /** When it was made, ISO 8601. */
  readonly made: string
}

/** Name of the file that lists what the folder holds; each list lies beside it, under its id. */
export const LISTS_INDEX = 'index.json'

export function listsFolder(): string {
  return join(packageFolder('@sallyport/data') ?? '', 'lists')
}

export function listsIn(folder: string): readonly KeptList[] {
  const index = join(folder, LISTS_INDEX)
  return existsSync(index) ? JSON.parse(readFileSync(index, 'utf8')) : []
}
