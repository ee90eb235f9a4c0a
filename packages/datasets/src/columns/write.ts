import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import { threadId } from 'node:worker_threads'
import {
  bytesPerElement,
  type ColumnsOf,
  type ColumnTypes,
  DESCRIPTION_AT,
  DIGEST_AT,
  digestOf,
  type FileForm,
  type Layout,
  padded,
  WORDS_AT,
} from './form.ts'

/** The bytes of a column file, in shared memory, so that other threads can have them without a copy. */
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
  file.set(digestOf(file), DIGEST_AT)
  return shared
}

/** Puts a file in place whole or not at all: written beside it, made durable, then renamed. */
export function writeWhole(path: string, bytes: Uint8Array): void {
  const temporary = temporaryOf(path)
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

/** Two threads of one process never write the same temporary file. */
function temporaryOf(path: string): string {
  return `${path}.${process.pid}-${threadId}.tmp`
}
