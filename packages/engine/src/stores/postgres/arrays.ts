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
  return writeArray(INT8, values, (value) => {
    const bytes = Buffer.allocUnsafe(8)
    bytes.writeBigInt64BE(BigInt(value))
    return bytes
  })
}

/** Writes a `bytea[]`; what is undefined is null. */
export function bytesArray(values: readonly (Uint8Array | undefined)[]): Buffer {
  return writeArray(BYTEA, values, (value) => value)
}

/** Writes a `text[]`; what is undefined is null. */
export function textArray(values: readonly (string | undefined)[]): Buffer {
  return writeArray(TEXT, values, (value) => Buffer.from(value))
}

function writeArray<T>(type: number, values: readonly (T | undefined)[], encode: (value: T) => Uint8Array): Buffer {
  const elements = values.map((value) => (value === undefined ? undefined : encode(value)))
  const size = elements.reduce((sum, element) => sum + 4 + (element?.length ?? 0), HEADER_BYTES)
  const array = Buffer.allocUnsafe(size)
  let at = 0
  for (const word of [1, 0, type, values.length, 1]) at = array.writeInt32BE(word, at)
  for (const element of elements) {
    at = array.writeInt32BE(element?.length ?? NULL, at)
    if (element === undefined) continue
    array.set(element, at)
    at += element.length
  }
  return array
}
