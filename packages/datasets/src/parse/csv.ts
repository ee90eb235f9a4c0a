import { compareAddresses, parseAddressIn } from '@sallyport/core/tables'
import { requireMostlyGood } from './lines.ts'
import { createRangeWriter, type Ranges, type RangeWriter } from './ranges.ts'
import { addressOf, lengthOf, scan4 } from './scan4.ts'

const LINE_FEED = 10
const RETURN = 13
const QUOTE = 34
const COMMA = 44
const MAX_ASN = 0xffffffff

/** What a line's further fields are worth that cannot be read. */
export const BAD_LINE = -1

/** A CSV file; the path is for messages. */
export interface CsvFile {
  readonly path: string
  readonly bytes: Buffer
}

/** Reads one line of which the bytes are known, up to its further fields, and adds its range; false for a bad one. */
type LineReader = (ranges: RangeWriter, at: number, end: number) => boolean

/**
 * Reads `start,end,…` lines, both addresses of `family` and in order. `valueAt` makes the value of a line of what stands
 * behind them, or gives `BAD_LINE`. Throws `corrupt_data` naming the file when more than 1 % of the lines are bad, or all.
 */
export function readRangeLines(
  { path, bytes }: CsvFile,
  family: 4 | 6,
  valueAt: (start: number, end: number) => number,
  onProgress: (bytesRead: number) => void = () => {},
): Ranges {
  const ranges = createRangeWriter(family, 65_536)
  const readLine = family === 4 ? createReader4(bytes, valueAt) : createReader6(bytes, valueAt)
  let good = 0
  let bad = 0
  for (let at = 0, lines = 1; at < bytes.length; lines++) {
    const newline = bytes.indexOf(LINE_FEED, at)
    const next = newline === -1 ? bytes.length : newline
    const end = next > at && bytes[next - 1] === RETURN ? next - 1 : next
    if (end > at) {
      if (readLine(ranges, at, end)) good++
      else bad++
    }
    at = next + 1
    if (lines % 65_536 === 0) onProgress(at)
  }
  requireMostlyGood({ good, bad }, path)
  return ranges.finish()
}

function createReader4(bytes: Buffer, valueAt: (start: number, end: number) => number): LineReader {
  return (ranges, at, end) => {
    const first = scan4(bytes, at, end)
    const second = at + lengthOf(first) + 1
    if (first < 0 || bytes[second - 1] !== COMMA) return false
    const last = scan4(bytes, second, end)
    const rest = second + lengthOf(last) + 1
    if (last < 0 || rest > end || bytes[rest - 1] !== COMMA || addressOf(first) > addressOf(last)) return false
    const value = valueAt(rest, end)
    if (value === BAD_LINE) return false
    ranges.add4(addressOf(first), addressOf(last), value)
    return true
  }
}

function createReader6(bytes: Buffer, valueAt: (start: number, end: number) => number): LineReader {
  // One byte a character: positions are those of the bytes.
  const text = bytes.toString('latin1')
  return (ranges, at, end) => {
    const comma = indexOf(bytes, COMMA, at, end)
    const second = indexOf(bytes, COMMA, comma + 1, end)
    const first = parseAddressIn(text, at, comma)
    const last = parseAddressIn(text, comma + 1, second)
    if (first?.family !== 6 || last?.family !== 6 || compareAddresses(first, last) > 0) return false
    const value = valueAt(second + 1, end)
    if (value === BAD_LINE) return false
    ranges.add(first, last, value)
    return true
  }
}

/** `end` when there is none: a search that ran on would read a file without commas once for each of its lines. */
function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== byte) at++
  return at
}

/** The ASN in front of the next comma, and where the organisation's name begins; `undefined` when it is not one. */
export function readAsn(bytes: Buffer, start: number, end: number): { asn: number; next: number } | undefined {
  let asn = 0
  let at = start
  for (; at < end && bytes[at] !== COMMA; at++) {
    const digit = (bytes[at] as number) - 48
    if (digit < 0 || digit > 9) return undefined
    asn = asn * 10 + digit
    if (asn > MAX_ASN) return undefined
  }
  return asn === 0 || at >= end ? undefined : { asn, next: at + 1 }
}

/** The last field of a line as UTF-8: as it stands, or quoted with `""` for a quote; `undefined` when badly quoted. */
export function readLastField(bytes: Buffer, start: number, end: number): string | undefined {
  if (start >= end || bytes[start] !== QUOTE) return bytes.toString('utf8', start, end)
  if (end - start < 2 || bytes[end - 1] !== QUOTE) return undefined
  const inner = bytes.toString('utf8', start + 1, end - 1)
  return inner.replaceAll('""', '').includes('"') ? undefined : inner.replaceAll('""', '"')
}
