import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SallyportError } from '@sallyport/core'
import { type EntryFormat, SOURCES, type SourceRow, type SystemListFormat } from '@sallyport/data/sources'
import t from 'tap'
import { readContents } from '../../src/datasets/parse/contents.ts'
import { type ListRow, readList } from '../../src/datasets/parse/list.ts'
import { readSystemList } from '../../src/datasets/parse/system-list.ts'

/** A small made file of a format, what is in it, and what must not pass for it. */
interface FormatFixture {
  readonly format: EntryFormat
  readonly good: string
  readonly counts: readonly [ipv4: number, ipv6: number]
  readonly made?: string | undefined
  readonly bad: readonly string[]
}

interface SystemFixture {
  readonly format: SystemListFormat
  readonly good: string
  readonly systems: readonly (readonly [asn: number, label: string])[]
  readonly bad: readonly string[]
}

const FIXTURES = readFileSync(join(import.meta.dirname, '../../../test/datasets/format-fixtures.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as FormatFixture | SystemFixture)

const FORMAT_FIXTURES = FIXTURES.filter((one): one is FormatFixture => 'counts' in one)
const SYSTEM_FIXTURES = FIXTURES.filter((one): one is SystemFixture => 'systems' in one)

const ROW = { kind: 'ranges', networkClass: 'hosting' } as const

function read(text: string, row: Pick<ListRow, 'format'> & Partial<ListRow>) {
  const { ranges, made } = readList(Buffer.from(text), { ...ROW, ...row }, 'feed')
  return { counts: [ranges[4].count, ranges[6].count], made }
}

/** The texts that are not refused as corrupt, by the name of the file. */
function accepted(texts: readonly string[], readText: (text: string) => unknown): readonly string[] {
  return texts.filter((text) => {
    try {
      readText(text)
      return true
    } catch (error) {
      return !(error instanceof SallyportError && error.code === 'corrupt_data' && error.message.startsWith('feed: '))
    }
  })
}

for (const { format, good, counts, made, bad } of FORMAT_FIXTURES) {
  t.test(`the format ${format}`, async (t) => {
    t.same(read(good, { format }).counts, counts, 'IPv4 and IPv6 entries')
    t.equal(read(good, { format }).made, made === undefined ? undefined : Date.parse(made), 'when it was made')
    const isDocument = /^[{[]/.test(good) && format !== 'spamhaus-drop'
    const cut = isDocument ? [good.slice(0, good.length >> 1)] : []
    const page = '<!DOCTYPE html><html><body>Too many requests</body></html>'
    const taken = accepted([...bad, ...cut, '', page, '{}', '[]'], (text) => read(text, { format }))
    t.same(taken, [])
  })
}

for (const { format, good, systems, bad } of SYSTEM_FIXTURES) {
  t.test(`the format ${format}`, async (t) => {
    t.same([...readSystemList(Buffer.from(good), format, 'feed')], systems)
    const readText = (text: string) => readSystemList(Buffer.from(text), format, 'feed')
    t.same(accepted([...bad, '', '<html>', '{}'], readText), [])
  })
}

t.test('reserved ranges in a list that holds them on purpose are left out', async (t) => {
  const text = '0.0.0.0/8\n10.0.0.0/8\n224.0.0.0/3\n23.5.0.0/16\n'
  t.same(read(text, { format: 'text', reservedIsExpected: true }).counts, [1, 0])
  t.throws(() => read(text, { format: 'text' }), { code: 'corrupt_data' })
})

t.test('coverage is counted after entries are put together', async (t) => {
  const covers = { ipv4: 65_536, ipv6: 1 }
  const nested = Array.from({ length: 200 }, (_, index) => `23.5.${index}.0/24`)
  t.same(read(['23.5.0.0/16', ...nested].join('\n'), { format: 'text', covers }).counts, [201, 0])
  for (const [text, message] of [
    ['23.5.0.0/16\n23.6.0.0/32', /too much of the IPv4 space/],
    ['2a00:1::/63', /no line could be read/],
    ['2a00:1::/64\n2a00:2::/64', /too much of the IPv6 space/],
  ] as const)
    t.throws(() => read(text, { format: 'text', covers }), { message }, text)
  t.same(read('2a00:1::/64', { format: 'text', covers }).counts, [0, 1])
})

t.test('a document that nests without end is not followed', async (t) => {
  const deep = `${'['.repeat(5000)}"23.0.0.1"${']'.repeat(5000)}`
  t.throws(() => read(deep, { format: 'json' }), { code: 'corrupt_data' })
})

t.test('an RDAP bootstrap file is counted by its names', async (t) => {
  const services = [
    [['com', 'net'], ['https://rdap.example.org/']],
    [['de'], ['https://rdap.example.de']],
  ]
  const row = SOURCES.find(({ kind }) => kind === 'rdap') as SourceRow
  const listEntries = (text: string) => readContents(row, { path: 'feed', bytes: Buffer.from(text) }).entries
  t.equal(listEntries(JSON.stringify({ version: '1.0', services })), 3)
  for (const text of ['', '<html>', '{}', JSON.stringify({ services: [] })]) {
    t.throws(() => listEntries(text), { code: 'corrupt_data', message: /^feed: / }, text)
  }
})
