import { createByOffset } from './by-offset.ts'
import { corrupt, type MmdbFile } from './file.ts'

/** Types of the format; those above 7 are written as 0 and one more byte. */
const EXTENDED = 0
const POINTER = 1
const TEXT = 2
const DOUBLE = 3
const MAP = 7
const INT32 = 8
const ARRAY = 11
/** Its size is its value. */
const BOOLEAN = 14
const FLOAT = 15
const MAX_DEPTH = 64
/** The bytes that a number's type allows: at most so many, or just so many for the two floating-point ones. */
const MAX_NUMBER_BYTES: Readonly<Record<number, number>> = { 3: 8, 5: 2, 6: 4, 8: 4, 9: 8, 10: 16, 14: 1, 15: 4 }
/** Values in one record; a real one has some dozens. */
const MAX_VALUES = 10_000

/**
 * Returns a reader of the record at an offset. It checks what it reads, also where pointers lead, and throws `corrupt_data` naming the file
 * when the format is violated. It reads a shared value once: most of a database's words are shared by its records. Bytes, and integers
 * beyond 2^53, are not kept exactly: no record of a place has them.
 */
export function createRecordReader(file: MmdbFile): (at: number) => unknown {
  const { path, bytes, dataStart, dataEnd } = file
  const cursor = new Cursor(file)
  const shared = createByOffset<unknown>(dataStart, dataEnd)
  /** How many values this record may still have: pointers can multiply them. */
  let left = 0

  function nextValue(depth: number): unknown {
    const control = cursor.byte()
    if (control >> 5 !== POINTER) return readContents(control, depth)
    const target = cursor.pointer(control)
    const known = shared.get(target)
    if (known !== undefined) return known
    const after = cursor.at
    cursor.at = target
    const head = cursor.byte()
    if (head >> 5 === POINTER) throw corrupt(path, 'a pointer points to a pointer')
    const value = readContents(head, depth)
    shared.set(target, value)
    cursor.at = after
    return value
  }

  function readContents(control: number, depth: number): unknown {
    const short = control >> 5
    const type = short === EXTENDED ? cursor.byte() + 7 : short
    if (type > FLOAT || (short === EXTENDED && type < INT32)) throw corrupt(path, 'a value has an unknown type')
    const size = cursor.size(control & 0x1f)
    if (depth > MAX_DEPTH || left-- <= 0) throw corrupt(path, 'values are nested too deeply')
    if (type === MAP) return nextMap(size, depth + 1)
    if (type === ARRAY) return nextList(size, depth + 1)
    const max = MAX_NUMBER_BYTES[type] ?? dataEnd
    const isFloating = type === DOUBLE || type === FLOAT
    if (size > max || (isFloating && size !== max)) throw corrupt(path, 'a number has the wrong size')
    if (type === BOOLEAN) return size === 1
    const body = cursor.at
    if (body + size > dataEnd) throw corrupt(path, 'a value extends beyond the data section')
    cursor.at = body + size
    if (type === TEXT) return bytes.toString('utf8', body, body + size)
    if (type === DOUBLE) return bytes.readDoubleBE(body)
    if (type === FLOAT) return bytes.readFloatBE(body)
    if (!(type in MAX_NUMBER_BYTES)) return null
    cursor.at = body
    const value = cursor.bigEndian(size)
    return type === INT32 ? value | 0 : value
  }

  function nextMap(size: number, depth: number): Readonly<Record<string, unknown>> {
    const map: Record<string, unknown> = {}
    for (let count = size; count > 0; count--) {
      const key = nextValue(depth)
      if (typeof key !== 'string') throw corrupt(path, 'a key is not text')
      const value = nextValue(depth)
      if (key !== '__proto__') map[key] = value
    }
    return map
  }

  function nextList(size: number, depth: number): readonly unknown[] {
    const list: unknown[] = []
    for (let count = size; count > 0; count--) list.push(nextValue(depth))
    return list
  }

  return (at) => {
    left = MAX_VALUES
    cursor.at = at
    return nextValue(0)
  }
}

/** Position of the next byte in the data section. A byte outside of it is `corrupt_data`. */
class Cursor {
  at = 0
  readonly #file: MmdbFile

  constructor(file: MmdbFile) {
    this.#file = file
  }

  byte(): number {
    const { bytes, dataStart, dataEnd, path } = this.#file
    if (this.at < dataStart || this.at >= dataEnd) throw corrupt(path, 'a value lies outside the data section')
    return bytes[this.at++] as number
  }

  bigEndian(count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 256 + this.byte()
    return value
  }

  /** Reads the target of a pointer with this control byte. */
  pointer(control: number): number {
    const width = (control >> 3) & 3
    const value = this.#file.dataStart + this.bigEndian(width + 1)
    if (width === 3) return value
    const base = width === 0 ? 0 : width === 1 ? 2048 : 526_336
    return value + (control & 7) * 2 ** (8 * (width + 1)) + base
  }

  /** Returns the size that five bits say, or the size in the bytes that follow. */
  size(short: number): number {
    if (short < 29) return short
    const extra = short - 28
    return this.bigEndian(extra) + (extra === 1 ? 29 : extra === 2 ? 285 : 65_821)
  }
}
