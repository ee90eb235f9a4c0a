import { isRecord, parseAsn, SallyportError } from '@sallyport/core'
import type { SystemListFormat } from '@sallyport/data/sources'
import { contentLines, field, parseJson } from './formats.ts'
import { valuesAt } from './json-paths.ts'
import { readLines, requireMostlyGood } from './lines.ts'

/** Autonomous systems that a list names, each with its label ('' when there is none). */
export type SystemList = ReadonlyMap<number, string>

type Written = readonly [asn: unknown, label: unknown]

/**
 * Reads a list of autonomous systems. Throws `corrupt_data` naming the file when more than 1 % of the entries are bad,
 * or all.
 */
export function readSystemList(bytes: Buffer, format: SystemListFormat, path: string): SystemList {
  const systems = new Map<number, string>()
  let bad = 0
  for (const [written, label] of readWritten(bytes, format, path)) {
    const asn = parseAsn(String(written))
    if (asn === undefined) bad++
    else systems.set(asn, typeof label === 'string' ? label.trim() : '')
  }
  requireMostlyGood({ good: systems.size, bad }, path)
  return systems
}

function* readWritten(bytes: Buffer, format: SystemListFormat, path: string): Generator<Written> {
  switch (format) {
    case 'asn-text':
      // A line is `AS64500 # name`: the comment is the label.
      for (const line of readLines(bytes)) {
        const [asn = '', label = ''] = line.split('#', 2)
        if (asn.trim() !== '') yield [asn.trim(), label]
      }
      return
    case 'csv-asn-name':
      // A line is `AS64500,name`, or `64500,handle,"name",country` below a head.
      for (const line of contentLines(bytes)) {
        if (!/^asn\b/i.test(line)) yield [field(line, ',', 0), line.slice(line.indexOf(',') + 1).replaceAll('"', '')]
      }
      return
    case 'peeringdb':
      for (const network of valuesAt(parseJson(bytes.toString('utf8'), path), 'data.*')) {
        yield isRecord(network) ? [network['asn'], network['info_type']] : [undefined, '']
      }
      return
    case 'spamhaus-asndrop':
      for (const line of readLines(bytes)) {
        if (line.trim() === '') continue
        const value = jsonLine(line, path)
        if (value['type'] !== 'metadata') yield [value['asn'], value['asname']]
      }
  }
}

function jsonLine(line: string, path: string): Readonly<Record<string, unknown>> {
  const value = parseJson(line, path)
  if (!isRecord(value)) throw new SallyportError('corrupt_data', `${path}: a line is not a JSON object`)
  return value
}
