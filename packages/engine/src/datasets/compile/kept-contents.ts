import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deserialize, serialize } from 'node:v8'
import type { SourceRow } from '@sallyport/data/sources'
import { makeFolder, OWN_FILE } from '#files'
import { TABLES_FORMAT } from '../format/tables.ts'
import type { SourceContents } from '../parse/contents.ts'
import { ENGINE_VERSION } from '../sources/engine-version.ts'

export type KeptContents = ReturnType<typeof openKeptContents>

/** The SHA-256 before the contents takes 32 bytes. It reveals a torn file, which is then made again. */
const DIGEST_BYTES = 32

/**
 * Keeps contents of source files in a folder, so that a file is parsed again only when the file or this version has changed. A disk that
 * cannot be written costs only the time to parse.
 */
export function openKeptContents(folder: string) {
  const names = new Set<string>()
  const parsed = new Map<string, SourceContents>()
  return {
    /** Returns the contents of a row's file of this SHA-256: the kept contents, else what `parse` returns. Throws what `parse` throws. */
    of(row: SourceRow, sha256: string, parse: () => SourceContents): SourceContents {
      const name = hash('sha256', JSON.stringify([TABLES_FORMAT, ENGINE_VERSION, row, sha256]), 'hex').slice(0, 32)
      const known = load(join(folder, name))
      const contents = known ?? parse()
      if (known === undefined) parsed.set(name, contents)
      names.add(name)
      return contents
    },
    /** Writes new contents, and removes contents that were not requested. Returns how many sources were parsed. */
    keep(): number {
      try {
        makeFolder(folder)
        for (const name of readdirSync(folder)) if (!names.has(name)) rmSync(join(folder, name), { force: true })
        for (const [name, contents] of parsed) store(join(folder, name), contents)
      } catch (error) {
        if (!(error instanceof Error && 'syscall' in error)) throw error
      }
      return parsed.size
    },
  }
}

function load(path: string): SourceContents | undefined {
  try {
    const file = readFileSync(path)
    const bytes = file.subarray(DIGEST_BYTES)
    return file.subarray(0, DIGEST_BYTES).equals(hash('sha256', bytes, 'buffer')) ? deserialize(bytes) : undefined
  } catch {
    // Not there, or written by a newer Node, whose form this one does not read.
    return undefined
  }
}

function store(path: string, contents: SourceContents): void {
  const bytes = serialize(contents)
  try {
    writeFileSync(path, hash('sha256', bytes, 'buffer'), { mode: OWN_FILE })
    writeFileSync(path, bytes, { flag: 'a' })
  } catch (error) {
    rmSync(path, { force: true })
    throw error
  }
}
