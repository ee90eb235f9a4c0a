import fc from 'fast-check'
import t from 'tap'
import { address4, address6, formatAddress } from '../src/address/address.ts'
import { parseTrust, type ResolvedClient, resolveClient } from '../src/address/client.ts'
import { FORWARDING_HEADERS } from '../src/address/forwarding.ts'
import type { InspectionRequest } from '../src/values/request.ts'

type Field = readonly [name: string, value: string]

function request(peer: string, ...fields: readonly Field[]): InspectionRequest {
  const around: readonly Field[] = [['Host', 'site.example'], ...fields, ['Accept', '*/*']]
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: around.flat() }
}

/** Writes `address via` for tables, with `!` behind it when malformed. */
function brief({ address, via, malformed }: ResolvedClient): string {
  return `${address === undefined ? '-' : formatAddress(address)} ${via}${malformed ? '!' : ''}`
}

const xff = (...lines: readonly string[]): readonly Field[] => lines.map((line) => ['X-Forwarded-For', line])
const forwarded = (...lines: readonly string[]): readonly Field[] => lines.map((line) => ['Forwarded', line])

t.test('nobody is trusted by default: the client is the peer, whatever the headers say', async (t) => {
  const trust = parseTrust([])
  const wrong = FORWARDING_HEADERS.flatMap((header) => [header, header.toUpperCase()]).filter((name) => {
    const resolved = resolveClient(request('198.51.100.7', [name, '6.6.6.6']), trust)
    return brief(resolved) !== '198.51.100.7 peer' || !resolved.forwardedUntrusted
  })
  t.same(wrong, [], 'each is worth a warning')
  t.equal(resolveClient(request('198.51.100.7'), trust).forwardedUntrusted, false)
  t.equal(
    resolveClient(request('198.51.100.7', ['X-Forwarded-Fog', '1'], ['Via', '1']), trust).forwardedUntrusted,
    false,
  )
})

t.test('a peer that is not trusted is not believed, and that is no reason to warn', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'])
  const wrong = FORWARDING_HEADERS.filter((header) => {
    const resolved = resolveClient(request('198.51.100.7', [header, '6.6.6.6']), trust)
    return brief(resolved) !== '198.51.100.7 peer' || resolved.forwardedUntrusted
  })
  t.same(wrong, [])
})

t.test('one header is believed; every other is as if it had not come', async (t) => {
  const believed = ['x-forwarded-for', 'x-real-ip', 'cf-connecting-ip', 'true-client-ip', 'forwarded'] as const
  for (const header of believed) {
    const trust = parseTrust(['10.0.0.0/8'], header)
    const forged = FORWARDING_HEADERS.filter((name) => name !== header).map((name): Field => [name, '6.6.6.6'])
    const own: Field = [header, header === 'forwarded' ? 'for=203.0.113.9' : '203.0.113.9']
    t.equal(brief(resolveClient(request('10.0.0.1', ...forged, own), trust)), '203.0.113.9 header', header)
    t.equal(brief(resolveClient(request('10.0.0.1', ...forged), trust)), '10.0.0.1 peer', `${header} absent`)
  }
})

t.test('the peer is read strictly: mapped is IPv4, and no address is no client', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'])
  t.equal(brief(resolveClient(request('::ffff:203.0.113.9'), trust)), '203.0.113.9 peer')
  t.equal(brief(resolveClient(request('::ffff:10.0.0.1', ...xff('203.0.113.9')), trust)), '203.0.113.9 header')
  t.equal(brief(resolveClient(request('fe80::1%eth0'), trust)), 'fe80::1 peer')
  t.equal(brief(resolveClient(request('2001:db8::1%eth0'), trust)), '- none')
  t.equal(brief(resolveClient(request('', ...xff('203.0.113.9')), trust)), '- none')
  t.equal(brief(resolveClient(request('unix:', ...xff('203.0.113.9')), parseTrust([]))), '- none')
})

// Trusted: 10.0.0.0/8 and 2001:db8:ffff::/48; the peer is 10.0.0.1. Lines as they come; expected by hand.
const WALKS: readonly (readonly [string, readonly string[], string])[] = [
  ['no header', [], '10.0.0.1 peer'],
  ['one hop', ['203.0.113.9'], '203.0.113.9 header'],
  ['a forged element in front', ['6.6.6.6, 203.0.113.9'], '203.0.113.9 header'],
  ['trusted hops are passed over', ['6.6.6.6, 203.0.113.9, 10.0.0.3, 10.0.0.2'], '203.0.113.9 header'],
  [
    'a forged trusted hop is passed over only from the right',
    ['10.9.9.9, 203.0.113.9, 10.0.0.2'],
    '203.0.113.9 header',
  ],
  ['all trusted: the leftmost', ['10.0.0.5, 10.0.0.4, 10.0.0.3'], '10.0.0.5 header'],
  ['several lines are one list', ['6.6.6.6', '203.0.113.9, 10.0.0.3', '10.0.0.2'], '203.0.113.9 header'],
  ['all trusted over several lines', ['10.0.0.5', '10.0.0.4'], '10.0.0.5 header'],
  ['blanks', [' \t203.0.113.9\t ,\t10.0.0.2 '], '203.0.113.9 header'],
  ['no blanks', ['203.0.113.9,10.0.0.2'], '203.0.113.9 header'],
  ['IPv4 with a port', ['203.0.113.9:5678'], '203.0.113.9 header'],
  ['IPv6', ['2001:db8::9, 2001:db8:ffff::1'], '2001:db8::9 header'],
  ['IPv6 in brackets', ['[2001:db8::9]'], '2001:db8::9 header'],
  ['IPv6 with a port', ['[2001:db8::9]:443, 10.0.0.2:80'], '2001:db8::9 header'],
  ['mapped', ['::ffff:203.0.113.9'], '203.0.113.9 header'],
  ['mapped with a port', ['::ffff:203.0.113.9:5678'], '203.0.113.9 header'],
  ['mapped with no port', ['::ffff:203.0.113.9:99999'], '10.0.0.1 peer!'],
  ['mapped and trusted', ['203.0.113.9, ::ffff:10.0.0.2'], '203.0.113.9 header'],
  ['garbage alone', ['garbage'], '10.0.0.1 peer!'],
  // Empty elements are none (RFC 9110 5.6.1.2).
  ['empty elements alone', [' , ,'], '10.0.0.1 peer!'],
  ['an empty line', [''], '10.0.0.1 peer!'],
  ['an empty line behind others', ['203.0.113.9', '10.0.0.2', ''], '203.0.113.9 header'],
  ['empty elements', ['203.0.113.9,, \t, 10.0.0.2'], '203.0.113.9 header'],
  ['a comma at the end', ['203.0.113.9,'], '203.0.113.9 header'],
  ['a comma in front of a trusted hop', [',10.0.0.2'], '10.0.0.2 header'],
  ['an empty element behind garbage', ['203.0.113.9, garbage,'], '10.0.0.1 peer!'],
  ['empty elements are no hops', [`203.0.113.9${','.repeat(100)}`], '203.0.113.9 header'],
  ['2 kB of empty elements', [`203.0.113.9${','.repeat(3000)}`], '10.0.0.1 peer!'],
  ['garbage behind the client is not reached', ['garbage, 203.0.113.9'], '203.0.113.9 header'],
  ['garbage before a trusted hop', ['203.0.113.9, garbage, 10.0.0.2'], '10.0.0.2 header!'],
  ['garbage on an earlier line', ['garbage', '10.0.0.2'], '10.0.0.2 header!'],
  ['unknown', ['203.0.113.9, unknown'], '10.0.0.1 peer!'],
  ['obfuscated', ['203.0.113.9, _hidden'], '10.0.0.1 peer!'],
  ['octal', ['0203.0.113.9'], '10.0.0.1 peer!'],
  ['short', ['127.1'], '10.0.0.1 peer!'],
  ['a zone behind a link-local address', ['fe80::1%eth0'], 'fe80::1 header'],
  ['the last of them', ['febf::1%2'], 'febf::1 header'],
  ['a zone within brackets', ['[fe80::1%eth0]:443'], 'fe80::1 header'],
  ['a zone behind another address', ['2001:db8::9%eth0'], '10.0.0.1 peer!'],
  ['the same within brackets', ['[2001:db8::9%eth0]:443'], '10.0.0.1 peer!'],
  ['below them', ['fe7f::1%eth0'], '10.0.0.1 peer!'],
  ['above them', ['fec0::1%eth0'], '10.0.0.1 peer!'],
  ['a zone behind IPv4', ['169.254.1.1%eth0'], '10.0.0.1 peer!'],
  ['a zone without a name', ['fe80::1%'], '10.0.0.1 peer!'],
  ['quoted', ['"203.0.113.9"'], '10.0.0.1 peer!'],
  ['IPv4 in brackets', ['[203.0.113.9]'], '10.0.0.1 peer!'],
  ['an open bracket', ['[2001:db8::9'], '10.0.0.1 peer!'],
  ['empty brackets', ['[]'], '10.0.0.1 peer!'],
  ['no port after the colon', ['203.0.113.9:'], '10.0.0.1 peer!'],
  ['a port too large', ['203.0.113.9:65536'], '10.0.0.1 peer!'],
  ['an obfuscated port, which is of Forwarded alone', ['203.0.113.9:_p1'], '10.0.0.1 peer!'],
  ['a port that is no number', ['[2001:db8::9]:http'], '10.0.0.1 peer!'],
  ['two ports', ['203.0.113.9:80:80'], '10.0.0.1 peer!'],
  ['two addresses in one element', ['203.0.113.9 10.0.0.2'], '10.0.0.1 peer!'],
  ['32 hops are read', [`203.0.113.9${', 10.0.0.2'.repeat(31)}`], '203.0.113.9 header'],
  ['the 33rd is not', [`203.0.113.9${', 10.0.0.2'.repeat(32)}`], '10.0.0.2 header!'],
  ['nor over lines', ['203.0.113.9', ...Array<string>(32).fill('10.0.0.2')], '10.0.0.2 header!'],
  ['10 kB in one element', ['1'.repeat(10_000)], '10.0.0.1 peer!'],
  ['10 kB of blanks', [`203.0.113.9${' '.repeat(10_000)}`], '10.0.0.1 peer!'],
  ['10 kB before the client are not read', [`${'6.6.6.6, '.repeat(1200)}203.0.113.9`], '203.0.113.9 header'],
  [
    'more than 2 kB of trusted hops',
    [`203.0.113.9,${' '.repeat(1000)}10.0.0.3,${' '.repeat(1030)}10.0.0.2`],
    '10.0.0.3 header!',
  ],
]

t.test('a hop with a zone is passed over where the same text is trusted of a socket', async (t) => {
  const walkLine = (header: string, line: string) =>
    brief(resolveClient(request('fe80::2%eth0', [header, line]), parseTrust(['fe80::/10'], header)))
  t.equal(walkLine('X-Forwarded-For', '203.0.113.9, fe80::1%eth0'), '203.0.113.9 header')
  t.equal(walkLine('Forwarded', 'for=203.0.113.9, for="[fe80::1%eth0]"'), '203.0.113.9 header')
})

t.test('X-Forwarded-For is walked from the right', async (t) => {
  const trust = parseTrust(['10.0.0.0/8', '2001:db8:ffff::/48'])
  const found = WALKS.map(([name, lines]) => [name, brief(resolveClient(request('10.0.0.1', ...xff(...lines)), trust))])
  t.same(
    found,
    WALKS.map(([name, , expected]) => [name, expected]),
  )
})

const FORWARDED: readonly (readonly [string, readonly string[], string])[] = [
  ['bare IPv4', ['for=203.0.113.9'], '203.0.113.9 header'],
  ['names in any case', ['FOR=203.0.113.9;Proto=https'], '203.0.113.9 header'],
  ['the other parameters', ['by=10.0.0.1;for=203.0.113.9;host=site.example;proto=https'], '203.0.113.9 header'],
  ['quoted IPv4 with port', ['for="203.0.113.9:5678"'], '203.0.113.9 header'],
  ['quoted IPv6', ['for="[2001:db8::9]"'], '2001:db8::9 header'],
  ['quoted IPv6 with port', ['For="[2001:db8:cafe::17]:4711"'], '2001:db8:cafe::17 header'],
  ['unquoted although it should be', ['for=[2001:db8::9]:80'], '2001:db8::9 header'],
  ['a list', ['for=6.6.6.6, for=203.0.113.9;proto=http, for="10.0.0.2:80"'], '203.0.113.9 header'],
  ['over lines', ['for=203.0.113.9', 'for=10.0.0.2'], '203.0.113.9 header'],
  ['blanks and a semicolon at the end', ['for=203.0.113.9 ; proto=http;'], '203.0.113.9 header'],
  ['a comma inside quotes', ['for=203.0.113.9;host="a,b"'], '203.0.113.9 header'],
  [
    'a quoted host that looks like an element',
    ['for=203.0.113.9;host="x\\", for=6.6.6.6;by=\\""'],
    '203.0.113.9 header',
  ],
  ['an open quote in front', ['for="6.6.6.6, for=203.0.113.9'], '203.0.113.9 header'],
  ['an escaped quote in front', ['for="6.6.6.6\\", for=203.0.113.9'], '203.0.113.9 header'],
  ['unknown', ['for=203.0.113.9, for=unknown'], '10.0.0.1 peer!'],
  ['obfuscated', ['for=203.0.113.9, for="_gazonk"'], '10.0.0.1 peer!'],
  ['no for', ['for=203.0.113.9, proto=https'], '10.0.0.1 peer!'],
  ['for twice', ['for=203.0.113.9;for=6.6.6.6'], '10.0.0.1 peer!'],
  ['an open quote', ['for="203.0.113.9'], '10.0.0.1 peer!'],
  ['a quote too many', ['for=203.0.113.9"'], '10.0.0.1 peer!'],
  ['not a pair', ['203.0.113.9'], '10.0.0.1 peer!'],
  // RFC 7239 4 lets each parameter of an element be left out.
  ['two semicolons', ['for=203.0.113.9;;proto=http'], '203.0.113.9 header'],
  ['semicolons around', ['; ;for=203.0.113.9; ;'], '203.0.113.9 header'],
  ['semicolons alone', ['for=203.0.113.9, ;'], '10.0.0.1 peer!'],
  ['empty elements', [', for=203.0.113.9 ,, for=10.0.0.2,', ' '], '203.0.113.9 header'],
  ['a quoted comma is no empty element', ['for=203.0.113.9;host=",,"'], '203.0.113.9 header'],
  ['empty', [''], '10.0.0.1 peer!'],
  ['empty value', ['for='], '10.0.0.1 peer!'],
  // RFC 9110 5.6.4.
  ['escapes inside the address', ['for="203.0.113\\.9"'], '203.0.113.9 header'],
  ['escapes of all', ['for="\\[\\2\\0\\0\\1:db8::9\\]"'], '2001:db8::9 header'],
  ['an escaped backslash', ['for="203.0.113\\\\.9"'], '10.0.0.1 peer!'],
  // RFC 7239 6: obfport.
  ['IPv4 with an obfuscated port', ['for="203.0.113.9:_p1"'], '203.0.113.9 header'],
  ['IPv6 with an obfuscated port', ['for="[2001:db8::9]:_a.b_C-1"'], '2001:db8::9 header'],
  ['mapped with an obfuscated port', ['for="::ffff:203.0.113.9:_p1"'], '203.0.113.9 header'],
  ['an obfuscated port of a proxy', ['for=203.0.113.9, for="10.0.0.2:_p1"'], '203.0.113.9 header'],
  ['an obfuscated port without a name', ['for="203.0.113.9:_"'], '10.0.0.1 peer!'],
  ['an obfuscated port with another mark', ['for="203.0.113.9:_a/b"'], '10.0.0.1 peer!'],
  ['a port that is a name', ['for="203.0.113.9:http"'], '10.0.0.1 peer!'],
  ['bare IPv6 in quotes is read', ['for="2001:db8::9"'], '2001:db8::9 header'],
  ['10 kB of backslashes', [`for="${'\\'.repeat(10_000)}"`], '10.0.0.1 peer!'],
]

t.test('Forwarded is read by RFC 7239, from the right', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'], 'Forwarded')
  const found = FORWARDED.map(([name, lines]) => [
    name,
    brief(resolveClient(request('10.0.0.1', ...forwarded(...lines)), trust)),
  ])
  t.same(
    found,
    FORWARDED.map(([name, , expected]) => [name, expected]),
  )
})

t.test('a header of one address holds exactly one, once', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'], 'CF-Connecting-IP')
  const of = (...values: readonly string[]) =>
    brief(resolveClient(request('10.0.0.1', ...values.map((value): Field => ['cf-connecting-ip', value])), trust))
  t.equal(of('203.0.113.9'), '203.0.113.9 header')
  t.equal(of('2001:db8::9'), '2001:db8::9 header')
  t.equal(of(' 203.0.113.9 '), '203.0.113.9 header')
  t.equal(of('203.0.113.9:51234'), '203.0.113.9 header', 'with the port of its connection')
  t.equal(of('[2001:db8::9]:443'), '2001:db8::9 header')
  t.equal(of('[2001:db8::9]'), '2001:db8::9 header')
  t.equal(of('::ffff:203.0.113.9:51234'), '203.0.113.9 header')
  t.equal(of('203.0.113.9,'), '203.0.113.9 header', 'empty elements count for nothing')
  t.equal(of(', ,203.0.113.9:80 ,'), '203.0.113.9 header')
  t.equal(of('10.0.0.9'), '10.0.0.9 header', 'a trusted address is a client like any other')
  for (const value of [
    '',
    'x',
    '203.0.113.9, 6.6.6.6',
    '203.0.113.9:',
    '203.0.113.9:99999',
    '[2001:db8::9',
    '[1.2.3.4]:80',
    '127.1',
    '2001:db8::9%lo',
    '203.0.113.9:_p1',
  ]) {
    t.equal(of(value), '10.0.0.1 peer!', JSON.stringify(value))
  }
  t.equal(of('203.0.113.9', '6.6.6.6'), '10.0.0.1 peer!', 'twice')
  t.equal(of('203.0.113.9', '203.0.113.9'), '10.0.0.1 peer!', 'twice the same')
  // Lines are one list (RFC 9110 5.3), of which empty elements are none.
  t.equal(of('203.0.113.9', ''), '203.0.113.9 header', 'beside an empty line')
  t.equal(of(' , ', '203.0.113.9'), '203.0.113.9 header')
  t.equal(of('', ' '), '10.0.0.1 peer!', 'empty lines alone')
  t.equal(of(), '10.0.0.1 peer')
})

const hostile = fc.oneof(
  fc.string(),
  fc.ipV4(),
  fc.ipV6(),
  fc.constantFrom('for=6.6.6.6', 'for="', '"', '\\"', ',', ';', '10.0.0.9', 'for=10.0.0.9', 'for="6.6.6.6', '6.6.6.6,'),
)

t.test('whatever an attacker puts in front, the answer is the same', async () => {
  const client = fc.oneof(
    fc.integer().map(address4),
    fc.tuple(fc.integer(), fc.integer(), fc.integer(), fc.integer()).map((words) => address6(...words)),
  )
  const lists = [
    { trust: parseTrust(['10.0.0.0/8']), header: 'x-forwarded-for', hop: (text: string) => text },
    {
      trust: parseTrust(['10.0.0.0/8'], 'forwarded'),
      header: 'forwarded',
      hop: (text: string) => `for="${text.includes(':') ? `[${text}]` : text}"`,
    },
  ]
  const proxies = fc.array(fc.integer({ min: 0, max: 255 }), { maxLength: 5 })
  fc.assert(
    fc.property(
      fc.constantFrom(...lists),
      client,
      proxies,
      fc.array(hostile, { minLength: 1 }),
      fc.boolean(),
      (list, address, hops, attack, join) => {
        if (address.family === 4 && address.d >>> 24 === 10) return true
        const honest = [list.hop(formatAddress(address)), ...hops.map((last) => list.hop(`10.0.0.${last}`))].join(', ')
        // The client's own values come first, on its own lines or joined with what the proxies appended.
        const fields: readonly Field[] = join
          ? [[list.header, [...attack, honest].join(', ')]]
          : [...attack.map((value): Field => [list.header, value]), [list.header, honest]]
        const plain = resolveClient(request('10.0.0.1', [list.header, honest]), list.trust)
        const attacked = resolveClient(request('10.0.0.1', ...fields), list.trust)
        return brief(plain) === `${formatAddress(address)} header` && brief(attacked) === brief(plain)
      },
    ),
    { numRuns: 1000 },
  )
})
