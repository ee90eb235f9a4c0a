import { createHash } from 'node:crypto'
import type { SourceStatus } from '@sallyport/core'
import type { RangeSource } from '../compile/records.ts'

/** Counts up with every change of the layout or of what a column means; a file of another number is compiled anew. */
export const TABLES_FORMAT = 1

/**
 * A tables file: 8 bytes magic, then as 32-bit words the format, the length of the description and the length of the
 * file (with a spare word), then 32 bytes SHA-256 of all other bytes, then the description as JSON, then the columns,
 * each on a multiple of 8 bytes. Numbers are in the byte order of the machine that wrote it; on another one the
 * format number reads wrong and the file is refused.
 */
export const MAGIC = Buffer.from('SALLYTBL', 'latin1')
export const WORDS_AT = 8
export const DIGEST_AT = 24
export const DESCRIPTION_AT = 56
export const DIGEST_BYTES = 32
const ALIGNMENT = 8

const BYTES = { u8: 1, u16: 2, u32: 4, f64: 8 } as const
export type ColumnType = keyof typeof BYTES
export type Column = Uint8Array | Uint16Array | Uint32Array | Float64Array

/** The columns of a tables file and their types. Names are `<table>.<column>`. */
export const COLUMNS = {
  'networks4.starts': 'u32',
  'networks4.direct': 'u32',
  'networks4.records': 'u32',
  'networks6.high': 'u32',
  'networks6.low': 'u32',
  'networks6.direct': 'u32',
  'networks6.split': 'u32',
  'networks6.cells': 'u32',
  'networks6.pieces': 'u32',
  'networks6.fineHigh': 'u32',
  'networks6.fineLow': 'u32',
  'networks6.records': 'u32',
  'countries4.starts': 'u32',
  'countries4.direct': 'u32',
  'countries4.codes': 'u8',
  'countries6.high': 'u32',
  'countries6.low': 'u32',
  'countries6.direct': 'u32',
  'countries6.split': 'u32',
  'countries6.cells': 'u32',
  'countries6.pieces': 'u32',
  'countries6.fineHigh': 'u32',
  'countries6.fineLow': 'u32',
  'countries6.codes': 'u8',
  'records.systems': 'u32',
  'records.ranges': 'u8',
  'records.flags': 'u8',
  'systems.asns': 'u32',
  'systems.nameEnds': 'u32',
  'systems.names': 'u8',
  'systems.types': 'u8',
  'systems.classes': 'u8',
  'systems.bases': 'u8',
  'systems.brands': 'u16',
  'systems.countries': 'u8',
  'systems.ipv4Prefixes': 'u32',
  'systems.ipv6Prefixes': 'u32',
  'systems.ipv4Addresses': 'f64',
} as const satisfies Record<string, ColumnType>

export type ColumnName = keyof typeof COLUMNS
interface ColumnArrays {
  readonly u8: Uint8Array
  readonly u16: Uint16Array
  readonly u32: Uint32Array
  readonly f64: Float64Array
}
export type Columns = { readonly [Name in ColumnName]: ColumnArrays[(typeof COLUMNS)[Name]] }

/** What a tables file says of itself besides its columns. */
export interface Description {
  readonly sources: readonly SourceStatus[]
  /** Lists by position, as `records.ranges` counts them. */
  readonly ranges: readonly RangeSource[]
  /** Codes by number, from 1. */
  readonly countries: readonly string[]
  readonly brands: readonly string[]
  readonly rangesLoaded: boolean
  /** Which tables say something; the columns of the others are there and empty. */
  readonly loaded: { readonly networks: boolean; readonly systems: boolean; readonly countries: boolean }
}

/** Offset from the first column, in bytes, and count of elements, of every column. */
export type Layout = { readonly [Name in ColumnName]: readonly [offset: number, count: number] }

export const COLUMN_NAMES = Object.keys(COLUMNS) as readonly ColumnName[]

/** Bytes of one element of a column. */
export function bytesPerElement(name: ColumnName): number {
  return BYTES[COLUMNS[name]]
}

/** A length in bytes rounded up to where the next column may begin. */
export function padded(bytes: number): number {
  return Math.ceil(bytes / ALIGNMENT) * ALIGNMENT
}

/** A view of one column on the bytes of a file. */
export function viewColumn(name: ColumnName, buffer: ArrayBufferLike, offset: number, count: number): Column {
  switch (COLUMNS[name]) {
    case 'u8':
      return new Uint8Array(buffer, offset, count)
    case 'u16':
      return new Uint16Array(buffer, offset, count)
    case 'u32':
      return new Uint32Array(buffer, offset, count)
    case 'f64':
      return new Float64Array(buffer, offset, count)
  }
}

/** SHA-256 over a whole file but the digest itself. */
export function digestOf(file: Uint8Array): Buffer {
  return createHash('sha256').update(file.subarray(0, DIGEST_AT)).update(file.subarray(DESCRIPTION_AT)).digest()
}
