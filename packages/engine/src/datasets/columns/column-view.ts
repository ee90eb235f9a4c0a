const BYTES = { u8: 1, u16: 2, u32: 4, i32: 4, f64: 8 } as const
export type ColumnType = keyof typeof BYTES

interface ColumnArrays {
  readonly u8: Uint8Array
  readonly u16: Uint16Array
  readonly u32: Uint32Array
  readonly i32: Int32Array
  readonly f64: Float64Array
}
export type Column = ColumnArrays[ColumnType]
export type ColumnsOf<Types extends ColumnTypes> = { readonly [Name in keyof Types]: ColumnArrays[Types[Name]] }

export type ColumnTypes = Readonly<Record<string, ColumnType>>

export function bytesPerElement(type: ColumnType): number {
  return BYTES[type]
}

/** Returns a view of one column on the bytes of a file, without a copy. */
export function viewColumn(type: ColumnType, buffer: ArrayBufferLike, offset: number, count: number): Column {
  switch (type) {
    case 'u8':
      return new Uint8Array(buffer, offset, count)
    case 'u16':
      return new Uint16Array(buffer, offset, count)
    case 'u32':
      return new Uint32Array(buffer, offset, count)
    case 'i32':
      return new Int32Array(buffer, offset, count)
    case 'f64':
      return new Float64Array(buffer, offset, count)
  }
}
