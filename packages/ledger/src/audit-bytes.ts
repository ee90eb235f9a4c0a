import type { LeafMemory } from './verify/hash.ts'

/** A text, one byte a character, that records are held against. */
export interface Passage {
  readonly bytes: Buffer
  readonly view: DataView
  length: number
}

/** A passage that begins with `text` and has room for `more`. */
export function createPassage(text: string, more = 0): Passage {
  const bytes = Buffer.alloc(text.length + more)
  bytes.write(text, 'latin1')
  return { bytes, view: new DataView(bytes.buffer, bytes.byteOffset, bytes.length), length: bytes.length }
}

/** Whether the passage stands in the record at this place, and all of it. */
export function standsAt({ view, length }: LeafMemory, at: number, passage: Passage): boolean {
  const wanted = passage.view
  const count = passage.length
  if (at < 0 || at + count > length) return false
  let index = 0
  // Four bytes at once are a quarter of the time.
  for (; index + 4 <= count; index += 4) {
    if (view.getInt32(at + index) !== wanted.getInt32(index)) return false
  }
  for (; index < count; index++) {
    if (view.getUint8(at + index) !== wanted.getUint8(index)) return false
  }
  return true
}

const ZERO = 48

/** Ends a passage with a number from `at` on, and a comma behind it. */
export function endWithNumber(passage: Passage, at: number, value: number): void {
  if (!Number.isSafeInteger(value) || value < 0) {
    passage.length = at + passage.bytes.write(`${value},`, at, 'latin1')
    return
  }
  let end = at + 1
  for (let rest = value; rest >= 10; rest = Math.floor(rest / 10)) end++
  passage.bytes[end] = 44
  passage.length = end + 1
  let rest = value
  do {
    const higher = Math.floor(rest / 10)
    passage.bytes[--end] = ZERO + (rest - 10 * higher)
    rest = higher
  } while (rest > 0)
}

/** Room for the longest number of `endWithNumber`. */
export const NUMBER_ROOM = 26

/** Finds a text anywhere in a record (Boyer, Moore and Horspool: of most bytes it looks at every tenth). */
export function createSearch(text: string): (record: LeafMemory) => boolean {
  const passage = createPassage(text)
  const last = passage.length - 1
  const steps = new Uint8Array(256).fill(passage.length)
  for (const [index, byte] of passage.bytes.subarray(0, last).entries()) steps[byte] = last - index
  const final = passage.bytes[last]
  return (record) => {
    for (let at = last; at < record.length; ) {
      const byte = record.view.getUint8(at)
      if (byte === final && standsAt(record, at - last, passage)) return true
      at += steps[byte] as number
    }
    return false
  }
}
