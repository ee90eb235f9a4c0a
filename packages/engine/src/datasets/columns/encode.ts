import {
  CHECKSUM_AT,
  computeChecksum,
  DESCRIPTION_AT,
  type FileForm,
  type Layout,
  padded,
  WORDS_AT,
} from './column-file.ts'
import { bytesPerElement, type ColumnType, type ColumnTypes, viewColumn } from './column-view.ts'

/** The columns to encode: numbers are cut to the width of their column. */
export type ColumnValues<Types extends ColumnTypes> = Readonly<Record<keyof Types, ArrayLike<number>>>

/** Encodes a column file into shared memory, so that other threads can have it without a copy. */
export function encodeColumns<Types extends ColumnTypes>(
  form: FileForm<Types>,
  description: object,
  columns: ColumnValues<Types>,
): SharedArrayBuffer {
  let size = 0
  const layout: Record<string, Layout[string]> = {}
  for (const [name, type] of Object.entries(form.columns)) {
    const { length } = columns[name as keyof Types]
    layout[name] = [size, length]
    size += padded(length * bytesPerElement(type))
  }
  const text = Buffer.from(JSON.stringify({ ...description, layout }))
  const start = padded(DESCRIPTION_AT + text.length)
  const shared = new SharedArrayBuffer(start + size)
  const file = new Uint8Array(shared)
  file.set(Buffer.from(form.magic, 'latin1'))
  new Uint32Array(shared, WORDS_AT, 3).set([form.format, text.length, file.length])
  file.set(text, DESCRIPTION_AT)
  for (const [name, [offset, count]] of Object.entries(layout)) {
    viewColumn(form.columns[name] as ColumnType, shared, start + offset, count).set(columns[name as keyof Types])
  }
  file.set(computeChecksum(file), CHECKSUM_AT)
  return shared
}

/** Writes texts as a column of bytes, and a column of where each text ends. */
export function packTexts(texts: readonly string[]): { readonly bytes: Uint8Array; readonly ends: readonly number[] } {
  let end = 0
  return { bytes: Buffer.from(texts.join('')), ends: texts.map((text) => (end += Buffer.byteLength(text))) }
}
