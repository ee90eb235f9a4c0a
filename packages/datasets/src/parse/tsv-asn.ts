import type { CsvFile } from './csv.ts'

/**
 * The lines `start<tab>end<tab>asn<tab>country<tab>organisation` of both families, as the CSV files of one family each
 * that are read otherwise. Networks of AS 0 are not routed and are left out. A line in another form stays as it is, so
 * that it counts as a bad one.
 */
export function splitSystems({ path, bytes }: CsvFile): Readonly<Record<4 | 6, CsvFile>> {
  const lines: Record<4 | 6, string[]> = { 4: [], 6: [] }
  for (const line of bytes.toString('latin1').split('\n')) {
    if (line === '') continue
    const [first = '', last, asn, , organisation = ''] = line.replace('\r', '').split('\t')
    if (asn === '0') continue
    const quoted = `"${organisation.replaceAll('"', '""')}"`
    lines[first.includes(':') ? 6 : 4].push(asn === undefined ? line : `${first},${last},${asn},${quoted}`)
  }
  const file = (family: 4 | 6) => ({ path, bytes: Buffer.from(lines[family].join('\n'), 'latin1') })
  return { 4: file(4), 6: file(6) }
}
