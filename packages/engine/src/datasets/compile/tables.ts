import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { SallyportError, type SourceStatus } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { makeFolder, replaceFile } from '#files'
import { encodeColumns } from '../columns/encode.ts'
import { type Description, TABLES_FORM } from '../format/tables.ts'
import { readContents } from '../parse/contents.ts'
import { type ResolvedSource, sourceStatus } from '../sources/resolve.ts'
import { computeSha256, findFileDate, readSource, type SourceFile } from '../sources/source-file.ts'
import { assemble } from './assembly.ts'
import { pickCompiled, removeOlder, TABLES_NAME, tablesPath } from './compiled-path.ts'
import { type KeptContents, openKeptContents } from './kept-contents.ts'
import { collectParts, type PartsCollector } from './parts.ts'
import { addShippedRanges } from './shipped-ranges.ts'

/** `done` and `total` are bytes of source files; `stage` is the title of what is being read or done. */
export type OnProgress = (stage: string, done: number, total: number) => void

export interface CompileOptions {
  /** The compile creates the folder when it does not exist. */
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
  readonly onProgress?: OnProgress | undefined
}

export interface CompiledTables {
  readonly path: string
  readonly sources: readonly SourceStatus[]
  /** The bytes of the file, for `loadTables`, so that it need not be read again. */
  readonly shared: SharedArrayBuffer
  /** Counts the good sources that were parsed; the contents of the other good ones were kept. */
  readonly parsed: number
}

/**
 * Compiles all sources except the city databases into one file in `dataDir`, whose name says what it was made from, and removes older files
 * except the latest. The status of an unusable source reports it, and the others stay as they are; an absent source is not reported.
 * Rejects only when the file cannot be written.
 */
export async function compileTables({ dataDir, sources: all, onProgress }: CompileOptions): Promise<CompiledTables> {
  const path = tablesPath(dataDir, all)
  const sources = pickCompiled(all)
  const total = sources.reduce((sum, { file }) => sum + file.size, 0)
  const kept = openKeptContents(join(dataDir, 'parsed'))
  const collector = collectParts()
  const statuses: SourceStatus[] = []
  let done = 0
  for (const { row, file } of sources) {
    onProgress?.(row.title, done, total)
    // Reading is synchronous: between two sources a signal, or a request, gets its turn.
    await turn()
    statuses.push(addSource(row, file, kept, collector))
    done += file.size
  }
  addShippedRanges(collector)
  onProgress?.('Putting the tables together', done, total)
  await turn()
  const { columns, description } = assemble(collector.parts)
  const shared = encodeColumns(TABLES_FORM, { ...description, sources: statuses } satisfies Description, columns)
  makeFolder(dataDir)
  await replaceFile(path, new Uint8Array(shared))
  removeOlder(path, TABLES_NAME)
  // After the tables, which come first where the disk is nearly full.
  return { path, sources: statuses, shared, parsed: kept.keep() }
}

function addSource(row: SourceRow, file: SourceFile, kept: KeptContents, collector: PartsCollector): SourceStatus {
  try {
    const bytes = readSource(file)
    const sha256 = computeSha256(bytes)
    const contents = kept.of(row, sha256, () => readContents(row, { path: file.path, bytes }))
    collector.add(row, file, contents)
    const { entries, made, left = 0 } = contents
    return sourceStatus(row, 'loaded', {
      date: findFileDate(file, made),
      entries,
      sha256,
      ...(left === 0 ? {} : { left }),
    })
  } catch (error) {
    return sourceStatus(row, 'refused', { date: findFileDate(file), reason: describeReason(error) })
  }
}

/** Errors that make a source unusable: its form, or the disk. Anything else is a bug and is thrown on. */
function describeReason(error: unknown): string {
  const isFault = error instanceof SallyportError || (error instanceof Error && 'syscall' in error)
  if (!isFault) throw error
  return error.message
}
