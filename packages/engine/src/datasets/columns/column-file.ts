import { createHash } from 'node:crypto'
import type { ColumnTypes } from './column-view.ts'

/**
 * A column file: 8 bytes magic, then as 32-bit words the format, the length of the description and the length of the
 * file (with a spare word), then 32 bytes SHA-256 of all other bytes, then the description as JSON, then the columns,
 * each on a multiple of 8 bytes. Numbers are in the byte order of the machine that wrote it; on another one the
 * format number reads wrong and the file is refused.
 */
export interface FileForm<Types extends ColumnTypes> {
  /** Name of the file for people: "a tables file". */
  readonly title: string
  /** Eight ASCII characters. */
  readonly magic: string
  /** Counts up with every change of the layout or of what a column means; a file of another number is made again. */
  readonly format: number
  readonly columns: Types
}

export const MAGIC_BYTES = 8
export const WORDS_AT = 8
export const CHECKSUM_AT = 24
export const DESCRIPTION_AT = 56
export const CHECKSUM_BYTES = 32
const ALIGNMENT = 8

/** Offset from the first column, in bytes, and count of elements, of every column. */
export type Layout = Readonly<Record<string, readonly [offset: number, count: number]>>

/** A length in bytes rounded up to where the next column may begin. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/** SHA-256 over a whole file but the digest itself. */
export function checksumOf(file: Uint8Array): Buffer {
  return createHash('sha256').update(file.subarray(0, CHECKSUM_AT)).update(file.subarray(DESCRIPTION_AT)).digest()
}
