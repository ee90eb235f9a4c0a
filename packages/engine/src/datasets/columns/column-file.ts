import { createHash } from 'node:crypto'
import type { ColumnTypes } from './column-view.ts'

/**
 * A column file: 8 bytes magic, then as 32-bit words the format, the length of the description and the length of the
 * file (with a spare word), then 32 bytes SHA-256 of all other bytes, then the description as JSON, then the columns,
 * each on a multiple of 8 bytes. Numbers are in the byte order of the machine that wrote it; on another one the
 * format number reads wrong and the file is refused.
 */
export interface FileForm<Types extends ColumnTypes> {
  /** Names the file in messages: "a tables file". */
  readonly title: string
  /** Eight ASCII characters that begin the file. */
  readonly magic: string
  /** Counts up with every change of the layout or of what a column means; a file of another number is made again. */
  readonly format: number
  readonly columns: Types
}

export function describeFile<Types extends ColumnTypes>(
  title: string,
  magic: string,
  format: number,
  columns: Types,
): FileForm<Types> {
  return { title, magic, format, columns }
}

export const MAGIC_BYTES = 8
export const WORDS_AT = 8
export const CHECKSUM_AT = 24
export const DESCRIPTION_AT = 56
export const CHECKSUM_BYTES = 32
const ALIGNMENT = 8

/** Maps each column to its offset from the first column, in bytes, and its count of elements. */
export type Layout = Readonly<Record<string, readonly [offset: number, count: number]>>

/** Rounds a length in bytes up to where the next column may begin. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/** Computes SHA-256 over a whole file except the digest itself. */
export function computeChecksum(file: Uint8Array): Buffer {
  return createHash('sha256').update(file.subarray(0, CHECKSUM_AT)).update(file.subarray(DESCRIPTION_AT)).digest()
}
