import { isIP } from 'node:net'
import fc from 'fast-check'
import t from 'tap'
import {
  type Address,
  address4,
  address6,
  formatAddress,
  parse4,
  parseAddress,
  parseAddressIn,
} from '../src/address/address.ts'
import { compareAddresses, nextAddress, previousAddress, sameAddress } from '../src/address/address-order.ts'
import { splitWords } from './support.ts'

const word = fc.oneof(fc.constant(0), fc.constant(-1), fc.integer())
const anyAddress: fc.Arbitrary<Address> = fc.oneof(
  word.map(address4),
  fc.tuple(word, word, word, word).map((words) => address6(...words)),
)

// Text=canonical text: written by hand from RFC 4291 section 2.2 and RFC 5952 sections 4 and 5.
const ACCEPTED = splitWords(`
  128.0.0.0=128.0.0.0 255.255.255.255=255.255.255.255 ::=:: 1::=1:: 0:0:0:0:0:0:0:1=::1
  2001:0DB8:0000:0000:0000:ff00:0042:8329=2001:db8::ff00:42:8329 2001:db8:0:0:1:0:0:1=2001:db8::1:0:0:1
  2001:db8:0:1:1:1:1:1=2001:db8:0:1:1:1:1:1 2001:0:0:1:0:0:0:1=2001:0:0:1::1 1:2:3:4:5:6:7::=1:2:3:4:5:6:7:0
  ::2:3:4:5:6:7:8=0:2:3:4:5:6:7:8 64:ff9b::8.8.8.8=64:ff9b::808:808 1:2:3:4:5:6:1.2.3.4=1:2:3:4:5:6:102:304
`)

t.test('addresses are read within the bounds that are given, and written canonically', async (t) => {
  for (const pair of ACCEPTED) {
    const [text = '', canonical] = pair.split('=')
    const address = parseAddress(text)
    t.equal(address && formatAddress(address), canonical, text)
  }
  t.equal(parse4('x1.2.3.4y', 1, 8), 0x01020304)
  t.equal(parse4('::1'), -1)
  t.same(parseAddressIn('[2001:db8::1]', 1, 12), parseAddress('2001:db8::1'))
  t.equal(parseAddressIn('2001:db8::1', 0, 10)?.d, 0)
})

t.test('an IPv4-mapped address is the IPv4 address, by bits', async (t) => {
  const mapped = splitWords(`
    ::FFFF:1.2.3.4 ::ffff:102:304 ::ffff:0102:0304 0:0:0:0:0:ffff:1.2.3.4 0000:0000:0000:0000:0000:ffff:0102:0304
    0::ffff:1.2.3.4
  `)
  for (const text of mapped) t.same(parseAddress(text), parseAddress('1.2.3.4'), text)
  // These differ from the mapping by one bit or one word, and stay IPv6.
  const others = splitWords(`
    ::fffe:1.2.3.4 ::1:ffff:1.2.3.4 ::ffff:0:1.2.3.4 1::ffff:1.2.3.4 64:ff9b::1.2.3.4 2002:102:304:: ::1.2.3.4
  `)
  for (const text of others) t.equal(parseAddress(text)?.family, 6, text)
})

t.test('forms that programs disagree about are refused', async (t) => {
  const refused = [
    // The first two lines write the number of a host in another way.
    ...splitWords(`
      0177.0.0.1 1.2.3.04 0x7f.0.0.1 0x7f000001 2130706433 127.1 1e1.2.3.4 1 1.2.3 .1.2.3.4 1.2.3.4.5 256.1.1.1
      1.2.3.1000 ::1.2.3 ::ffff:0177.0.0.1 ::ffff:1.2.3.04 ::0x7f.0.0.1
      +1.2.3.4 １.2.3.4 1。2。3。4 ١.2.3.4 ::１ localhost example.com
      1.2.3.4:80 1.2.3.4/24 [::1]:80 ::1%eth0 ::ffff:1.2.3.4%lo
      ::: 1:2:3:4:5:6:7 1:2:3:4:5:6:7:8:9 :1:2:3:4:5:6:7 1::2::3 ::1:: 1:2:3:4::5:6:7:8 12345:: ::00001 g::1
      1:2:3:4:5:6:7:1.2.3.4 1:2:3:4:5:1.2.3.4 ::1.2.3.4:5 1.2.3.4:: 1.2.3.4:5:6:7:8:9:a:b
    `),
    ...['', ' ', ' 1.2.3.4', '1.2.3.4\n', '1.2.3.4\0', '1.2.3.4\u00a0', "1.2.3.4'; --", '::1\n'],
    ...[`${'1'.repeat(5000)}.2.3.4`, ':'.repeat(5000)],
  ]
  const wrong = refused.filter((text) => parseAddress(text) !== undefined)
  t.same(wrong, [])
})

t.test('reading undoes writing, and the address before the next one is the same again', async () => {
  fc.assert(
    fc.property(anyAddress, (address) => {
      const read = parseAddress(formatAddress(address))
      const next = nextAddress(address)
      const back = next === undefined ? address : previousAddress(next)
      return read !== undefined && sameAddress(read, address) && back !== undefined && sameAddress(back, address)
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
  const texts = splitWords('0.0.0.0 127.255.255.255 128.0.0.0 255.255.255.255 :: ::1 7fff:: 8000:: ffff::')
  const ascending = texts.map((text) => parseAddress(text) as Address)
  t.same([...ascending].reverse().sort(compareAddresses), ascending)
  t.equal(sameAddress(address4(1), { family: 6, a: 0, b: 0, c: 0, d: 1 }), false, '0.0.0.1 is not ::1')
})

t.test('the next address carries through the words, and families have a first and a last one', async (t) => {
  const next = (text: string) => {
    const address = nextAddress(parseAddress(text) as Address)
    return address === undefined ? undefined : formatAddress(address)
  }
  t.equal(next('127.255.255.255'), '128.0.0.0')
  t.equal(next('255.255.255.255'), undefined)
  t.equal(next('::ffff:ffff:ffff:ffff'), '0:0:0:1::')
  t.equal(next('1:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), '2::')
  t.equal(next('ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'), undefined)
  for (const text of ['0.0.0.0', '::']) t.equal(previousAddress(parseAddress(text) as Address), undefined)
})
