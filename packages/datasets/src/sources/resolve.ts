import { readFileSync, statSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { SallyportError, type SourceStatus } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'

/** What a configuration may say of one source (`data.sources.<id>`). */
export interface SourceOverride {
  /** A `file:` URL; it takes the place of the embedded file. */
  readonly url?: string | undefined
  readonly enabled?: boolean | undefined
}

/** One source and the file it is read from; `file` is absent when there is none, and `reason` then says why. */
export interface ResolvedSource {
  readonly row: SourceRow
  readonly file?: SourceFile
  readonly reason?: string
}

export interface SourceFile {
  readonly path: string
  /** Bytes. */
  readonly size: number
  /** Milliseconds since the epoch. */
  readonly modified: number
  /** Version of the npm package that brought it. */
  readonly version?: string
}

/**
 * Every source of the table with its file. Touches the disk only to see what is there: a missing package or file makes
 * a source absent and is never an error. Throws `invalid_config` for an id that is not in the table and for a URL that
 * is not `file:`, naming it.
 */
export function resolveSources(
  overrides: Readonly<Record<string, SourceOverride>> = {},
  rows: readonly SourceRow[] = SOURCES,
): readonly ResolvedSource[] {
  for (const id of Object.keys(overrides)) {
    if (!rows.some((row) => row.id === id)) {
      throw new SallyportError('invalid_config', `data.sources.${id}: there is no such source`)
    }
  }
  return withoutReplacedCities(rows.map((row) => resolveSource(row, overrides[row.id] ?? {})))
}

function resolveSource(row: SourceRow, { url, enabled = true }: SourceOverride): ResolvedSource {
  const named = url === undefined ? undefined : pathOf(row.id, url)
  if (!enabled) return { row, reason: 'switched off' }
  if (named !== undefined) {
    const file = statFile(named)
    return file === undefined ? { row, reason: `no such file: ${named}` } : { row, file }
  }
  if (row.package === undefined || row.file === undefined) return { row, reason: 'no file is named' }
  const folder = packageFolder(row.package)
  const file = folder === undefined ? undefined : statFile(join(folder, row.file))
  if (folder === undefined || file === undefined) return { row, reason: `package ${row.package} is not installed` }
  const version = packageVersion(folder)
  return { row, file: { ...file, ...(version === undefined ? {} : { version }) } }
}

/** A city database that serves both families is instead of all city databases after it. */
function withoutReplacedCities(sources: readonly ResolvedSource[]): readonly ResolvedSource[] {
  const chosen = sources.find(({ row, file }) => row.kind === 'city' && row.family === undefined && file !== undefined)
  if (chosen === undefined) return sources
  return sources.map((source) =>
    source.row.kind === 'city' && source !== chosen
      ? { row: source.row, reason: `${chosen.row.id} takes its place` }
      : source,
  )
}

function pathOf(id: string, url: string): string {
  try {
    const parsed = new URL(url)
    if (parsed.protocol === 'file:') return fileURLToPath(parsed)
  } catch {
    // Told below, like any other URL that this version cannot read.
  }
  throw new SallyportError('invalid_config', `data.sources.${id}.url: this version reads file: URLs only, not ${url}`)
}

function statFile(path: string): SourceFile | undefined {
  const stats = statSync(path, { throwIfNoEntry: false })
  return stats?.isFile() ? { path, size: stats.size, modified: Math.trunc(stats.mtimeMs) } : undefined
}

function packageFolder(name: string): string | undefined {
  try {
    return dirname(createRequire(import.meta.url).resolve(`${name}/package.json`))
  } catch {
    return undefined
  }
}

function packageVersion(folder: string): string | undefined {
  const { version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { version?: unknown }
  return typeof version === 'string' ? version : undefined
}

/** The day a file was true, `YYYY-MM-DD`: from a package version such as 2.3.2026061719, else from its own time. */
export function dateOfFile({ version, modified }: SourceFile): string {
  const stamp = version === undefined ? null : /\.(20\d\d)(0[1-9]|1[0-2])(\d\d)\d\d$/.exec(version)
  return stamp === null ? dayOf(modified) : `${stamp[1]}-${stamp[2]}-${stamp[3]}`
}

/** A time in milliseconds since the epoch as its UTC day. */
export function dayOf(milliseconds: number): string {
  return new Date(milliseconds).toISOString().slice(0, 10)
}

/** The status row of a source. */
export function sourceStatus(
  row: SourceRow,
  state: SourceStatus['state'],
  more: { readonly date?: string; readonly entries?: number; readonly reason?: string } = {},
): SourceStatus {
  return { id: row.id, title: row.title, state, ...more, licence: row.licence, credit: row.credit }
}
