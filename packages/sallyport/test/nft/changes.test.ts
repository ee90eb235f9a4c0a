import t from 'tap'
import { type Change, MAX_LINE, parseChange } from '../../src/nft/change.ts'
import { parseSets, transactionOf } from '../../src/nft/nft.ts'

t.test('a line is an address or a network of IPv6, and seconds', async (t) => {
  for (const [line, family, text, seconds] of [
    ['add 192.0.2.1 600', 4, '192.0.2.1', 600],
    ['del 192.0.2.1', 4, '192.0.2.1', undefined],
    ['add 2001:db8::/64 86400', 6, '2001:db8:0:0:0:0:0:0/64', 86_400],
    ['del 2001:db8:0:1::/64', 6, '2001:db8:0:1:0:0:0:0/64', undefined],
    ['add ::1 1', 6, '0:0:0:0:0:0:0:1/128', 1],
    ['add 2001:db8::1/128 9', 6, '2001:db8:0:0:0:0:0:1/128', 9],
    ['add 2001:db8:1::/48 9', 6, '2001:db8:1:0:0:0:0:0/48', 9],
    ['add 2001:db8:8000::/33 9', 6, '2001:db8:8000:0:0:0:0:0/33', 9],
    ['add 2001:db8:8000::/34 9', 6, '2001:db8:8000:0:0:0:0:0/34', 9],
    ['add 1:2:3:4:5:6:7:8 9', 6, '1:2:3:4:5:6:7:8/128', 9],
  ] as const) {
    t.match(parseChange(line), { element: { family, text }, seconds }, line)
  }
  t.ok('add 2001:0db8:1111:2222:3333:4444:5555:6666/128 86400'.length <= MAX_LINE)
})

t.test('anything else is no line', async (t) => {
  for (const line of [
    '',
    ' ',
    'add',
    'add 192.0.2.1',
    'add 192.0.2.1 0',
    'add 192.0.2.1 -1',
    'add 192.0.2.1 86401',
    'add 192.0.2.1 1e3',
    'add  192.0.2.1 600',
    'add 192.0.2.1 600 ',
    'add 192.0.2.1 600\r',
    'ADD 192.0.2.1 600',
    'add 192.0.2.0/24 600',
    'add 192.0.2.1/32 600',
    'add 0.0.0.0/0 600',
    'add ::/0 600',
    'add 2001::/16 600',
    'add 2001:db8::1/64 600',
    'add 2001:db8:8000::/32 600',
    'add 2001:db8::/129 600',
    'add 2001:DB8::/64 600',
    'add fe80::1%eth0 600',
    'add ::ffff:192.0.2.1 600',
    'add 192.0.2 600',
    'add 192.0.2.01 600',
    'add 3232235777 600',
    'add example.com 600',
    'add 192.0.2.1,192.0.2.2 600',
    'add 192.0.2.1-192.0.2.9 600',
    'add 192.0.2.1 } 600',
    'add 192.0.2.1; flush ruleset 600',
    'add @bans 600',
    'del 192.0.2.1 600',
    'flush',
    'list set inet sallyport bans4',
    'include "/etc/passwd"',
  ]) {
    t.equal(parseChange(line), undefined, JSON.stringify(line))
  }
})

t.test('changes are one transaction, in which the last of an address counts', async (t) => {
  const sets = parseSets('inet/sallyport/bans')
  const changes = ['add 192.0.2.1 600', 'add 192.0.2.2 60', 'del 192.0.2.1', 'add 2001:db8::/64 5'].map(parseChange)
  t.equal(
    sets && transactionOf(changes as readonly Change[], sets),
    [
      'add element inet sallyport bans4 { 192.0.2.1 timeout 1s, 192.0.2.2 timeout 60s }',
      'delete element inet sallyport bans4 { 192.0.2.1, 192.0.2.2 }',
      'add element inet sallyport bans4 { 192.0.2.2 timeout 60s }',
      'add element inet sallyport bans6 { 2001:db8:0:0:0:0:0:0/64 timeout 5s }',
      'delete element inet sallyport bans6 { 2001:db8:0:0:0:0:0:0/64 }',
      'add element inet sallyport bans6 { 2001:db8:0:0:0:0:0:0/64 timeout 5s }',
      '',
    ].join('\n'),
  )
  for (const text of ['', 'inet', 'inet/a', 'ip/a/b', 'inet/a/b/c', 'inet/a;b/c', 'inet/a b/c', 'inet//x', 'inet/1/b'])
    t.equal(parseSets(text), undefined, text)
})
