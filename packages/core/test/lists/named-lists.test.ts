import t from 'tap'
import type { Address } from '../../src/address/address.ts'
import { parseAddress } from '../../src/address/address.ts'
import { linesOfList } from '../../src/lists/list-lines.ts'
import { createNamedList, entriesFor, listHolds, readListEntries } from '../../src/lists/named-list.ts'

function entriesOf(text: string, format?: Parameters<typeof linesOfList>[1]) {
  const { addresses, systems, texts, left } = readListEntries(linesOfList(text, format) ?? ['\u0000'])
  return { addresses, systems, texts, left }
}

const only = (addresses: readonly string[], systems: readonly number[] = []) => ({
  addresses,
  systems,
  texts: [],
  left: 0,
})

t.test('lists are read in the forms that others export', async (t) => {
  const alert = {
    id: 3,
    source: { ip: '192.0.2.99', scope: 'Ip', value: '192.0.2.99' },
    decisions: [
      { duration: '3h', id: 9, origin: 'crowdsec', scenario: 'ssh:bf', scope: 'Ip', type: 'ban', value: '192.0.2.1' },
      { scope: 'Range', value: '198.51.100.0/24', simulated: false },
      { scope: 'AS', value: '64500' },
      { scope: 'Ip', value: '203.0.113.1', simulated: true },
    ],
  }
  const raw = [
    'id,source,ip,reason,action,country,as,events_count,expiration,simulated,alert_id',
    '9,crowdsec,Ip:192.0.2.1,crowdsecurity/ssh-bf,ban,DE,"64500 A, B",6,3h59m,false,3',
    '8,cscli,Range:198.51.100.0/24,"manual, by hand",ban,,,0,3h,false,2',
    '7,cscli,Ip:203.0.113.1,try,ban,,,0,3h,true,1',
  ]
  const jail = [
    'Status for the jail: sshd',
    '|- Filter',
    '|  |- Currently failed:\t1',
    '|  `- File list:\t/var/log/auth.log',
    '`- Actions',
    '   |- Currently banned:\t2',
    '   `- Banned IP list:\t192.0.2.1 2001:db8::7',
  ]
  const drop = [
    '{"cidr":"192.0.2.0/24","sblid":"SBL1","rir":"ripencc"}',
    '{"asn":64500,"rir":"arin","domain":"a.example","cc":"US","asname":"A"}',
    '{"type":"metadata","timestamp":1700000000,"size":9,"records":2,"copyright":"(c)"}',
  ]
  t.same(entriesOf(JSON.stringify([alert])), only(['192.0.2.1', '198.51.100.0/24'], [64_500]), 'cscli -o json')
  t.same(entriesOf(JSON.stringify([alert], undefined, 2)).addresses, ['192.0.2.1', '198.51.100.0/24'])
  t.same(entriesOf(raw.join('\n')), only(['192.0.2.1', '198.51.100.0/24']), 'cscli -o raw')
  t.same(entriesOf(jail.join('\n')), only(['192.0.2.1', '2001:db8::7']), 'fail2ban-client status')
  t.same(entriesOf("[{'sshd': ['192.0.2.1', '192.0.2.2']}, {'web': []}]"), only(['192.0.2.1', '192.0.2.2']), 'banned')
  t.same(entriesOf('192.0.2.1 192.0.2.2\n'), only(['192.0.2.1', '192.0.2.2']), 'get banip')
  t.same(entriesOf('192.0.2.1 \t2026-11-25 10:00:00 + 600 = 2026-11-25 10:10:00\n'), only(['192.0.2.1']))
  t.same(entriesOf(`${drop.join('\n')}\n`), only(['192.0.2.0/24'], [64_500]), 'Spamhaus')
  t.same(entriesOf('create x hash:net family inet\nadd x 192.0.2.0/24\nadd x 192.0.2.9 timeout 60\n').left, 0, 'ipset')
  t.same(entriesOf('{"prefixes":[{"ipv4Prefix":"192.0.2.0/24"},{"ipv6Prefix":"2001:db8::/32"}]}').addresses.length, 2)
  t.same(entriesOf('\uFEFFip;note\r\n192.0.2.1;"a;b"\r\n'), only(['192.0.2.1']), 'a spreadsheet')
})

t.test('an export without entries holds nothing, and what is none is left', async (t) => {
  for (const text of [
    '[]',
    'null',
    '[\n]',
    'id,source,ip\n',
    "[{'sshd': []}]",
    '{"new":[],"deleted":null}',
    '{"new":null}',
    '{}',
    '# none\n',
  ]) {
    t.same(entriesOf(text), only([]), text)
  }
  t.equal(entriesOf('not json', 'json').left, 1)
  t.equal(entriesOf('a,b\nc,d', 'csv').left, 1)
  const deep = `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`
  for (const text of ['{"error":"unauthorized"}', '{"status":401,"error":{"code":9,"message":"no"}}\n', deep])
    t.equal(linesOfList(text), undefined, `an answer that is no list: ${text.slice(0, 80)}`)
  const whole = JSON.stringify({
    prefixes: Array.from({ length: 200 }, (_, at) => ({ ip_prefix: `192.0.2.${at}/32` })),
  })
  t.equal(entriesOf(whole).addresses.length, 200, 'an object on one long line')
  t.same(entriesOf('2026-11-25,192.0.2.1,443', 'csv'), only(['192.0.2.1']))
  t.same(entriesOf('[broken\n192.0.2.1\n').addresses, ['192.0.2.1'])
  t.same(entriesOf(`${'x'.repeat(5_000)}\n192.0.2.1`), { ...only(['192.0.2.1']), left: 1 }, 'a line without an end')
  const many = Array.from({ length: 1_200 }, (_, index) => `*bot${index}*`)
  t.same(
    [entriesOf(many.join('\n')).texts.length, entriesOf(many.join('\n')).left],
    [1_000, 200],
    'patterns are bounded',
  )
})

t.test('a list says by what it holds something, or that it is not known', async (t) => {
  const read = readListEntries([
    '10.0.0.0/8',
    '10.1.0.0/16',
    '2001:db8::/32',
    'AS64500',
    '*Bot*',
    'curl/8',
    '/^Lib-[0-9]+/',
  ])
  const list = createNamedList(read)
  const rows = [
    ['10.1.2.3', ['10.0.0.0/8', '10.1.0.0/16'], true],
    ['10.1.0.0/20', ['10.0.0.0/8', '10.1.0.0/16'], undefined],
    ['10.0.0.0/7', [], undefined],
    ['2001:db8::1', ['2001:db8::/32'], true],
    ['192.0.2.1', [], false],
    ['AS64500', ['AS64500'], true],
    ['AS645', ['AS64500'], false],
    ['a bot b', ['*Bot*'], true],
    ['curl', ['curl/8'], false],
    ['Lib-7', ['/^Lib-[0-9]+/'], true],
  ] as const
  for (const [wanted, entries, holds] of rows) {
    t.same(entriesFor(read, wanted), entries, wanted)
    t.equal(listHolds(list, wanted), holds, wanted)
  }
  t.equal(listHolds({ ...list, isRead: false }, '10.1.2.3'), undefined)
})

t.test('a list holds what its prefixes hold, however they overlap', async (t) => {
  const { holds } = createNamedList(
    readListEntries([
      '10.0.0.0/8',
      '10.1.0.0/16',
      '192.0.2.7',
      '192.0.2.9',
      '255.255.255.255',
      '2001:db8::/32',
      '0.0.0.0',
    ]),
  )
  const at = (text: string) => holds(parseAddress(text) as Address)
  for (const inside of [
    '10.0.0.0',
    '10.1.2.3',
    '10.255.255.255',
    '192.0.2.7',
    '255.255.255.255',
    '2001:db8::1',
    '0.0.0.0',
  ])
    t.ok(at(inside), inside)
  for (const outside of ['9.255.255.255', '11.0.0.0', '192.0.2.8', '0.0.0.1', '2001:db9::'])
    t.notOk(at(outside), outside)
  const all = createNamedList(readListEntries(['0.0.0.0/0']))
  t.ok(all.holds(parseAddress('255.0.0.1') as Address))
})
