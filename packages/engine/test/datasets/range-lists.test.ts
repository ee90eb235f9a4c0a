import { formatAddress } from '@sallyport/core'
import t from 'tap'
import { compileTables } from '../../src/datasets/index.ts'
import { type ListRow, readList } from '../../src/datasets/parse/list.ts'
import { entryAt } from '../../src/datasets/ranges/ranges.ts'
import { folder, madeSource } from './fixtures.ts'

const ROW: ListRow = { kind: 'ranges', format: 'text', networkClass: 'vpn' }

function counts(text: string, row: Partial<ListRow> = {}): [ipv4: number, ipv6: number] {
  const { ranges } = readList(Buffer.from(text), { ...ROW, ...row }, 'list.txt')
  return [ranges[4].count, ranges[6].count]
}

const PADDING = Array.from({ length: 200 }, (_, index) => `23.1.${index}.0/24\n`).join('')

t.test('bad lines are dropped: one in a hundred or three, and of a short list one for eight good lines', async (t) => {
  const bad = 'not an address\n'
  t.same(counts(bad.repeat(3) + PADDING), [200, 0])
  t.throws(() => counts(bad.repeat(4) + PADDING), { code: 'corrupt_data', message: /^list\.txt: 4 of 204/ })
  const good = PADDING.split('\n')
  const countWith = (size: number, ...bad: readonly string[]) => counts([...bad, ...good.slice(0, size)].join('\n'))
  t.same(countWith(8, 'a slip'), [8, 0])
  t.same(countWith(24, 'a slip', '0.0.0.0/1', '10.0.0.0/8'), [24, 0])
  t.throws(() => countWith(7, 'a slip'), { code: 'corrupt_data', message: /1 of 8 lines/ })
  t.throws(() => countWith(23, 'a slip', 'and one', 'and one more'), { code: 'corrupt_data', message: /3 of 26/ })
  const dir = folder(t)
  const row = { id: 'made', kind: 'ranges', networkClass: 'hosting' } as const
  const source = madeSource(dir, row, ['x', ...good.slice(0, 8)].join('\n'))
  const { sources } = await compileTables({ dataDir: dir, sources: [source] })
  t.match(sources, [{ state: 'loaded', entries: 8, left: 1 }], 'and says so')
})

t.test('a list of single addresses holds no prefixes', async (t) => {
  const addresses = PADDING.replaceAll('.0/24', '.9')
  t.same(counts(`23.9.0.0/24\n${addresses}`, { kind: 'addresses', networkClass: 'tor' }), [200, 0])
  t.same(counts(`23.9.0.1/32\n${addresses}`, { kind: 'addresses', networkClass: 'tor' }), [201, 0])
  t.same(counts(`2a00:1::/48\n${PADDING}`, { family: 4 }), [200, 0], 'and one of a family no other')
})

t.test('a list with a public service, or of an impossible share of the space, is refused', async (t) => {
  const poisoned = () => counts(`${PADDING}2606:4700:4700::/48\n`)
  t.throws(poisoned, { code: 'corrupt_data', message: /^list\.txt: .*public service/ })
  t.same(counts(`${PADDING}8.8.8.0/24\n`, { networkClass: 'hosting' }), [201, 0], 'as hosting it is true')
  const slashEights = (count: number) => Array.from({ length: count }, (_, index) => `${11 + index}.0.0.0/8`).join('\n')
  t.throws(() => counts(slashEights(17)), { code: 'corrupt_data', message: /too much of the IPv4 space/ })
  t.same(counts(slashEights(17), { networkClass: 'datacenter' }), [17, 0])
  t.throws(() => counts(slashEights(66), { networkClass: 'datacenter' }), { message: /too much of the IPv4 space/ })
})

/** Each line of a list has its range; a bad line, or one that nobody can mean, has none. */
const LINES: Readonly<Record<string, string>> = {
  '23.0.0.1': '23.0.0.1-23.0.0.1',
  ' 23.0.0.1 ': '23.0.0.1-23.0.0.1',
  '23.0.0.1/32': '23.0.0.1-23.0.0.1',
  '23.0.0.77/24': '23.0.0.0-23.0.0.255',
  '23.0.0.0/8': '23.0.0.0-23.255.255.255',
  '23.0.0.1-23.0.0.9': '23.0.0.1-23.0.0.9',
  '::ffff:23.0.0.1': '23.0.0.1-23.0.0.1',
  '2a00::1': '2a00::1-2a00::1',
  '2A00::/32': '2a00::-2a00:0:ffff:ffff:ffff:ffff:ffff:ffff',
  '23.0.0.9-23.0.0.1': '',
  '23.0.0.0/08': '',
  '23.0.0.0/33': '',
  '23.0.0.0/': '',
  '023.0.0.1': '',
  '23.0.0': '',
  '23.0.0.256': '',
  '23.0.0.1;': '',
  '2A00:1::/129': '',
  dead: '',
  '2a00::/18': '',
  '192.0.0.0/8': '',
  '2001:db8::/32': '',
  '4000::/20': '',
}

t.test('the entry of a line, with a comment behind it or without', async (t) => {
  const readHeld = (line: string) => {
    const { 4: four, 6: six } = readList(Buffer.from(`${line}\n${PADDING}`), ROW, 'list.txt').ranges
    const added = six.count > 0 ? six : four.count > 200 ? four : undefined
    if (added === undefined) return ''
    const { first, last } = entryAt(added, 0)
    return `${formatAddress(first)}-${formatAddress(last)}`
  }
  const held = Object.keys(LINES).map((line) => [line, [readHeld(line), readHeld(`${line} # said`)]])
  t.same(Object.fromEntries(held), Object.fromEntries(Object.entries(LINES).map(([line, is]) => [line, [is, is]])))
})

t.test('a byte order mark, and lines of Windows, are no entries', async (t) => {
  t.same(counts('\uFEFF23.0.0.0/24\r\n23.0.1.0/24\r\n'), [2, 0])
  t.same(counts('\uFEFFip,country\n23.0.0.0/24,DE\n', { format: 'geofeed' }), [1, 0])
})
