import fc from 'fast-check'
import IPCIDR from 'ip-cidr'
import t from 'tap'
import { type Address, address4, address6, formatAddress } from '../src/address/address.ts'
import { compareAddresses, nextAddress, sameAddress } from '../src/address/address-order.ts'
import { createPartition } from '../src/address/partition.ts'
import {
  coverRange,
  formatHostOrPrefix,
  formatPrefix,
  lastAddress,
  makePrefix,
  parseHostOrPrefix,
  parsePrefix,
  prefixContains,
} from '../src/address/prefix.ts'
import { createPrefixSet, prefixSetSteps } from '../src/address/prefix-set.ts'
import { makeAddress as at, readPrefix as net } from '../src/testing/fakes.ts'
import { splitWords } from './support.ts'

const word = fc.oneof(fc.constant(0), fc.constant(-1), fc.integer())
const four: fc.Arbitrary<Address> = word.map(address4)
const six: fc.Arbitrary<Address> = fc
  .tuple(word, word, word, word)
  .map((words) => address6(...words))
  .filter(({ family }) => family === 6)
const prefix4 = fc.tuple(four, fc.integer({ min: 0, max: 32 })).map((of) => makePrefix(...of))
const prefix6 = fc.tuple(six, fc.integer({ min: 0, max: 128 })).map((of) => makePrefix(...of))
const anyPrefix = fc.oneof(prefix4, prefix6)

t.test('prefixes are read, host bits set to zero', async (t) => {
  for (const [text, canonical, first, last] of [
    ['1.2.3.4/32', '1.2.3.4/32', '1.2.3.4', '1.2.3.4'],
    ['1.2.3.4/24', '1.2.3.0/24', '1.2.3.0', '1.2.3.255'],
    ['255.255.255.255/1', '128.0.0.0/1', '128.0.0.0', '255.255.255.255'],
    ['2001:DB8::1/32', '2001:db8::/32', '2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['2001:db8::ff/121', '2001:db8::80/121', '2001:db8::80', '2001:db8::ff'],
    ['::/0', '::/0', '::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'],
    ['ffff::/33', 'ffff::/33', 'ffff::', 'ffff:0:7fff:ffff:ffff:ffff:ffff:ffff'],
    ['::ffff:0:0/96', '0.0.0.0/0', '0.0.0.0', '255.255.255.255'],
  ] as const) {
    const prefix = net(text)
    t.equal(formatPrefix(prefix), canonical, text)
    t.equal(formatAddress(prefix.address), first)
    t.equal(formatAddress(lastAddress(prefix)), last)
  }
})

t.test('a text that is not a prefix is refused', async (t) => {
  const texts = [
    ...splitWords(`
      / 1.2.3.4 1.2.3.4/ /24 1.2.3.4/33 1.2.3.4/-1 1.2.3.4/+8 1.2.3.4/08 1.2.3.4/00 1.2.3.4/8/8 1.2.3.4/8.0 1.2.3.4/1e1
      1.2.3.4/0x8 1.2.3.4/８ 1.2.3.4/255.255.255.0 1.2.3/24 10/8 01.2.3.4/8 ::/129 ::/1280 ::/0128 ::1%lo/128 [::]/0
    `),
    ...['', '1.2.3.4/8 ', '1.2.3.4 /8', '1.2.3.4/ 8'],
    // Under 96 bits a mapped prefix would be a piece of IPv6 that no IPv4 address is in.
    ...['::ffff:1.2.3.4/24', '::ffff:1.2.3.4/95'],
  ]
  for (const text of texts) t.equal(parsePrefix(text), undefined, JSON.stringify(text))
})

t.test('an address is the prefix that holds it alone, and is written as an address', async (t) => {
  const texts = ['8.8.4.4', '8.8.4.4/32', '8.8.4.0/24', '2a00::1', '2a00::/32', '::ffff:8.8.4.4', '8.8.4', '2a00::/129']
  const found = texts.map((text) => parseHostOrPrefix(text)).map((prefix) => prefix && formatHostOrPrefix(prefix))
  t.same(found, ['8.8.4.4', '8.8.4.4', '8.8.4.0/24', '2a00::1', '2a00::/32', '8.8.4.4', undefined, undefined])
})

t.test('first, last and size agree with ip-cidr, and a prefix holds no neighbour', async () => {
  fc.assert(
    fc.property(anyPrefix, (prefix) => {
      const theirs = new IPCIDR(formatPrefix(prefix))
      const bits = prefix.address.family === 4 ? 32 : 128
      const [first, last] = theirs.toRange<string>()
      // The last address of ::/80 is, read as text, IPv4-mapped: that is another address to our parser.
      fc.pre(at(last).family === prefix.address.family)
      const after = nextAddress(lastAddress(prefix))
      return (
        prefixContains(prefix, at(first)) &&
        prefixContains(prefix, at(last)) &&
        (after === undefined || !prefixContains(prefix, after)) &&
        sameAddress(at(first), prefix.address) &&
        sameAddress(at(last), lastAddress(prefix)) &&
        String(theirs.size) === String(2n ** BigInt(bits - prefix.length))
      )
    }),
  )
})

t.test('a cover is exact: adjoining prefixes from first to last, no two of which could be one', async (t) => {
  t.same(coverRange(at('::1'), at('::')), [], 'no range')
  t.same(coverRange(at('1.2.3.4'), at('::1')), [], 'no range across families')
  const pair = fc.oneof(fc.tuple(four, four), fc.tuple(six, six))
  fc.assert(
    fc.property(pair, ([x, y]) => {
      const [first, last] = compareAddresses(x, y) <= 0 ? [x, y] : [y, x]
      const prefixes = coverRange(first, last)
      let expected: Address | undefined = first
      for (const [index, prefix] of prefixes.entries()) {
        if (expected === undefined || !sameAddress(expected, prefix.address)) return false
        expected = nextAddress(lastAddress(prefix))
        const before = prefixes[index - 1]
        const joined = before && makePrefix(before.address, before.length - 1)
        if (
          joined &&
          before.length === prefix.length &&
          sameAddress(joined.address, makePrefix(prefix.address, joined.length).address)
        ) {
          return false
        }
      }
      const end = prefixes.at(-1)
      return end !== undefined && sameAddress(lastAddress(end), last)
    }),
  )
})

t.test('a set holds an address as its prefixes do one by one, however many there are', async (t) => {
  const near4 = fc
    .tuple(fc.integer({ min: 0, max: 60 }), fc.integer({ min: 24, max: 32 }))
    .map(([d, length]) => makePrefix(address4(d << 4), length))
  const near6 = fc
    .tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 128 }))
    .map(([a, d, length]) => makePrefix(address6(a, 0x10000, 0, d), length))
  const probe = fc.oneof(
    fc.integer({ min: 0, max: 1_000 }).map(address4),
    fc
      .tuple(fc.integer({ min: -2, max: 2 }), fc.integer({ min: 0, max: 9 }))
      .map(([a, d]) => address6(a, 0x10000, 0, d)),
    four,
    six,
  )
  fc.assert(
    fc.property(fc.array(fc.oneof(near4, near6, anyPrefix), { maxLength: 40 }), fc.array(probe), (prefixes, probes) => {
      const set = createPrefixSet(prefixes)
      return probes.every((address) => set.has(address) === prefixes.some((one) => prefixContains(one, address)))
    }),
    { numRuns: 2_000 },
  )
  const prefixes = Array.from({ length: 100_000 }, (_, at) => makePrefix(address6(at, -at, 0, 0), 64))
  const steps = prefixSetSteps(prefixes)
  let turns = 0
  let step = steps.next()
  for (; !step.done; step = steps.next()) turns++
  t.ok(turns > prefixes.length / 4_096, `others have ${turns} turns`)
  t.ok(prefixes.every(({ address }) => step.done && step.value.has(address)))
})

t.test('the longest of nested prefixes decides, and the first of equal ones', async () => {
  const narrow4 = fc
    .tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 26, max: 32 }))
    .map(([d, length]) => makePrefix(address4(d), length))
  const narrow6 = fc
    .tuple(fc.integer({ min: 0, max: 15 }), fc.integer({ min: 90, max: 128 }))
    .map(([d, length]) => makePrefix(address6(-1, 0, 1, d), length))
  const list = fc.array(fc.oneof(narrow4, narrow6, anyPrefix), { maxLength: 12 })
  const probe = fc.oneof(
    fc.integer({ min: 0, max: 70 }).map(address4),
    fc.integer({ min: 0, max: 70 }).map((d) => address6(-1, 0, 1, d)),
    four,
    six,
  )
  fc.assert(
    fc.property(list, probe, (prefixes, address) => {
      let expected = -1
      for (const [index, prefix] of prefixes.entries()) {
        const best = prefixes[expected]
        if (prefixContains(prefix, address) && (best === undefined || prefix.length > best.length)) expected = index
      }
      return createPartition(prefixes).find(address) === expected
    }),
    { numRuns: 1000 },
  )
})
