import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageFolder } from '../src/datasets/sources/shipped.ts'

/** A list that is kept in the repository until `npm run data:refresh` fetches another one. */
export interface KeptList {
  readonly id: string
  /** When it was made, ISO 8601. */
  readonly made: string
}

/** Name of the file that says what is kept; each list lies beside it, under its id. */
export const LISTS_INDEX = 'index.json'

/** The folder of the repository. */
export function listsFolder(): string {
  return join(packageFolder('@sallyport/data') ?? '', 'lists')
}

export function listsIn(folder: string): readonly KeptList[] {
  const index = join(folder, LISTS_INDEX)
  return existsSync(index) ? JSON.parse(readFileSync(index, 'utf8')) : []
}
