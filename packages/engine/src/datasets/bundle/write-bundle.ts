import { gzipSync } from 'node:zlib'
import type { Snapshot } from '@sallyport/core'
import { bytesPerElement } from '../columns/column-view.ts'
import { readColumns } from '../columns/decode.ts'
import { type DecodedTables, type Description, TABLES_FORM } from '../format/tables.ts'
import { BUNDLE_FORMAT, BUNDLED_COLUMNS, type BundleHead, splitPlanes, WORD_BYTES } from './bundle-form.ts'

/**
 * Writes the tables of a file as one small bundle for runtimes without files: the data that decisions rest on, and its age. Throws
 * `corrupt_data` and `missing_data`.
 */
export function writeBundle(tablesFile: string, snapshot: Snapshot): Uint8Array {
  const { columns, description }: DecodedTables = readColumns(TABLES_FORM, tablesFile)
  const head: BundleHead = {
    bundle: BUNDLE_FORMAT,
    description: { ...description, places: [], sources: [] } satisfies Description,
    counts: Object.fromEntries(BUNDLED_COLUMNS.map(([name]) => [name, columns[name].length])),
    status: pickStatus(snapshot),
  }
  const text = Buffer.from(JSON.stringify(head))
  const size = BUNDLED_COLUMNS.reduce((sum, [name, { type }]) => sum + columns[name].length * bytesPerElement(type), 0)
  const file = new Uint8Array(WORD_BYTES + text.length + size)
  new DataView(file.buffer).setUint32(0, text.length, true)
  file.set(text, WORD_BYTES)
  let at = WORD_BYTES + text.length
  for (const [name, row] of BUNDLED_COLUMNS) {
    const planes = splitPlanes(columns[name], row)
    file.set(planes, at)
    at += planes.length
  }
  return gzipSync(file, { level: 9 })
}

function pickStatus({ sources, crawlerStatus, restsOn }: Snapshot): BundleHead['status'] {
  return { sources, crawlerStatus, restsOn }
}
