import { requireMostlyGood } from './lines.ts'
import { compareAt, createRangeWriter, firstOf, grown, type Ranges, WORDS } from './ranges.ts'
import { scan4 } from './scan4.ts'
import { scan6 } from './scan6.ts'

const LINE_FEED = 10
const RETURN = 13
const QUOTE = 34
const COMMA = 44
const ZERO = 48
const MAX_ASN = 0xffffffff

/** What a line's further fields are worth that cannot be read. */
export const BAD_LINE = 0xffffffff

/** A CSV file; the path is for messages. */
export interface CsvFile {
  readonly path: string
  readonly bytes: Buffer
}

/** The lines of which both addresses were read, in columns. */
export interface ReadLines {
  readonly count: number
  /** Where the further fields of each begin, and where it ends. */
  readonly rests: Uint32Array
  readonly ends: Uint32Array
  /** For the value of each, or `BAD_LINE`. */
  readonly values: Uint32Array
}

/**
 * Reads `start,end,…` lines, both addresses of `family` and in order. `setValues` makes the values of all of them of what
 * stands behind. Throws `corrupt_data` naming the file when more than 1 % of the lines are bad, or all.
 *
 * Columns instead of a function for each line: a new thread compiles a loop over bytes once, and one with a function of
 * its caller's in it once for each caller.
 */
export function readRangeLines(
  { path, bytes }: CsvFile,
  family: 4 | 6,
  onProgress: (bytesRead: number) => void = () => {},
  setValues: (lines: ReadLines) => void = () => {},
): Ranges {
  const ranges = createRangeWriter(family, 65_536)
  const words = new Uint32Array(2 * WORDS[family])
  let ends = new Uint32Array(65_536)
  let count = 0
  let bad = 0
  for (let at = 0, lines = 1; at < bytes.length; lines++) {
    const newline = bytes.indexOf(LINE_FEED, at)
    const next = newline === -1 ? bytes.length : newline
    const end = next > at && bytes[next - 1] === RETURN ? next - 1 : next
    if (end > at) {
      const rest = family === 4 ? scanRange4(bytes, at, end, words) : scanRange6(bytes, at, end, words)
      if (rest === -1) bad++
      else {
        if (count === ends.length) ends = grown(ends)
        ends[count++] = end
        ranges.addWords(words, rest)
      }
    }
    at = next + 1
    if (lines % 65_536 === 0) onProgress(at)
  }
  const read = ranges.finish()
  setValues({ count, rests: read.values.slice(), ends, values: read.values })
  const kept = keepGood(read)
  requireMostlyGood({ good: kept.count, bad: bad + count - kept.count }, path)
  return kept
}

/** The ranges without those of bad lines, which are hardly ever any. */
function keepGood(read: Ranges): Ranges {
  const { family, count, firsts, lasts, values } = read
  if (!values.includes(BAD_LINE)) return read
  const width = WORDS[family]
  let kept = 0
  for (let range = 0; range < count; range++) {
    if (values[range] === BAD_LINE) continue
    firsts.copyWithin(kept * width, range * width, (range + 1) * width)
    lasts.copyWithin(kept * width, range * width, (range + 1) * width)
    values[kept++] = values[range] as number
  }
  return firstOf(read, kept)
}

/** Reads `start,end,` into two words; gives the position behind it, or -1. */
function scanRange4(bytes: Buffer, at: number, end: number, words: Uint32Array): number {
  const comma = scan4(bytes, at, end, words, 0)
  if (comma === -1 || bytes[comma] !== COMMA) return -1
  const second = scan4(bytes, comma + 1, end, words, 1)
  if (second === -1 || second >= end || bytes[second] !== COMMA) return -1
  return (words[0] as number) <= (words[1] as number) ? second + 1 : -1
}

/** The same of IPv6, into eight words. */
function scanRange6(bytes: Buffer, at: number, end: number, words: Uint32Array): number {
  const comma = indexOf(bytes, COMMA, at, end)
  const second = indexOf(bytes, COMMA, comma + 1, end)
  const isRead = scan6(bytes, at, comma, words, 0) && scan6(bytes, comma + 1, second, words, 4)
  return isRead && compareAt(6, words, 0, words, 1) <= 0 ? second + 1 : -1
}

/** `end` when there is none: a search that ran on would read a file without commas once for each of its lines. */
function indexOf(bytes: Uint8Array, byte: number, from: number, end: number): number {
  let at = from
  while (at < end && bytes[at] !== byte) at++
  return at
}

/** Where the comma stands behind the ASN that begins at `start`; -1 when it is not one. */
export function endOfAsn(bytes: Buffer, start: number, end: number): number {
  const at = indexOf(bytes, COMMA, start, end)
  // Ten digits are the longest, and a longer number would not be exact.
  if (at === start || at === end || at - start > 10) return -1
  for (let digit = start; digit < at; digit++) {
    if ((bytes[digit] as number) < ZERO || (bytes[digit] as number) > ZERO + 9) return -1
  }
  const asn = asnAt(bytes, start, at)
  return asn === 0 || asn > MAX_ASN ? -1 : at
}

/** The number that these digits are. */
export function asnAt(bytes: Buffer, start: number, end: number): number {
  let asn = 0
  for (let at = start; at < end; at++) asn = asn * 10 + (bytes[at] as number) - ZERO
  return asn
}

/** The last field of a line as UTF-8: as it stands, or quoted with `""` for a quote; `undefined` when badly quoted. */
export function readLastField(bytes: Buffer, start: number, end: number): string | undefined {
  if (start >= end || bytes[start] !== QUOTE) return bytes.toString('utf8', start, end)
  if (end - start < 2 || bytes[end - 1] !== QUOTE) return undefined
  const inner = bytes.toString('utf8', start + 1, end - 1)
  return inner.replaceAll('""', '').includes('"') ? undefined : inner.replaceAll('""', '"')
}
