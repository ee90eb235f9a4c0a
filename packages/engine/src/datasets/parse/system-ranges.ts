import { parseAsn } from '@sallyport/core'
import type { Ranges } from '../ranges/ranges.ts'
import { type CsvFile, readLastField, readRangeLines } from './csv.ts'
import { readLines } from './lines.ts'

/** Ranges of the systems, and their names, never empty; values count the systems from 0 as they come. */
export interface SystemRanges {
  readonly ranges: Ranges
  readonly asns: readonly number[]
  readonly names: readonly string[]
}

/** Reads `start,end,asn,organisation` lines. Throws `corrupt_data`. */
export function readSystemRanges(file: CsvFile, family: 4 | 6): SystemRanges {
  const asns: number[] = []
  const names: string[] = []
  const numbers = new Map<number, number>()
  const systemNumber = (fields: string): number | undefined => {
    const comma = fields.indexOf(',')
    const asn = parseAsn(fields.slice(0, Math.max(comma, 0)))
    if (asn === undefined || asn === 0) return undefined
    const known = numbers.get(asn)
    if (known !== undefined) return known
    const name = readLastField(fields.slice(comma + 1))
    if (name === undefined) return undefined
    numbers.set(asn, asns.push(asn) - 1)
    return names.push(name.trim() || `AS${asn}`) - 1
  }
  return { ranges: readRangeLines(file, family, systemNumber), asns, names }
}

/**
 * Splits the lines `start<tab>end<tab>asn<tab>country<tab>organisation` of both families into CSV files of one family each. Networks of AS
 * 0 are not routed and are left out. A line in another form is kept as it is, so that it counts as a bad one.
 */
export function splitSystems({ path, bytes }: CsvFile): Readonly<Record<4 | 6, CsvFile>> {
  const lines: Record<4 | 6, string[]> = { 4: [], 6: [] }
  for (const line of readLines(bytes)) {
    const [first = '', last, asn, , organisation = ''] = line.split('\t')
    if (asn === '0') continue
    const quoted = `"${organisation.replaceAll('"', '""')}"`
    lines[first.includes(':') ? 6 : 4].push(asn === undefined ? line : `${first},${last},${asn},${quoted}`)
  }
  const file = (family: 4 | 6) => ({ path, bytes: Buffer.from(lines[family].join('\n')) })
  return { 4: file(4), 6: file(6) }
}
