import { corrupt, type MmdbFile } from './file.ts'

/** Types of the format; those above 7 are written as 0 and one more byte. */
const EXTENDED = 0
const POINTER = 1
const MAP = 7
const ARRAY = 11
/** Its size is its value. */
const BOOLEAN = 14
const MAX_DEPTH = 64
/** The bytes that a number's type allows: at most so many, or just so many for the two floating-point ones. */
const MAX_NUMBER_BYTES: Readonly<Record<number, number>> = { 3: 8, 5: 2, 6: 4, 8: 4, 9: 8, 10: 16, 14: 1, 15: 4 }
const FLOATING_POINT = [3, 15]
/** Values in one record; a real one has some dozens. */
const MAX_VALUES = 10_000

/** The head of a value: what it is, and where its contents are. `size` of a pointer is where it points to. */
interface ValueHead {
  readonly type: number
  readonly size: number
  /** Where the contents begin. */
  readonly body: number
}

/**
 * Gives a check of the record at an offset: it walks through all values, also where they point to, and throws
 * `corrupt_data` naming the file where the format is not kept.
 */
export function createRecordCheck({ path, bytes, dataStart, dataEnd }: MmdbFile): (at: number) => void {
  function byteAt(at: number): number {
    if (at < dataStart || at >= dataEnd) throw corrupt(path, 'a value lies outside the data section')
    return bytes[at] as number
  }

  function bigEndian(at: number, count: number): number {
    let value = 0
    for (let index = 0; index < count; index++) value = value * 256 + byteAt(at + index)
    return value
  }

  function headAt(at: number): ValueHead {
    const control = byteAt(at)
    let type = control >> 5
    let body = at + 1
    if (type === POINTER) return pointerAt(control, body)
    if (type === EXTENDED) {
      type = byteAt(body) + 7
      body++
      if (type < 8 || type > 15) throw corrupt(path, 'a value of an unknown type')
    }
    const size = control & 0x1f
    if (size < 29) return { type, size, body }
    const extra = size - 28
    const base = size === 29 ? 29 : size === 30 ? 285 : 65_821
    return { type, size: base + bigEndian(body, extra), body: body + extra }
  }

  function pointerAt(control: number, body: number): ValueHead {
    const width = (control >> 3) & 3
    const high = control & 7
    const value = bigEndian(body, width + 1)
    const offset =
      width === 3 ? value : high * 2 ** (8 * (width + 1)) + value + (width === 0 ? 0 : width === 1 ? 2048 : 526_336)
    return { type: POINTER, size: dataStart + offset, body: body + width + 1 }
  }

  /** Gives where the next value is; `left` bounds the work, because pointers can multiply it. */
  function checkValue(at: number, depth: number, left: { values: number }): number {
    const head = headAt(at)
    if (head.type !== POINTER) return checkContents(head, depth, left)
    const target = headAt(head.size)
    if (target.type === POINTER) throw corrupt(path, 'a pointer points to a pointer')
    checkContents(target, depth, left)
    return head.body
  }

  function checkContents({ type, size, body }: ValueHead, depth: number, left: { values: number }): number {
    if (depth > MAX_DEPTH || left.values-- <= 0) throw corrupt(path, 'values nested without end')
    let end = body
    if (type === MAP || type === ARRAY) {
      for (let count = type === MAP ? size * 2 : size; count > 0; count--) end = checkValue(end, depth + 1, left)
      return end
    }
    const max = MAX_NUMBER_BYTES[type] ?? dataEnd
    if (size > max || (FLOATING_POINT.includes(type) && size !== max)) throw corrupt(path, 'a number of a wrong size')
    end = type === BOOLEAN ? body : body + size
    if (end > dataEnd) throw corrupt(path, 'a value runs out of the data section')
    return end
  }

  return (at) => {
    checkValue(at, 0, { values: MAX_VALUES })
  }
}
