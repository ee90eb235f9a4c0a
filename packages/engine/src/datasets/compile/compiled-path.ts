import { createHash } from 'node:crypto'
import { readdirSync, rmSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { HOUR_MS } from '@sallyport/core'
import { HOST_LIKENESS } from '@sallyport/data/host-likeness'
import { LIST_AGES } from '@sallyport/data/list-ages'
import { OPERATORS } from '@sallyport/data/operators'
import { ORGANISATION_RULES } from '@sallyport/data/organisation-names'
import { TABLES_FORMAT } from '../format/tables.ts'
import type { ResolvedSource } from '../sources/resolve.ts'
import { identifyFile, type SourceFile } from '../sources/source-file.ts'
import { SHIPPED_RANGES } from './shipped-lists.ts'

export const TABLES_NAME = /^tables-[0-9a-f]{16}\.bin$/
const TEMPORARY_NAME = /^(tables|city|countries)-.*\.tmp$/
/** A temporary file this old was left by a process that died; a compile takes seconds. */
const ABANDONED_MS = HOUR_MS

/**
 * The path of the tables made from these sources, whether they exist or not. The name changes with the format, with
 * any source file (origin and size of a package's, else path, size and time) but a city database, and with the
 * facts kept in `data/` that are compiled; not with sources that are absent.
 */
export function tablesPath(dataDir: string, sources: readonly ResolvedSource[]): string {
  const made = {
    format: TABLES_FORMAT,
    sources: pickCompiled(sources).map(({ row, file }) => [row, identifyFile(file)]),
    facts: [OPERATORS, ORGANISATION_RULES, HOST_LIKENESS, SHIPPED_RANGES, LIST_AGES],
  }
  const key = createHash('sha256').update(JSON.stringify(made)).digest('hex').slice(0, 16)
  return join(dataDir, `tables-${key}.bin`)
}

/** Picks the sources that tables are made from. */
export function pickCompiled(
  sources: readonly ResolvedSource[],
): readonly (ResolvedSource & { readonly file: SourceFile })[] {
  return sources.flatMap((source) => {
    const { row, file } = source
    return row.kind === 'city' || file === undefined ? [] : [{ ...source, file }]
  })
}

/**
 * Removes what older compiles left beside `path`: files that match `named` except the latest, to which an operator may return, and
 * abandoned temporary files.
 */
export function removeOlder(path: string, named: RegExp): void {
  const folder = dirname(path)
  const entries = readdirSync(folder).flatMap((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false })
    return stats === undefined ? [] : [{ name, modified: stats.mtimeMs }]
  })
  const older = entries
    .filter(({ name }) => named.test(name) && name !== basename(path))
    .sort((x, y) => y.modified - x.modified)
    .slice(1)
  const abandoned = entries.filter(
    ({ name, modified }) => TEMPORARY_NAME.test(name) && Date.now() - modified > ABANDONED_MS,
  )
  for (const { name } of [...older, ...abandoned]) rmSync(join(folder, name), { force: true })
}
