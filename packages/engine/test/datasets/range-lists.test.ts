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

t.test('a list holds CIDRs and addresses of both families, comments and empty lines', async (t) => {
  const text = '# VPN\n\n23.0.0.0/24\r\n23.0.1.5 # one server\n  2a00:1::/48  \n2a00:2::1\n'
  t.same(counts(text), [2, 2])
  const { 4: ranges } = readList(Buffer.from(text), ROW, 'list.txt').ranges
  t.same([ranges.firsts[0], ranges.lasts[0]], [0x17000000, 0x170000ff])
  t.same([ranges.firsts[1], ranges.lasts[1]], [0x17000105, 0x17000105])
})

t.test('host bits of a prefix are set aside', async (t) => {
  const { 4: ranges } = readList(Buffer.from('23.0.0.77/24'), ROW, 'list.txt').ranges
  t.same([ranges.firsts[0], ranges.lasts[0]], [0x17000000, 0x170000ff])
})

const REFUSED = [
  ['garbage', 'not an address'],
  ['two addresses in one', '176.221.42.3254.174.140.223'],
  ['a path read as a mask', '1.2.3.4/1/panel'],
  ['everything, IPv4', '0.0.0.0/0'],
  ['everything, IPv6', '::/0'],
  ['half of IPv4', '128.0.0.0/1'],
  ['a prefix shorter than /8', '23.0.0.0/7'],
  ['an IPv6 prefix shorter than /19', '2a00::/18'],
  ['a private network', '10.1.0.0/16'],
  ['a network around a private one', '192.0.0.0/8'],
  ['loopback', '127.0.0.1'],
  ['the unspecified address', '0.0.0.0'],
  ['documentation space', '2001:db8::/32'],
  ['IPv6 that nobody has been given', '4000::/20'],
] as const

t.test('an entry that cannot be meant is a bad line', async (t) => {
  t.same(
    REFUSED.filter(([, line]) => counts(`${line}\n${PADDING}`).join() !== '200,0'),
    [],
  )
})

t.test('more than one bad line in a hundred, and more than three, refuse the list by name', async (t) => {
  const bad = REFUSED.slice(0, 4).map(([, line]) => line)
  t.throws(() => counts(`${bad.join('\n')}\n${PADDING}`), { code: 'corrupt_data', message: /^list\.txt: 4 of 204/ })
})

t.test('a short list loses its bad lines and not itself, while there are eight good ones for each', async (t) => {
  const good = PADDING.split('\n')
  const of =
    (size: number, ...bad: readonly string[]) =>
    () =>
      counts([...bad, ...good.slice(0, size)].join('\n'))
  t.same(of(8, 'a slip')(), [8, 0])
  t.same(of(24, 'a slip', '0.0.0.0/1', '10.0.0.0/8')(), [24, 0])
  t.throws(of(7, 'a slip'), { code: 'corrupt_data', message: /1 of 8 lines/ })
  t.throws(of(23, 'a slip', 'and one', 'and one more'), { code: 'corrupt_data', message: /3 of 26/ })
  const dir = folder(t)
  const source = madeSource(
    dir,
    { id: 'made', kind: 'ranges', networkClass: 'hosting' },
    ['x', ...good.slice(0, 8)].join('\n'),
  )
  const { sources } = await compileTables({ dataDir: dir, sources: [source] })
  t.match(sources, [{ state: 'loaded', entries: 8, left: 1 }], 'and says so')
})

t.test('a list without an entry is refused, be it empty, comments or a web page', async (t) => {
  for (const text of ['', '\n\n', '# nothing today\n', '<html><body>Not found</body></html>']) {
    t.throws(() => counts(text), { code: 'corrupt_data', message: /^list\.txt: no line/ }, text)
  }
})

t.test('a list of one family holds no other', async (t) => {
  t.same(counts(`2a00:1::/48\n${PADDING}`, { family: 4 }), [200, 0])
})

t.test('a list of single addresses holds no prefixes', async (t) => {
  const addresses = PADDING.replaceAll('.0/24', '.9')
  t.same(counts(`23.9.0.0/24\n${addresses}`, { kind: 'addresses', networkClass: 'tor' }), [200, 0])
  t.same(counts(`23.9.0.1/32\n${addresses}`, { kind: 'addresses', networkClass: 'tor' }), [201, 0])
})

t.test('a public resolver or root server as an anonymiser refuses the list', async (t) => {
  for (const poison of ['1.1.1.1', '8.8.0.0/16', '193.0.14.129', '2606:4700:4700::/48']) {
    t.throws(
      () => counts(`${PADDING}${poison}\n`),
      { code: 'corrupt_data', message: /^list\.txt: .*public service/ },
      poison,
    )
  }
  t.same(counts(`${PADDING}8.8.8.0/24\n`, { networkClass: 'hosting' }), [201, 0], 'as hosting it is true')
})

t.test('a list that adds up to an impossible share of the space is refused', async (t) => {
  const slashEights = (count: number) => Array.from({ length: count }, (_, index) => `${11 + index}.0.0.0/8`).join('\n')
  t.throws(() => counts(slashEights(17)), { code: 'corrupt_data', message: /too much of the IPv4 space/ })
  t.same(counts(slashEights(17), { networkClass: 'datacenter' }), [17, 0])
  t.throws(() => counts(slashEights(66), { networkClass: 'datacenter' }), { message: /too much of the IPv4 space/ })
  const wide = Array.from(
    { length: 4100 },
    (_, index) => `${(0x2a00 + (index >> 3)).toString(16)}:${((index & 7) << 13).toString(16)}::/19`,
  )
  t.throws(() => counts(wide.join('\n')), { code: 'corrupt_data', message: /too much of the IPv6 space/ })
})

/** Each line of a list has its range; a bad line has none. */
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
  '23.0.0.0/a': '',
  '23.0.0.1/24/24': '',
  '023.0.0.1': '',
  '23.0.0': '',
  '23.0.0.1.2': '',
  '23.0.0.256': '',
  '23.0.0.1;': '',
  '2A00:1::/129': '',
  '2a00::1;x': '',
  dead: '',
  '/24': '',
  ':': '',
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
