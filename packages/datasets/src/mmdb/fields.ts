import { corrupt, type MmdbFile } from './file.ts'

const EXTENDED = 0
const POINTER = 1
const STRING = 2
const MAP = 7
const ARRAY = 11
/** Its size is its value. */
const BOOLEAN = 14
const DEEPEST = 64
/** The bytes that a number's type allows: at most so many, or just so many for the two floating-point ones. */
const MOST_BYTES: Readonly<Record<number, number>> = { 3: 8, 5: 2, 6: 4, 8: 4, 9: 8, 10: 16, 14: 1, 15: 4 }
const EXACT = [3, 15]
/** Values in one record; a real one has some dozens. */
const MOST_VALUES = 10_000

/** Looks into the records of a MaxMind DB without making values of them, inside bounds. Every method may throw. */
export interface RecordFields {
  /** Where the value of a key of the map at `at` stands; -1 when it has no such key. */
  field(at: number, key: Buffer): number
  isMap(at: number): boolean
  /** The two letters of the string at `at` as `first << 8 | second`; -1 when it is not a string of two bytes. */
  letters(at: number): number
  /** Walks through the whole value at `at`, also where it points to, and throws where the format is not kept. */
  check(at: number): void
  /** Walks over the value at `at`, but not to where it points, and gives where the next one stands. */
  skip(at: number): number
}

/**
 * Made for millions of look-ups, so the parts of a value's head are written to variables instead of an object.
 * Throws `corrupt_data` naming the file where the data is not what the format allows.
 */
export function createRecordFields({ path, bytes, dataStart, dataEnd }: MmdbFile): RecordFields {
  let type = 0
  let size = 0
  /** Where the payload begins. */
  let body = 0
  /** Behind a pointer: where the next value stands. 0 when the head was no pointer. */
  let behind = 0

  function head(at: number): void {
    behind = 0
    plainHead(at)
    if (type !== POINTER) return
    const next = body
    plainHead(size)
    if (type === POINTER) throw corrupt(path, 'a pointer points to a pointer')
    behind = next
  }

  function plainHead(at: number): void {
    const control = byteAt(at)
    type = control >> 5
    size = control & 0x1f
    body = at + 1
    if (type === POINTER) {
      readPointer(control)
      return
    }
    if (type === EXTENDED) {
      type = byteAt(body) + 7
      body++
      if (type < 8 || type > 15) throw corrupt(path, 'a value of an unknown type')
    }
    if (size < 29) return
    const extra = size - 28
    const base = size === 29 ? 29 : size === 30 ? 285 : 65_821
    size = base + bigEndian(body, extra)
    body += extra
  }

  function readPointer(control: number): void {
    const width = (control >> 3) & 3
    const high = control & 7
    const value = bigEndian(body, width + 1)
    body += width + 1
    const offset =
      width === 3 ? value : high * 2 ** (8 * (width + 1)) + value + (width === 0 ? 0 : width === 1 ? 2048 : 526_336)
    size = dataStart + offset
  }

  function byteAt(at: number): number {
    if (at < dataStart || at >= dataEnd) throw corrupt(path, 'a value lies outside the data section')
    return bytes[at] as number
  }

  function bigEndian(at: number, count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 256 + byteAt(at + index)
    return value
  }

  function skip(at: number, depth = 0): number {
    plainHead(at)
    if (depth > DEEPEST) throw corrupt(path, 'values nested without end')
    if (type === POINTER) return body
    let end = body
    if (type === MAP || type === ARRAY) {
      for (let left = type === MAP ? size * 2 : size; left > 0; left--) end = skip(end, depth + 1)
    } else if (type !== BOOLEAN) {
      end += size
      if (end > dataEnd) throw corrupt(path, 'a value runs out of the data section')
    }
    return end
  }

  /** Where the value ends, pointers followed; `left` bounds the work, because pointers can multiply it. */
  function checkValue(at: number, depth: number, left: { values: number }): number {
    head(at)
    if (depth > DEEPEST || left.values-- <= 0) throw corrupt(path, 'values nested without end')
    const next = behind
    let end = body
    if (type === MAP || type === ARRAY) {
      for (let count = type === MAP ? size * 2 : size; count > 0; count--) end = checkValue(end, depth + 1, left)
    } else {
      const most = MOST_BYTES[type] ?? dataEnd
      if (size > most || (EXACT.includes(type) && size !== most)) throw corrupt(path, 'a number of a wrong size')
      end = type === BOOLEAN ? body : body + size
      if (end > dataEnd) throw corrupt(path, 'a value runs out of the data section')
    }
    return next === 0 ? end : next
  }

  function isMap(at: number): boolean {
    head(at)
    return type === MAP
  }

  function isText(at: number): boolean {
    head(at)
    return type === STRING
  }

  return {
    skip,
    check: (at) => {
      checkValue(at, 0, { values: MOST_VALUES })
    },
    isMap,
    letters(at) {
      return isText(at) && size === 2 ? (byteAt(body) << 8) | byteAt(body + 1) : -1
    },
    field(at, key) {
      if (!isMap(at)) return -1
      let position = body
      for (let left = size; left > 0; left--) {
        if (!isText(position)) throw corrupt(path, 'a map with a key that is no text')
        const value = behind === 0 ? body + size : behind
        if (size === key.length && isKey(body, key)) return value
        position = skip(value)
      }
      return -1
    },
  }

  function isKey(at: number, key: Buffer): boolean {
    for (let index = 0; index < key.length; index++) if (byteAt(at + index) !== key[index]) return false
    return true
  }
}
