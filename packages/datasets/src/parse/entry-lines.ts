import { parseEntry } from './entry.ts'
import { contentOf, type LineForm } from './formats.ts'
import type { RangeWriter } from './ranges.ts'
import { scan4 } from './scan4.ts'
import { scan6 } from './scan6.ts'

const LINE_FEED = 10
const RETURN = 13
const SLASH = 47
const ZERO = 48
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Bytes that an address or a CIDR is written in. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (/[\da-f:./]/i.test(String.fromCharCode(byte)) ? 1 : 0))

/** Takes entries as they are read; nothing is judged yet. */
export interface EntryWriter {
  readonly ranges: Readonly<Record<4 | 6, RangeWriter>>
  /** Entries that could not be read. */
  unreadable: number
}

/** Reads an entry from its text; one that is none is counted. */
export function writeEntry(text: string, entries: EntryWriter): void {
  const entry = parseEntry(text)
  if (entry === undefined) entries.unreadable++
  else entries.ranges[entry.first.family].add(entry.first, entry.last, 1)
}

/**
 * Reads a list of one entry a line. Nearly all lines hold a plain address or CIDR: those are read from the bytes, and
 * only a line with anything else on it is taken apart as text.
 */
export function readEntryLines(bytes: Buffer, { entryOf, ends }: LineForm, entries: EntryWriter): void {
  const isEnd = Uint8Array.from({ length: 256 }, (_, byte) => (ends?.includes(byte) ? 1 : 0))
  const words = new Uint32Array(8)
  let isFirst = true
  let at = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length) {
    const newline = bytes.indexOf(LINE_FEED, at)
    const next = newline === -1 ? bytes.length : newline
    const end = next > at && bytes[next - 1] === RETURN ? next - 1 : next
    if (end > at) {
      const family = ends === undefined ? 0 : readPlain(bytes, at, end, isEnd, words)
      if (family !== 0) {
        entries.ranges[family].addWords(words, 1)
        isFirst = false
      } else {
        const content = contentOf(bytes.toString('utf8', at, end), isFirst)
        if (content !== '') {
          isFirst = false
          writeEntry(entryOf(content), entries)
        }
      }
    }
    at = next + 1
  }
}

/** Reads both ends of a plain entry into words, of its family, which is given; 0 where the line is none. */
function readPlain(bytes: Buffer, start: number, end: number, isEnd: Uint8Array, words: Uint32Array): 0 | 4 | 6 {
  let stop = scan4(bytes, start, end, words, 0)
  const family = stop === -1 ? 6 : 4
  if (family === 6) {
    stop = start
    while (stop < end && PLAIN[bytes[stop] as number] === 1 && bytes[stop] !== SLASH) stop++
    // What is not all address is left to the slower way before it is looked at.
    if (bytes[start] === SLASH || !scan6(bytes, start, stop, words, 0)) return 0
  }
  let length = family === 4 ? 32 : 128
  if (stop < end && bytes[stop] === SLASH) {
    const digits = countDigits(bytes, stop + 1, end)
    length = prefixLength(bytes, stop + 1, digits, length)
    if (length < 0) return 0
    stop += 1 + digits
  }
  if (stop < end && isEnd[bytes[stop] as number] === 0) return 0
  if (family === 4) {
    const hosts = length === 0 ? -1 : 2 ** (32 - length) - 1
    const first = (words[0] as number) & ~hosts
    words[0] = first
    words[1] = first | hosts
  } else {
    for (let word = 0; word < 4; word++) {
      const bits = length - word * 32
      const hosts = bits <= 0 ? -1 : bits >= 32 ? 0 : 2 ** (32 - bits) - 1
      const first = (words[word] as number) & ~hosts
      words[word] = first
      words[4 + word] = first | hosts
    }
  }
  return family
}

function countDigits(bytes: Uint8Array, start: number, end: number): number {
  let stop = start
  while (stop < end && (bytes[stop] as number) >= ZERO && (bytes[stop] as number) <= ZERO + 9) stop++
  return stop - start
}

/** -1 where it is none, or longer than `longest`. */
function prefixLength(bytes: Uint8Array, start: number, digits: number, longest: number): number {
  if (digits < 1 || digits > 3 || (digits > 1 && bytes[start] === ZERO)) return -1
  let length = 0
  for (let at = start; at < start + digits; at++) length = length * 10 + (bytes[at] as number) - ZERO
  return length <= longest ? length : -1
}
