import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { findSystemType } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { countEntries, resolveSources } from '../../src/datasets/index.ts'
import { readSystemRanges } from '../../src/datasets/parse/system-ranges.ts'
import { readSource, type SourceFile } from '../../src/datasets/sources/source-file.ts'
import { folder } from './fixtures.ts'

/* A publisher of the file of systems could call all of the internet an anonymiser: it is bounded like every list. */

const row = (id: string) => SOURCES.find((candidate) => candidate.id === id) as SourceRow

/** What comes with a release. */
const published = (id: string) => readSource(resolveSources().find(({ row }) => row.id === id)?.file as SourceFile)

/** So many /8s, each with what `line` says of it. */
const eights = (line: (first: number) => string) =>
  Array.from({ length: 190 }, (_, index) => `${index + 20}.0.0.0,${index + 20}.255.255.255,${line(index)}`)

const HOMES = eights((index) => `${64_512 + index},Kent Cable Telecom`)

t.test('plausible files are taken, the published ones first of all', async (t) => {
  for (const id of ['asn-csv-v4', 'asn-csv-v6']) {
    const path = join(folder(t), id)
    writeFileSync(path, published(id))
    t.ok(countEntries(row(id), path).entries > 100_000, id)
  }
  const path = join(folder(t), 'own.csv')
  writeFileSync(path, '8.0.0.0,8.0.255.255,60729,Stiftung Erneuerbare Freiheit\n')
  t.equal(countEntries(row('asn-csv-v4'), path).entries, 1, 'a small file of somebody’s own may hold what it likes')
  writeFileSync(path, HOMES.join('\n'))
  t.equal(countEntries(row('asn-csv-v4'), path).entries, 190)
})

const TOO_MUCH = 'assigns too much of IPv4 to'
/** Lines of a file, why it is refused, and the source that it is a file of. */
const IMPLAUSIBLE: readonly (readonly [lines: readonly string[], reason: string, id?: string])[] = [
  [[...HOMES.slice(3), '23.0.0.0,24.255.255.255,60729,A Tor operator'], `${TOO_MUCH} anonymisers`],
  [[...HOMES, '23.0.0.0,24.255.255.255,64500,Northern VPN Service'], `${TOO_MUCH} anonymisers`],
  [[...HOMES, ...HOMES, ...HOMES, '23.0.0.0,24.255.255.255,60729,X'], `${TOO_MUCH} anonymisers`],
  [eights(() => '24940,Hetzner'), `${TOO_MUCH} hosting and clouds`],
  [eights((index) => `${64_512 + index},Blue Hosting`), `${TOO_MUCH} hosting and clouds`],
  [eights(() => '22394,Cellco'), 'to mobile carriers'],
  [eights(() => '7922,Comcast'), 'assigns most of IPv4 to one AS'],
  [['0.0.0.0,255.255.255.255,7922,Comcast'], 'assigns most of IPv4 to one AS'],
  [[...HOMES, '9.9.9.0,9.9.9.255,60729,X'], 'the file assigns a public service to an anonymiser: 9.9.9.9'],
  [['2a00::,2a00:ffff:ffff:ffff:ffff:ffff:ffff:ffff,60729,X'], 'assigns too much of IPv6 to anonymisers', 'asn-csv-v6'],
  [['23.0.0.0\t123.255.255.255\t60729\tDE\tX', '2a00::\t2a00::ffff\t7922\tUS\tComcast'], TOO_MUCH, 'iptoasn'],
]

t.test('implausible files are refused, whatever they are spread over', async (t) => {
  const path = join(folder(t), 'asn.csv')
  for (const [lines, reason, id = 'asn-csv-v4'] of IMPLAUSIBLE) {
    writeFileSync(path, lines.join('\n'))
    const message = new RegExp(`asn\\.csv: .*${reason}`)
    t.throws(() => countEntries(row(id), path), { code: 'corrupt_data', message }, reason)
  }
})

t.test('a list of systems that hide their users is too short to hold much, were it the largest of all', async (t) => {
  const { ranges, asns, names } = readSystemRanges({ path: 'asn.csv', bytes: published('asn-csv-v4') }, 4)
  const sizes = new Float64Array(asns.length)
  ranges.values.forEach((system, range) => {
    const size = (ranges.lasts[range] as number) - (ranges.firsts[range] as number) + 1
    sizes[system] = (sizes[system] as number) + size
  })
  // The operator table speaks before a list does.
  const open = sizes.filter(
    (_, system) => findSystemType(asns[system] as number, names[system] as string).basis !== 'operator',
  )
  open.sort().reverse()
  const lists = SOURCES.filter(({ asType }) => asType === 'vpn' || asType === 'tor')
  t.ok(lists.length >= 3)
  for (const { id, entries } of lists) {
    const most = open.slice(0, entries?.max).reduce((sum, size) => sum + size, 0)
    t.ok(most < 2 ** 32 / 32, `${id}: ${(most / 2 ** 32) * 100} % of IPv4`)
  }
})
