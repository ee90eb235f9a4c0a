import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  bytesPerElement,
  COLUMN_NAMES,
  type Columns,
  DESCRIPTION_AT,
  type Description,
  DIGEST_AT,
  digestOf,
  type Layout,
  MAGIC,
  padded,
  TABLES_FORMAT,
  WORDS_AT,
} from './format.ts'

/** The bytes of a tables file. */
export function encodeTables(description: Description, columns: Columns): Uint8Array {
  const sizes = COLUMN_NAMES.map((name) => padded(columns[name].length * bytesPerElement(name)))
  const layout = layoutOf(columns, sizes)
  const text = Buffer.from(JSON.stringify({ ...description, layout }))
  const start = padded(DESCRIPTION_AT + text.length)
  const file = new Uint8Array(start + sizes.reduce((sum, size) => sum + size, 0))
  file.set(MAGIC)
  new Uint32Array(file.buffer, WORDS_AT, 3).set([TABLES_FORMAT, text.length, file.length])
  file.set(text, DESCRIPTION_AT)
  for (const name of COLUMN_NAMES) {
    const { buffer, byteOffset, byteLength } = columns[name]
    file.set(new Uint8Array(buffer, byteOffset, byteLength), start + layout[name][0])
  }
  file.set(digestOf(file), DIGEST_AT)
  return file
}

function layoutOf(columns: Columns, sizes: readonly number[]): Layout {
  let offset = 0
  const rows = COLUMN_NAMES.map((name, index) => {
    const row = [name, [offset, columns[name].length]] as const
    offset += sizes[index] as number
    return row
  })
  return Object.fromEntries(rows) as unknown as Layout
}

/** Puts a file in place whole or not at all: written beside it, made durable, then renamed. */
export function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = openSync(temporary, 'w')
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    rmSync(temporary, { force: true })
    throw error
  }
  const folder = openSync(dirname(path), 'r')
  try {
    fsyncSync(folder)
  } finally {
    closeSync(folder)
  }
}
