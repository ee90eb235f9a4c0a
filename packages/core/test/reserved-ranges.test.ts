import { RESERVED, type ReservedRow } from '@sallyport/data/reserved'
import t from 'tap'
import { type Address, formatPrefix, type Prefix, parseAddress, parsePrefix, reservedRow } from '../src/index.ts'
import { readShared, skipWithout, splitWords } from './support.ts'

const readLabel = (text: string) => reservedRow(parseAddress(text) as Address)?.label

// First address, last address, label; then the neighbours outside, with theirs ('' is public).
const RANGES: readonly (readonly [string, string, string, ...(readonly [string, string])[]])[] = [
  ['0.0.0.1', '0.255.255.255', 'this_network', ['0.0.0.0', 'unspecified'], ['1.0.0.0', '']],
  ['10.0.0.0', '10.255.255.255', 'private', ['9.255.255.255', ''], ['11.0.0.0', '']],
  ['100.64.0.0', '100.127.255.255', 'shared_cgnat', ['100.63.255.255', ''], ['100.128.0.0', '']],
  ['127.0.0.0', '127.255.255.255', 'loopback', ['126.255.255.255', ''], ['128.0.0.0', '']],
  ['169.254.0.0', '169.254.255.255', 'link_local', ['169.253.255.255', ''], ['169.255.0.0', '']],
  ['172.16.0.0', '172.31.255.255', 'private', ['172.15.255.255', ''], ['172.32.0.0', '']],
  ['192.0.0.0', '192.0.0.8', 'ietf_protocol', ['191.255.255.255', ''], ['192.0.0.9', '']],
  ['192.0.0.11', '192.0.0.255', 'ietf_protocol', ['192.0.0.10', ''], ['192.0.1.0', '']],
  ['192.0.2.0', '192.0.2.255', 'documentation', ['192.0.1.255', ''], ['192.0.3.0', '']],
  ['192.88.99.0', '192.88.99.255', '6to4_relay', ['192.88.98.255', ''], ['192.88.100.0', '']],
  ['192.168.0.0', '192.168.255.255', 'private', ['192.167.255.255', ''], ['192.169.0.0', '']],
  ['198.18.0.0', '198.19.255.255', 'benchmarking', ['198.17.255.255', ''], ['198.20.0.0', '']],
  ['198.51.100.0', '198.51.100.255', 'documentation', ['198.51.99.255', ''], ['198.51.101.0', '']],
  ['203.0.113.0', '203.0.113.255', 'documentation', ['203.0.112.255', ''], ['203.0.114.0', '']],
  ['224.0.0.0', '239.255.255.255', 'multicast', ['223.255.255.255', ''], ['240.0.0.0', 'reserved']],
  ['240.0.0.0', '255.255.255.254', 'reserved', ['255.255.255.255', 'broadcast']],
  ['::2', '::ffff:ffff', 'reserved', ['::', 'unspecified'], ['::1', 'loopback'], ['::1:0:0', 'unallocated']],
  ['64:ff9b::', '64:ff9b::ffff:ffff', 'nat64', ['64:ff9b::1:0:0', 'unallocated']],
  ['64:ff9b:1::', '64:ff9b:1:ffff:ffff:ffff:ffff:ffff', 'nat64', ['64:ff9b:2::', 'unallocated']],
  ['100::', '100::ffff:ffff:ffff:ffff', 'discard', ['ff:ffff::', 'unallocated']],
  ['100:0:0:1::', '100::1:ffff:ffff:ffff:ffff', 'dummy', ['100:0:0:2::', 'unallocated']],
  ['2001::', '2001:0:ffff:ffff:ffff:ffff:ffff:ffff', 'teredo', ['2000:ffff::', ''], ['2001:1::', 'ietf_protocol']],
  ['2001:2::', '2001:2:0:ffff:ffff:ffff:ffff:ffff', 'benchmarking', ['2001:2:1::', 'ietf_protocol'], ['2001:3::', '']],
  ['2001:10::', '2001:1f:ffff:ffff:ffff:ffff:ffff:ffff', 'orchid', ['2001:f::', 'ietf_protocol'], ['2001:20::', '']],
  ['2001:40::', '2001:1ff:ffff:ffff:ffff:ffff:ffff:ffff', 'ietf_protocol', ['2001:3f:ffff::', ''], ['2001:200::', '']],
  ['2001:db8::', '2001:db8:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation', ['2001:db7::', ''], ['2001:db9::', '']],
  ['2002::', '2002:ffff:ffff:ffff:ffff:ffff:ffff:ffff', '6to4', ['2001:ffff::', ''], ['2003::', '']],
  ['3fff::', '3fff:fff:ffff:ffff:ffff:ffff:ffff:ffff', 'documentation', ['3ffe::', ''], ['3fff:1000::', '']],
  ['4000::', '5eff:ffff::', 'unallocated', ['3fff:ffff::', '']],
  ['5f00::', '5f00:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'srv6_sid', ['5f01::', 'unallocated']],
  ['fc00::', 'fdff:ffff::', 'private', ['fbff::', 'unallocated'], ['fe00::', 'unallocated']],
  ['fe80::', 'febf:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'link_local', ['fe7f::', 'unallocated']],
  ['fec0::', 'feff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'site_local'],
  ['ff00::', 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff', 'multicast'],
]

t.test('each reserved range is reserved to its last address and no further', async (t) => {
  for (const [first, last, label, ...neighbours] of RANGES) {
    t.same([readLabel(first), readLabel(last)], [label, label], `${first} to ${last}`)
    for (const [address, beside] of neighbours) t.equal(readLabel(address) ?? '', beside, address)
  }
})

t.test('globally reachable service addresses inside reserved blocks are public', async (t) => {
  const open = splitWords(`
    192.0.0.9 192.0.0.10 192.31.196.1 192.52.193.1 192.175.48.1 2001:1::1 2001:1::2 2001:1::3 2001:3::1 2001:4:112::1
    2001:20::1 2001:2f::1 2001:30::1 2620:4f:8000::1
  `)
  for (const text of open) t.equal(readLabel(text), undefined, text)
  t.equal(readLabel('2001:1::4'), 'ietf_protocol', 'the address after them is not')
  t.equal(readLabel('::ffff:7f00:1'), 'loopback', 'a mapped address is as reserved as the IPv4 address')
})

t.test('rows are canonical, unique, sourced, and read the registry as they say', async (t) => {
  const prefixes = RESERVED.map(({ prefix }) => prefix)
  t.equal(new Set(prefixes).size, prefixes.length)
  const isSound = ({ prefix, rfc, detail, label }: ReservedRow) =>
    formatPrefix(parsePrefix(prefix) as Prefix) === prefix &&
    /^RFC \d{3,4}$/.test(rfc) &&
    new RegExp(`\\(.*${rfc}.*\\)\\.$`).test(detail) &&
    /^[a-z0-9]+(_[a-z0-9]+)*$/.test(label)
  t.ok(RESERVED.length > 40)
  const wrong = RESERVED.filter((row) => !isSound(row))
  t.same(wrong, [])
  const ours = RESERVED.filter((row) => row.reserved === (row.globallyReachable === true)).map(({ prefix }) => prefix)
  t.same(ours, ['64:ff9b::/96'], 'where `reserved` is not the opposite of the registry')
})

const SPECIAL = 'special/special-addresses.json'

t.test('shared vectors: kinds', { skip: skipWithout(SPECIAL) }, async (t) => {
  const vectors = JSON.parse(readShared(SPECIAL)) as { input: string; kind: string }[]
  for (const { input, kind } of vectors)
    t.equal(readLabel(input) ?? 'public', kind === 'ipv4_mapped' ? 'public' : kind, input)
})
