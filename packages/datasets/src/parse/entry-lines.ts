import { type Entry, parseEntry } from './entry.ts'
import { contentOf, type LineForm } from './formats.ts'
import { addressOf, lengthOf, scan4 } from './scan4.ts'

const LINE_FEED = 10
const RETURN = 13
const SLASH = 47
const ZERO = 48
const BYTE_ORDER_MARK = Buffer.from('\uFEFF')

/** Bytes that an address or a CIDR is written in. */
const PLAIN = Uint8Array.from({ length: 256 }, (_, byte) => (/[\da-f:./]/i.test(String.fromCharCode(byte)) ? 1 : 0))

/** Takes entries; `undefined` is one that could not be read. */
export interface EntrySink {
  add(entry: Entry | undefined): void
  /** An entry of IPv4 by its ends, without objects. */
  add4(first: number, last: number): void
}

/**
 * Reads a list of one entry a line. Nearly all lines hold a plain address or CIDR: those of IPv4 are read from the bytes,
 * and only a line with anything else on it is taken apart as text.
 */
export function readEntryLines(bytes: Buffer, { entryOf, ends }: LineForm, sink: EntrySink): void {
  const isEnd = Uint8Array.from({ length: 256 }, (_, byte) => (ends?.includes(byte) ? 1 : 0))
  let isFirst = true
  let at = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK.length : 0
  while (at < bytes.length) {
    const newline = bytes.indexOf(LINE_FEED, at)
    const next = newline === -1 ? bytes.length : newline
    const end = next > at && bytes[next - 1] === RETURN ? next - 1 : next
    if (end > at && ends !== undefined && readPlain(at, end)) isFirst = false
    else if (end > at) {
      const content = contentOf(bytes.toString('utf8', at, end), isFirst)
      if (content !== '') {
        isFirst = false
        sink.add(parseEntry(entryOf(content)))
      }
    }
    at = next + 1
  }

  /** False where the line is not a plain entry. */
  function readPlain(start: number, end: number): boolean {
    const scanned = scan4(bytes, start, end)
    if (scanned >= 0) {
      const value = addressOf(scanned)
      let stop = start + lengthOf(scanned)
      let size = 1
      if (stop < end && bytes[stop] === SLASH) {
        const digits = countDigits(stop + 1, end)
        const length = prefixLength(stop + 1, digits)
        if (length < 0) return false
        size = 2 ** (32 - length)
        stop += 1 + digits
      }
      if (stop < end && isEnd[bytes[stop] as number] === 0) return false
      const first = value - (value % size)
      sink.add4(first, first + size - 1)
      return true
    }
    let stop = start
    while (stop < end && PLAIN[bytes[stop] as number] === 1) stop++
    if (stop === start || (stop < end && isEnd[bytes[stop] as number] === 0)) return false
    if (bytes[start] === SLASH) return false
    sink.add(parseEntry(bytes.toString('latin1', start, stop)))
    return true
  }

  function countDigits(start: number, end: number): number {
    let stop = start
    while (stop < end && (bytes[stop] as number) >= ZERO && (bytes[stop] as number) <= ZERO + 9) stop++
    return stop - start
  }

  /** -1 where it is none of an IPv4 prefix. */
  function prefixLength(start: number, digits: number): number {
    if (digits < 1 || digits > 2 || (digits === 2 && bytes[start] === ZERO)) return -1
    let length = 0
    for (let at = start; at < start + digits; at++) length = length * 10 + (bytes[at] as number) - ZERO
    return length <= 32 ? length : -1
  }
}
