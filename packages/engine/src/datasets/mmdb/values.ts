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

/** Reads the data section byte by byte, and throws `corrupt_data` beyond it. */
function openCursor({ path, bytes, dataStart, dataEnd }: MmdbFile) {
  /** Holds the position of the next byte. */
  let next = 0

  function readByte(): number {
    if (next < dataStart || next >= dataEnd) throw corrupt(path, 'a value lies outside the data section')
    return bytes[next++] as number
  }

  function readBigEndian(count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 256 + readByte()
    return value
  }

  return {
    readByte,
    readBigEndian,
    position: () => next,
    moveTo(at: number): void {
      next = at
    },
    /** Passes the bytes of a value, and returns where they begin. */
    pass(size: number): number {
      const start = next
      if (start + size > dataEnd) throw corrupt(path, 'a value extends beyond the data section')
      next = start + size
      return start
    },
    /** Reads the target of a pointer with this control byte. */
    readPointer(control: number): number {
      const width = (control >> 3) & 3
      const value = dataStart + readBigEndian(width + 1)
      if (width === 3) return value
      const base = width === 0 ? 0 : width === 1 ? 2048 : 526_336
      return value + (control & 7) * 2 ** (8 * (width + 1)) + base
    },
    /** Returns the size that five bits say, or the size in the bytes that follow. */
    readSize(short: number): number {
      if (short < 29) return short
      const extra = short - 28
      return readBigEndian(extra) + (extra === 1 ? 29 : extra === 2 ? 285 : 65_821)
    },
  }
}

/**
 * Returns a reader of the record at an offset. It checks what it reads, also where pointers lead, and throws `corrupt_data` naming the file
 * when the format is violated. It reads a shared value once: most of a database's words are shared by its records. Bytes, and integers
 * beyond 2^53, are not kept exactly: no record of a place has them.
 */
export function createRecordReader(file: MmdbFile): (at: number) => unknown {
  const { path, bytes, dataStart, dataEnd } = file
  const shared = createByOffset<unknown>(dataStart, dataEnd)
  const cursor = openCursor(file)
  /** Counts the values that this record may still have: pointers can multiply them. */
  let left = 0

  function nextValue(depth: number): unknown {
    const control = cursor.readByte()
    if (control >> 5 !== POINTER) return readContents(control, depth)
    const target = cursor.readPointer(control)
    const known = shared.get(target)
    if (known !== undefined) return known
    const after = cursor.position()
    cursor.moveTo(target)
    const head = cursor.readByte()
    if (head >> 5 === POINTER) throw corrupt(path, 'a pointer points to a pointer')
    const value = readContents(head, depth)
    shared.set(target, value)
    cursor.moveTo(after)
    return value
  }

  function readContents(control: number, depth: number): unknown {
    const short = control >> 5
    const type = short === EXTENDED ? cursor.readByte() + 7 : short
    if (type > FLOAT || (short === EXTENDED && type < INT32)) throw corrupt(path, 'a value has an unknown type')
    const size = cursor.readSize(control & 0x1f)
    if (depth > MAX_DEPTH || left-- <= 0) throw corrupt(path, 'values are nested too deeply')
    if (type === MAP) return nextMap(size, depth + 1)
    if (type === ARRAY) return nextList(size, depth + 1)
    const max = MAX_NUMBER_BYTES[type] ?? dataEnd
    const isFloating = type === DOUBLE || type === FLOAT
    if (size > max || (isFloating && size !== max)) throw corrupt(path, 'a number has the wrong size')
    if (type === BOOLEAN) return size === 1
    if (type in MAX_NUMBER_BYTES && !isFloating) {
      const value = cursor.readBigEndian(size)
      return type === INT32 ? value | 0 : value
    }
    const body = cursor.pass(size)
    if (type === TEXT) return bytes.toString('utf8', body, body + size)
    if (type === DOUBLE) return bytes.readDoubleBE(body)
    return type === FLOAT ? bytes.readFloatBE(body) : null
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
    cursor.moveTo(at)
    return nextValue(0)
  }
}
