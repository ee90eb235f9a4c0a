import { compareAddresses, parseAddressIn } from '@sallyport/core'
import { createRangeWriter, type Ranges } from '../ranges/ranges.ts'
import { readLines, requireMostlyGood } from './lines.ts'

/** A CSV file. Messages name its path. */
export interface CsvFile {
  readonly path: string
  readonly bytes: Buffer
}

/**
 * Reads `start,end,…` lines, both addresses of `family` and in order. `readFields` makes the value of a range of the
 * fields after its addresses; `undefined` makes the line a bad one. Throws `corrupt_data` naming the file when more than
 * 1 % of the lines are bad, or all.
 */
export function readRangeLines(
  { path, bytes }: CsvFile,
  family: 4 | 6,
  readFields: (fields: string) => number | undefined,
): Ranges {
  const ranges = createRangeWriter(family, 65_536)
  let good = 0
  let bad = 0
  for (const line of readLines(bytes)) {
    const comma = line.indexOf(',')
    const second = line.indexOf(',', comma + 1)
    const first = parseAddressIn(line, 0, comma)
    const last = parseAddressIn(line, comma + 1, second)
    const isRange = first?.family === family && last?.family === family && compareAddresses(first, last) <= 0
    const value = isRange ? readFields(line.slice(second + 1)) : undefined
    if (!isRange || value === undefined) bad++
    else {
      ranges.add(first, last, value)
      good++
    }
  }
  requireMostlyGood({ good, bad }, path)
  return ranges.finish()
}

/** Reads the last field of a line, plain or quoted with `""` for a quote. Returns `undefined` when it is badly quoted. */
export function readLastField(text: string): string | undefined {
  if (!text.startsWith('"')) return text
  if (text.length < 2 || !text.endsWith('"')) return undefined
  const inner = text.slice(1, -1)
  return inner.replaceAll('""', '').includes('"') ? undefined : inner.replaceAll('""', '"')
}
