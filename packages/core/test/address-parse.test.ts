import { existsSync, readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import {
  type Address,
  address4,
  address6,
  compareAddresses,
  formatAddress,
  nextAddress,
  parseAddress,
  parseAddressIn,
  sameAddress,
} from '../src/address/address.ts'
import { parse4 } from '../src/address/parse4.ts'

const SPECIAL = join(
  process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data'),
  'special',
)

const word = fc.oneof(fc.constant(0), fc.constant(-1), fc.integer())
const anyAddress: fc.Arbitrary<Address> = fc.oneof(
  word.map(address4),
  fc.tuple(word, word, word, word).map((words) => address6(...words)),
)

// Text, canonical text: written by hand from RFC 4291 section 2.2 and RFC 5952 sections 4 and 5.
const ACCEPTED: readonly (readonly [string, string])[] = [
  ['0.0.0.0', '0.0.0.0'],
  ['1.2.3.4', '1.2.3.4'],
  ['127.0.0.1', '127.0.0.1'],
  ['128.0.0.0', '128.0.0.0'],
  ['255.255.255.255', '255.255.255.255'],
  ['::', '::'],
  ['::1', '::1'],
  ['1::', '1::'],
  ['0:0:0:0:0:0:0:0', '::'],
  ['0:0:0:0:0:0:0:1', '::1'],
  ['2001:DB8::1', '2001:db8::1'],
  ['2001:0db8:0000:0000:0000:ff00:0042:8329', '2001:db8::ff00:42:8329'],
  ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
  ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
  ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
  ['1:2:3:4:5:6:7::', '1:2:3:4:5:6:7:0'],
  ['::2:3:4:5:6:7:8', '0:2:3:4:5:6:7:8'],
  ['1:2:3::5:6:7:8', '1:2:3:0:5:6:7:8'],
  ['ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
  ['64:ff9b::8.8.8.8', '64:ff9b::808:808'],
  ['::8.8.8.8', '::808:808'],
  ['1:2:3:4:5:6:1.2.3.4', '1:2:3:4:5:6:102:304'],
  ['1::6:255.255.255.255', '1::6:ffff:ffff'],
  ['fe80::1', 'fe80::1'],
]

// Every spelling of one IPv4 host through IPv4-mapped IPv6 is that IPv4 host.
const MAPPED: readonly string[] = [
  '::ffff:1.2.3.4',
  '::FFFF:1.2.3.4',
  '::ffff:102:304',
  '::ffff:0102:0304',
  '0:0:0:0:0:ffff:1.2.3.4',
  '0000:0000:0000:0000:0000:ffff:0102:0304',
  '0::ffff:1.2.3.4',
]

// These differ from the mapping by one bit, and stay IPv6.
const NOT_MAPPED: readonly string[] = [
  '::fffe:1.2.3.4',
  '::1:ffff:1.2.3.4',
  '::ffff:0:1.2.3.4',
  '1::ffff:1.2.3.4',
  '64:ff9b::1.2.3.4',
  '2002:102:304::',
  '::1.2.3.4',
]

const REFUSED: readonly string[] = [
  // These are empty, too short or too long.
  '',
  ' ',
  ':::',
  '1',
  '1.2.3',
  '.1.2.3.4',
  '1.2.3.4.5',
  '256.1.1.1',
  '1.2.3.1000',
  // These are other numbers for the same host: octal, hexadecimal, decimal, short.
  '0177.0.0.1',
  '1.2.3.04',
  '0x7f.0.0.1',
  '0x7f000001',
  '2130706433',
  '127.1',
  '1e1.2.3.4',
  // signs, blanks, controls, other scripts
  '+1.2.3.4',
  ' 1.2.3.4',
  '1.2.3.4\n',
  '1.2.3.4\0',
  '1.2.3.4\u00a0',
  '１.2.3.4',
  '1。2。3。4',
  '١.2.3.4',
  '::１',
  "1.2.3.4'; --",
  // These have something before or after the address.
  '1.2.3.4:80',
  '1.2.3.4/24',
  '[::1]:80',
  '::1%eth0',
  '::ffff:1.2.3.4%lo',
  // IPv6 grammar
  '1:2:3:4:5:6:7',
  '1:2:3:4:5:6:7:8:9',
  ':1:2:3:4:5:6:7',
  '1::2::3',
  '::1::',
  '1:2:3:4::5:6:7:8',
  '12345::',
  '::00001',
  'g::1',
  '::1\n',
  '1:2:3:4:5:6:7:1.2.3.4',
  '1:2:3:4:5:1.2.3.4',
  '::1.2.3.4:5',
  '1.2.3.4::',
  '1.2.3.4:5:6:7:8:9:a:b',
  '::1.2.3',
  '::ffff:0177.0.0.1',
  '::ffff:1.2.3.04',
  '::0x7f.0.0.1',
  // names
  'localhost',
  'example.com',
  `${'1'.repeat(5000)}.2.3.4`,
  ':'.repeat(5000),
]

t.test('addresses are read and written canonically', async (t) => {
  for (const [text, canonical] of ACCEPTED) {
    const address = parseAddress(text)
    t.ok(address, text)
    if (address !== undefined) t.equal(formatAddress(address), canonical, `${text} is written ${canonical}`)
  }
})

t.test('an IPv4-mapped address is the IPv4 address, by bits', async (t) => {
  for (const text of MAPPED) t.same(parseAddress(text), parseAddress('1.2.3.4'), text)
  for (const text of NOT_MAPPED) t.equal(parseAddress(text)?.family, 6, text)
})

t.test('forms that programs disagree about are refused', async (t) => {
  t.same(
    REFUSED.filter((text) => parseAddress(text) !== undefined),
    [],
  )
})

t.test('parse4 is the value or -1, within the bounds it is given', async (t) => {
  t.equal(parse4('255.255.255.255'), 0xffffffff)
  t.equal(parse4('0.0.0.0'), 0)
  t.equal(parse4('x1.2.3.4y', 1, 8), 0x01020304)
  t.equal(parse4('::1'), -1)
  t.same(parseAddressIn('[2001:db8::1]', 1, 12), parseAddress('2001:db8::1'))
  t.equal(parseAddressIn('2001:db8::1', 0, 10)?.d, 0)
})

t.test('every address has one shape of object', async (t) => {
  for (const text of ['1.2.3.4', '::1', '::ffff:1.2.3.4', '1:2:3:4:5:6:7:8']) {
    t.same(Object.keys(parseAddress(text) ?? {}), ['family', 'a', 'b', 'c', 'd'], text)
  }
})

t.test('reading undoes writing', async () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      const read = parseAddress(formatAddress(address))
      return read !== undefined && sameAddress(read, address)
    }),
  )
})

t.test("reading agrees with node:net's isIP, zone ids aside", async () => {
  const piece = fc.constantFrom('0', '1', '00', '255', '256', 'a', 'FFFF', '12345', '', ':', '::', '.', '1.2.3.4', 'x')
  const near = fc
    .array(fc.oneof(piece, fc.constant(':'), fc.constant('.')), { maxLength: 18 })
    .map((all) => all.join(''))
  const groups = fc
    .array(fc.constantFrom('0', '1', 'ab', 'ffff', ''), { minLength: 6, maxLength: 9 })
    .map((all) => all.join(':'))
  fc.assert(
    fc.property(fc.oneof(near, groups, anyAddress.map(formatAddress), fc.string()), (text) => {
      return text.includes('%') || (parseAddress(text) !== undefined) === (isIP(text) !== 0)
    }),
    { numRuns: 2000 },
  )
})

t.test('order is that of unsigned numbers, IPv4 first', async (t) => {
  const texts = [
    '0.0.0.0',
    '127.255.255.255',
    '128.0.0.0',
    '255.255.255.255',
    '::',
    '::1',
    '7fff::',
    '8000::',
    'ffff::',
  ]
  const ascending = texts.map((text) => parseAddress(text) as Address)
  t.same([...ascending].reverse().sort(compareAddresses), ascending)
  for (const address of ascending) t.equal(compareAddresses(address, { ...address }), 0)
  t.equal(sameAddress(address4(1), { family: 6, a: 0, b: 0, c: 0, d: 1 }), false, '0.0.0.1 is not ::1')
})

t.test('the next address carries through the words and ends with its family', async (t) => {
  const next = (text: string) => {
    const address = nextAddress(parseAddress(text) as Address)
    return address === undefined ? undefined : formatAddress(address)
  }
  t.equal(next('1.2.3.255'), '1.2.4.0')
  t.equal(next('127.255.255.255'), '128.0.0.0')
  t.equal(next('255.255.255.255'), undefined)
  t.equal(next('::ffff:ffff:ffff:ffff'), '0:0:0:1::')
  t.equal(next('1:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), '2::')
  t.equal(next('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), undefined)
})

t.test('shared vectors: what is not one plain address is refused', { skip: noVectors() }, async (t) => {
  const vectors = JSON.parse(readFileSync(join(SPECIAL, 'invalid-addresses.json'), 'utf8')) as { input: string }[]
  for (const { input } of vectors) t.equal(parseAddress(input), undefined, JSON.stringify(input))
})

t.test('shared vectors: special addresses are addresses', { skip: noVectors() }, async (t) => {
  const vectors = JSON.parse(readFileSync(join(SPECIAL, 'special-addresses.json'), 'utf8')) as { input: string }[]
  for (const { input } of vectors) t.ok(parseAddress(input), input)
})

function noVectors(): string | false {
  return existsSync(SPECIAL) ? false : `no vectors at ${SPECIAL}`
}
