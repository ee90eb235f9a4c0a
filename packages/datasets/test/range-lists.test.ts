import { type Address, parse4, parseAddress } from '@sallyport/core'
import { createRandom } from '@sallyport/core/testing'
import t from 'tap'
import { parseEntry } from '../src/parse/entry.ts'
import { type ListForm, readList } from '../src/parse/list.ts'
import { scan4 } from '../src/parse/scan4.ts'
import { scan6 } from '../src/parse/scan6.ts'

const FORM: ListForm = { format: 'text', path: 'list.txt', networkClass: 'vpn', single: false }

function counts(text: string, form: Partial<ListForm> = {}): [ipv4: number, ipv6: number] {
  const ranges = readList(Buffer.from(text), { ...FORM, ...form }).ranges
  return [ranges[4].count, ranges[6].count]
}

const PADDING = Array.from({ length: 200 }, (_, index) => `23.1.${index}.0/24\n`).join('')

t.test('a list holds CIDRs and addresses of both families, comments and empty lines', async (t) => {
  const text = '# VPN\n\n23.0.0.0/24\r\n23.0.1.5 # one server\n  2a00:1::/48  \n2a00:2::1\n'
  t.same(counts(text), [2, 2])
  const { 4: ranges } = readList(Buffer.from(text), FORM).ranges
  t.same([ranges.firsts[0], ranges.lasts[0]], [0x17000000, 0x170000ff])
  t.same([ranges.firsts[1], ranges.lasts[1]], [0x17000105, 0x17000105])
})

t.test('host bits of a prefix are set aside', async (t) => {
  const { 4: ranges } = readList(Buffer.from('23.0.0.77/24'), FORM).ranges
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
  for (const [what, line] of REFUSED) t.same(counts(`${line}\n${PADDING}`), [200, 0], what)
})

t.test('more than one bad line in a hundred refuses the list by name', async (t) => {
  const bad = REFUSED.slice(0, 3).map(([, line]) => line)
  t.throws(() => counts(`${bad.join('\n')}\n${PADDING}`), { code: 'corrupt_data', message: /^list\.txt: 3 of 203/ })
})

t.test('a list without an entry is refused, be it empty, comments or a web page', async (t) => {
  for (const text of ['', '\n\n', '# nothing today\n', '<html><body>Not found</body></html>']) {
    t.throws(() => counts(text), { code: 'corrupt_data', message: /^list\.txt: not one line/ }, text)
  }
})

t.test('a list of one family holds no other', async (t) => {
  t.same(counts(`2a00:1::/48\n${PADDING}`, { family: 4 }), [200, 0])
})

t.test('a list of single addresses holds no prefixes', async (t) => {
  const addresses = PADDING.replaceAll('.0/24', '.9')
  t.same(counts(`23.9.0.0/24\n${addresses}`, { single: true, networkClass: 'tor' }), [200, 0])
  t.same(counts(`23.9.0.1/32\n${addresses}`, { single: true, networkClass: 'tor' }), [201, 0])
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
  t.throws(() => counts(slashEights(17)), { code: 'corrupt_data', message: /more of the IPv4 space/ })
  t.same(counts(slashEights(17), { networkClass: 'datacenter' }), [17, 0])
  t.throws(() => counts(slashEights(66), { networkClass: 'datacenter' }), { message: /more of the IPv4 space/ })
  const wide = Array.from(
    { length: 4100 },
    (_, index) => `${(0x2a00 + (index >> 3)).toString(16)}:${((index & 7) << 13).toString(16)}::/19`,
  )
  t.throws(() => counts(wide.join('\n')), { code: 'corrupt_data', message: /more of the IPv6 space/ })
})

t.test('an address read from bytes is the one read from text', async (t) => {
  const random = createRandom(23)
  const octets = ['0', '1', '9', '00', '01', '10', '99', '100', '255', '256', '300', '1000', '', 'a']
  const wrong: string[] = []
  for (let round = 0; round < 20_000; round++) {
    const text = Array.from({ length: 3 + random(3) }, () => octets[random(octets.length)]).join('.')
    const words = new Uint32Array(2)
    const stop = scan4(Buffer.from(`x${text},`), 1, text.length + 2, words, 1)
    const whole = stop === text.length + 1 ? words[1] : -1
    if (whole !== parse4(text)) wrong.push(text)
  }
  t.same(wrong, [])
})

t.test('an IPv6 address read from bytes is the one read from text', async (t) => {
  const random = createRandom(29)
  const parts = ['0', '1', 'a', 'F0', '2001', 'ffff', '', '', '00001', 'g', '23.0.0.1', '23.0.0.01']
  const wrong: string[] = []
  let good = 0
  for (let round = 0; round < 60_000; round++) {
    const random8 = random(2) === 0
    const length = random8 ? 8 : 1 + random(10)
    const text = Array.from({ length }, () => parts[random(random8 ? 6 : parts.length)])
      .join(':')
      .replace(random(4) === 0 ? /:[^:]*:/ : /^$/, '::')
    const expected = parseAddress(text)
    const words = new Uint32Array(5)
    const isRead = scan6(Buffer.from(`x${text},`), 1, text.length + 1, words, 1)
    if (isRead) good++
    const { a, b, c, d } = expected?.family === 6 ? expected : { a: 0, b: 0, c: 0, d: 0 }
    const isSame = [a, b, c, d].every((word, at) => words[at + 1] === word >>> 0)
    if (isRead !== (expected?.family === 6) || (isRead && !isSame)) wrong.push(text)
  }
  t.same(wrong, [])
  t.ok(good > 10_000, `${good} of them are addresses`)
  t.notOk(scan6(Buffer.from('::ffff:1700:1'), 0, 13, new Uint32Array(4), 0), 'a mapped one is none')
})

t.test('a plain line means what the same entry with a comment behind it means', async (t) => {
  const lines = [
    ...[
      '23.0.0.1',
      '23.0.0.1/32',
      '23.0.0.77/24',
      '23.0.0.0/8',
      '23.0.0.0/08',
      '23.0.0.0/33',
      '23.0.0.0/',
      '23.0.0.0/a',
    ],
    ...[
      '023.0.0.1',
      '23.0.0',
      '23.0.0.1.2',
      '23.0.0.256',
      '2a00::1',
      '2a00::/32',
      '2A00:1::/129',
      '::ffff:23.0.0.1',
      'dead',
    ],
    ...['23.0.0.1-23.0.0.9', '23.0.0.1 ', ' 23.0.0.1', '23.0.0.1;', '/24', ':', '23.0.0.1/24/24', '2a00::1;x'],
  ]
  for (const line of lines) {
    t.same(counts(`${line}\n${PADDING}`), counts(`${line} # said\n${PADDING}`), line)
    const entry = parseEntry(line.trim())
    const held = readList(Buffer.from(`${line}\n${PADDING}`), FORM).ranges[4]
    if (entry?.first.family !== 4 || held.count === 200) continue
    const bits = ({ d }: Address) => d >>> 0
    t.same([held.firsts[0], held.lasts[0]], [bits(entry.first), bits(entry.last)], line)
  }
})

t.test('a byte order mark, and lines of Windows, are no entries', async (t) => {
  t.same(counts('\uFEFF23.0.0.0/24\r\n23.0.1.0/24\r\n'), [2, 0])
  t.same(counts('\uFEFFip,country\n23.0.0.0/24,DE\n', { format: 'geofeed' }), [1, 0])
})
