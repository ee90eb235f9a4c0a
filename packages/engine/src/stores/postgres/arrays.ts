/*
 * Arrays in PostgreSQL's binary form, which the driver passes on as it does any bytes. As text, every element would be
 * quoted and escaped here and parsed there, and bytes would be twice as long.
 */

const BYTEA = 17
const INT8 = 20
const TEXT = 25

/** The header has the number of dimensions, flags and the type of elements; then length and first index of the only dimension. */
const HEADER_BYTES = 20

/** A null has this length. */
const NULL = -1

/** Writes a `bigint[]`; what is undefined is null. Throws at what is no integer. */
export function numberArray(values: readonly (number | undefined)[]): Buffer {
  return writeArray(
    INT8,
    values,
    () => 8,
    (array, value, at) => array.writeBigInt64BE(BigInt(value), at),
  )
}

/** Writes a `bytea[]`; what is undefined is null. */
export function bytesArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  return writeArray(
    BYTEA,
    values,
    ({ length }) => length,
    (array, value, at) => array.set(value, at),
  )
}

/** Writes a `text[]`; what is undefined is null. */
export function textArray(values: readonly (string | undefined)[]): Buffer {
  return writeArray(
    TEXT,
    values,
    (value) => Buffer.byteLength(value),
    (array, value, at) => array.write(value, at),
  )
}

function writeArray<T>(
  type: number,
  values: readonly (T | undefined)[],
  lengthOf: (value: T) => number,
  write: (array: Buffer, value: T, at: number) => unknown,
): Buffer {
  const lengths = values.map((value) => (value === undefined ? NULL : lengthOf(value)))
  const array = Buffer.allocUnsafe(lengths.reduce((sum, length) => sum + 4 + Math.max(length, 0), HEADER_BYTES))
  let at = 0
  for (const word of [1, 0, type, values.length, 1]) at = array.writeInt32BE(word, at)
  for (const [index, value] of values.entries()) {
    const length = lengths[index] as number
    at = array.writeInt32BE(length, at)
    if (value === undefined) continue
    write(array, value, at)
    at += length
  }
  return array
}
