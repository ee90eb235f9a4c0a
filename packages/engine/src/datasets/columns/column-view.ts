const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array, f64: Float64Array } as const
export type ColumnType = keyof typeof ARRAYS

export type Column = (typeof ARRAYS)[ColumnType]['prototype']
export type ColumnViews<Types extends ColumnTypes> = {
  readonly [Name in keyof Types]: (typeof ARRAYS)[Types[Name]]['prototype']
}

export type ColumnTypes = Readonly<Record<string, ColumnType>>

export function bytesPerElement(type: ColumnType): number {
  return ARRAYS[type].BYTES_PER_ELEMENT
}

/** Returns a view of one column on the bytes of a file, without a copy. */
export function viewColumn(type: ColumnType, buffer: ArrayBufferLike, offset: number, count: number): Column {
  const View: new (buffer: ArrayBufferLike, offset: number, count: number) => Column = ARRAYS[type]
  return new View(buffer, offset, count)
}
