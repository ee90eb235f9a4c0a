import { type Address, compareAddresses, parseAddressIn } from '@sallyport/core'
import { type LineTally, requireMostlyGood } from './lines.ts'

const QUOTE = 34
const COMMA = 44
const RETURN = 13
const MAX_ASN = 0xffffffff

/** A line's range, and where what is behind it begins and ends. */
export interface RangeLine {
  readonly first: Address
  readonly last: Address
  readonly start: number
  readonly end: number
}

/** A CSV file as bytes and as one-byte text, in which positions are byte positions. */
export interface CsvFile {
  readonly path: string
  readonly bytes: Buffer
  readonly text: string
}

export function csvFile(path: string, bytes: Buffer): CsvFile {
  return { path, bytes, text: bytes.toString('latin1') }
}

/**
 * Reads `start,end,…` lines, both addresses of `family` and in order. `visit` returns false for a line whose further
 * fields are bad. Throws `corrupt_data` naming the file when more than 1 % of the lines are bad, or all.
 */
export function readRangeLines(
  { path, text }: CsvFile,
  family: 4 | 6,
  visit: (line: RangeLine) => boolean,
  onProgress: (bytesRead: number) => void = () => {},
): LineTally {
  let good = 0
  let bad = 0
  for (let at = 0, lines = 1; at < text.length; lines++) {
    const newline = text.indexOf('\n', at)
    const next = newline === -1 ? text.length : newline
    const end = next > at && text.charCodeAt(next - 1) === RETURN ? next - 1 : next
    if (end > at) {
      const line = readLine(text, at, end, family)
      if (line !== undefined && visit(line)) good++
      else bad++
    }
    at = next + 1
    if (lines % 65_536 === 0) onProgress(at)
  }
  const tally = { good, bad }
  requireMostlyGood(tally, path)
  return tally
}

function readLine(text: string, at: number, end: number, family: 4 | 6): RangeLine | undefined {
  const comma = indexOfComma(text, at, end)
  const second = indexOfComma(text, comma + 1, end)
  const first = parseAddressIn(text, at, comma)
  const last = parseAddressIn(text, comma + 1, second)
  if (first?.family !== family || last?.family !== family || compareAddresses(first, last) > 0) return undefined
  return { first, last, start: second + 1, end }
}

/** `end` when there is none: a search that ran on would read a file without commas once for each of its lines. */
function indexOfComma(text: string, from: number, end: number): number {
  let at = from
  while (at < end && text.charCodeAt(at) !== COMMA) at++
  return at
}

/** The ASN in front of the next comma, and where the organisation's name begins; `undefined` when it is not one. */
export function readAsn(text: string, { start, end }: RangeLine): { asn: number; next: number } | undefined {
  let asn = 0
  let at = start
  for (; at < end && text.charCodeAt(at) !== COMMA; at++) {
    const digit = text.charCodeAt(at) - 48
    if (digit < 0 || digit > 9) return undefined
    asn = asn * 10 + digit
    if (asn > MAX_ASN) return undefined
  }
  return asn === 0 || at === end ? undefined : { asn, next: at + 1 }
}

/** The last field of a line as UTF-8: as it stands, or quoted with `""` for a quote; `undefined` when badly quoted. */
export function readLastField({ bytes, text }: CsvFile, start: number, end: number): string | undefined {
  if (start >= end || text.charCodeAt(start) !== QUOTE) return bytes.toString('utf8', start, end)
  if (end - start < 2 || text.charCodeAt(end - 1) !== QUOTE) return undefined
  const inner = bytes.toString('utf8', start + 1, end - 1)
  return inner.replaceAll('""', '').includes('"') ? undefined : inner.replaceAll('""', '"')
}
