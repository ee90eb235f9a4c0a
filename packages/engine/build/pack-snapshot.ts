import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants } from 'node:zlib'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import { compileTables } from '#datasets'
import { tablesPath } from '../src/datasets/compile/compiled-path.ts'
import { formatDay } from '../src/datasets/format/days.ts'
import { packagedFile } from '../src/datasets/sources/resolve.ts'
import { PACKED, SHIPPED_INDEX, type ShippedSource, shippedSources } from '../src/datasets/sources/shipped.ts'
import { computeSha256 } from '../src/datasets/sources/source-file.ts'
import { listsIn } from './lists.ts'
import { type PassedOn, writeNotice } from './notice.ts'
import { isShippable } from './shippable.ts'

/** Nearly as small as Brotli gets, in a tenth of the time; the window, of 4 MB, is what unpacking takes. */
const QUALITY = 7
const WINDOW = 22
const NOTICE = 'NOTICE'
/** Files of a package that say under what terms, and how changed, it passes its sources on. */
const TERMS = /LICENSE|MODIFICATIONS/

interface Found extends PassedOn {
  readonly path: string
  readonly made: number
}

/**
 * Packs the sources that come with a release, from `lists` and from installed packages, and the tables compiled of them, into a
 * folder. Nothing is fetched. Gives what is in it, and whether it was there already.
 */
export async function packSnapshot(folder: string, lists: string, rows: readonly SourceRow[] = SOURCES) {
  const found = foundIn(lists, rows)
  const sources = found.map(({ row, path, made }): ShippedSource => {
    const bytes = readFileSync(path)
    return { id: row.id, made, size: bytes.length, sha256: computeSha256(bytes) }
  })
  const part = `${folder}.part`
  rmSync(part, { recursive: true, force: true })
  mkdirSync(part, { recursive: true })
  writeFileSync(join(part, SHIPPED_INDEX), `${JSON.stringify(sources, null, 2)}\n`)
  writeFileSync(join(part, NOTICE), writeNotice(found))
  const shipped = shippedSources(part)
  const resolved = rows.map((row) => ({ row, file: shipped.get(row.id) }))
  const tables = `${basename(tablesPath('', resolved))}${PACKED}`
  const names = [SHIPPED_INDEX, NOTICE, tables, ...sources.map(({ id }) => `${id}${PACKED}`)]
  if (isSame(folder, part, names)) {
    rmSync(part, { recursive: true })
    return { sources, wasThere: true }
  }
  await Promise.all(found.map(({ row, path }) => pack(path, join(part, `${row.id}${PACKED}`))))
  const dataDir = mkdtempSync(join(tmpdir(), 'sallyport-snapshot-'))
  try {
    const { path } = await compileTables({ dataDir, sources: resolved })
    await pack(path, join(part, tables))
  } finally {
    rmSync(dataDir, { recursive: true })
  }
  rmSync(folder, { recursive: true, force: true })
  renameSync(part, folder)
  return { sources, wasThere: false }
}

/** Every source that may be passed on and is there. */
function foundIn(lists: string, rows: readonly SourceRow[]): readonly Found[] {
  const kept = new Map(listsIn(lists).map(({ id, made }) => [id, Date.parse(made)]))
  return rows.filter(isShippable).flatMap((row): readonly Found[] => {
    const listed = kept.get(row.id)
    if (listed !== undefined) return [{ row, path: join(lists, row.id), made: listed, date: formatDay(listed) }]
    const { path, made } = packagedFile(row) ?? {}
    return path === undefined || made === undefined
      ? []
      : [{ row, path, made, date: formatDay(made), texts: termsIn(dirname(path)) }]
  })
}

function termsIn(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => TERMS.test(name))
  return names.map((name) => readFileSync(join(folder, name), 'utf8'))
}

/** Whether a folder has these files, and says the same of them as another one. */
function isSame(folder: string, other: string, names: readonly string[]): boolean {
  try {
    const isAlike = (name: string) => readFileSync(join(folder, name)).equals(readFileSync(join(other, name)))
    return readdirSync(folder).sort().join() === [...names].sort().join() && [SHIPPED_INDEX, NOTICE].every(isAlike)
  } catch {
    return false
  }
}

async function pack(from: string, to: string): Promise<void> {
  const bytes = readFileSync(from)
  const params = {
    [constants.BROTLI_PARAM_QUALITY]: QUALITY,
    [constants.BROTLI_PARAM_LGWIN]: WINDOW,
    [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length,
  }
  writeFileSync(to, await promisify(brotliCompress)(bytes, { params }))
}
