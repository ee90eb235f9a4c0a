import {
  CHECKSUM_AT,
  computeChecksum,
  DESCRIPTION_AT,
  type FileForm,
  type Layout,
  padded,
  WORDS_AT,
} from './column-file.ts'
import { bytesPerElement, type ColumnsOf, type ColumnTypes } from './column-view.ts'

/** Encodes a column file into shared memory, so that other threads can have it without a copy. */
export function encodeColumns<Types extends ColumnTypes>(
  form: FileForm<Types>,
  description: object,
  columns: ColumnsOf<Types>,
): SharedArrayBuffer {
  const rows = Object.entries(form.columns).map(([name, type]) => {
    const column = columns[name as keyof Types]
    return { name, column, bytes: padded(column.length * bytesPerElement(type)) }
  })
  let size = 0
  const layout: Record<string, readonly [number, number]> = {}
  for (const { name, column, bytes } of rows) {
    layout[name] = [size, column.length]
    size += bytes
  }
  const text = Buffer.from(JSON.stringify({ ...description, layout: layout satisfies Layout }))
  const start = padded(DESCRIPTION_AT + text.length)
  const shared = new SharedArrayBuffer(start + size)
  const file = new Uint8Array(shared)
  file.set(Buffer.from(form.magic, 'latin1'))
  new Uint32Array(shared, WORDS_AT, 3).set([form.format, text.length, file.length])
  file.set(text, DESCRIPTION_AT)
  for (const { name, column } of rows) {
    const { buffer, byteOffset, byteLength } = column
    file.set(new Uint8Array(buffer, byteOffset, byteLength), start + (layout[name]?.[0] ?? 0))
  }
  file.set(computeChecksum(file), CHECKSUM_AT)
  return shared
}
