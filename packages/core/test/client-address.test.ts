import fc from 'fast-check'
import t from 'tap'
import { parseTrust, type ResolvedClient, resolveClient } from '../src/address/client.ts'
import { address4, address6, FORWARDING_HEADERS, formatAddress, type InspectionRequest } from '../src/index.ts'

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
  const peer = '198.51.100.7'
  // A forwarding header is reported where no proxy is trusted, and not where only this peer is untrusted.
  for (const [trusted, isUntrusted] of [
    [[], true],
    [['10.0.0.0/8'], false],
  ] as const) {
    for (const name of FORWARDING_HEADERS.flatMap((header) => [header, header.toUpperCase()])) {
      const resolved = resolveClient(request(peer, [name, '6.6.6.6']), parseTrust(trusted))
      t.same([brief(resolved), resolved.forwardedUntrusted], [`${peer} peer`, isUntrusted], name)
    }
  }
  const other = request(peer, ['X-Forwarded-Fog', '1'], ['Via', '1'])
  t.equal(resolveClient(other, parseTrust([])).forwardedUntrusted, false)
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

const splitRows = (text: string): readonly string[] => text.split('|').map((row) => row.replace(/^\n? *| *$/g, ''))

/**
 * X-Forwarded-For from the peer 10.0.0.1 where 10.0.0.0/8 and 2001:db8:ffff::/48 are trusted, by the client that is found.
 * Empty elements are none (RFC 9110 5.6.1.2).
 */
const WALKS: Readonly<Record<string, readonly string[]>> = {
  '203.0.113.9 header': [
    ...splitRows(`203.0.113.9|6.6.6.6, 203.0.113.9|6.6.6.6, 203.0.113.9, 10.0.0.3, 10.0.0.2|10.9.9.9, 203.0.113.9, 10.0.0.2|
      203.0.113.9,10.0.0.2|203.0.113.9:5678|::ffff:203.0.113.9|::ffff:203.0.113.9:5678|203.0.113.9, ::ffff:10.0.0.2|
      203.0.113.9,, \t, 10.0.0.2|203.0.113.9,|garbage, 203.0.113.9`),
    ' \t203.0.113.9\t ,\t10.0.0.2 ',
    `203.0.113.9${','.repeat(100)}`,
    `203.0.113.9${', 10.0.0.2'.repeat(31)}`,
    `${'6.6.6.6, '.repeat(1200)}203.0.113.9`,
  ],
  '10.0.0.5 header': ['10.0.0.5, 10.0.0.4, 10.0.0.3'],
  '10.0.0.2 header': [',10.0.0.2'],
  '10.0.0.2 header!': ['203.0.113.9, garbage, 10.0.0.2', `203.0.113.9${', 10.0.0.2'.repeat(32)}`],
  '10.0.0.3 header!': [`203.0.113.9,${' '.repeat(1000)}10.0.0.3,${' '.repeat(1030)}10.0.0.2`],
  '2001:db8::9 header': splitRows('2001:db8::9, 2001:db8:ffff::1|[2001:db8::9]|[2001:db8::9]:443, 10.0.0.2:80'),
  'fe80::1 header': ['fe80::1%eth0', '[fe80::1%eth0]:443'],
  'febf::1 header': ['febf::1%2'],
  '10.0.0.1 peer!': [
    ...splitRows(`::ffff:203.0.113.9:99999|garbage|203.0.113.9, garbage,|203.0.113.9, unknown|203.0.113.9, _hidden|
      0203.0.113.9|127.1|2001:db8::9%eth0|[2001:db8::9%eth0]:443|fe7f::1%eth0|fec0::1%eth0|169.254.1.1%eth0|fe80::1%|
      "203.0.113.9"|[203.0.113.9]|[2001:db8::9|[]|203.0.113.9:|203.0.113.9:65536|203.0.113.9:_p1|[2001:db8::9]:http|
      203.0.113.9:80:80|203.0.113.9 10.0.0.2`),
    ...['', ' , ,', `203.0.113.9${','.repeat(3000)}`, '1'.repeat(10_000), `203.0.113.9${' '.repeat(10_000)}`],
  ],
}

t.test('X-Forwarded-For is walked from the right', async (t) => {
  const trust = parseTrust(['10.0.0.0/8', '2001:db8:ffff::/48'])
  const walk = (...lines: readonly string[]) => brief(resolveClient(request('10.0.0.1', ...xff(...lines)), trust))
  for (const [expected, rows] of Object.entries(WALKS))
    for (const row of rows) t.equal(walk(row), expected, row.slice(0, 80))
  t.equal(walk(), '10.0.0.1 peer')
  t.equal(walk('6.6.6.6', '203.0.113.9, 10.0.0.3', '10.0.0.2'), '203.0.113.9 header', 'several lines are one list')
  t.equal(walk('10.0.0.5', '10.0.0.4'), '10.0.0.5 header')
  t.equal(walk('203.0.113.9', '10.0.0.2', ''), '203.0.113.9 header', 'an empty line behind others')
  t.equal(walk('garbage', '10.0.0.2'), '10.0.0.2 header!')
  t.equal(walk('203.0.113.9', ...Array<string>(32).fill('10.0.0.2')), '10.0.0.2 header!', 'the 33rd hop is not read')
})

t.test('a hop with a zone is passed over where the same text is trusted of a socket', async (t) => {
  const walkLine = (header: string, line: string) =>
    brief(resolveClient(request('fe80::2%eth0', [header, line]), parseTrust(['fe80::/10'], header)))
  t.equal(walkLine('X-Forwarded-For', '203.0.113.9, fe80::1%eth0'), '203.0.113.9 header')
  t.equal(walkLine('Forwarded', 'for=203.0.113.9, for="[fe80::1%eth0]"'), '203.0.113.9 header')
})

/** Elements of Forwarded (RFC 7239), by the client that is found. RFC 7239 4 lets each parameter be left out. */
const FORWARDED: Readonly<Record<string, readonly string[]>> = {
  '203.0.113.9 header':
    splitRows(`for=203.0.113.9|FOR=203.0.113.9;Proto=https|by=10.0.0.1;for=203.0.113.9;host=site.example;proto=https|
      for="203.0.113.9:5678"|for=6.6.6.6, for=203.0.113.9;proto=http, for="10.0.0.2:80"|for=203.0.113.9 ; proto=http;|
      for=203.0.113.9;host="a,b"|for=203.0.113.9;host="x\\", for=6.6.6.6;by=\\""|for="6.6.6.6, for=203.0.113.9|
      for="6.6.6.6\\", for=203.0.113.9|for=203.0.113.9;;proto=http|; ;for=203.0.113.9; ;|for=203.0.113.9;host=",,"|
      for="203.0.113\\.9"|for="203.0.113.9:_p1"|for="::ffff:203.0.113.9:_p1"|for=203.0.113.9, for="10.0.0.2:_p1"`),
  '2001:db8::9 header': splitRows(`for="[2001:db8::9]"|For="[2001:db8::9]:4711"|for=[2001:db8::9]:80|for="2001:db8::9"|
    for="\\[\\2\\0\\0\\1:db8::9\\]"|for="[2001:db8::9]:_a.b_C-1"`),
  '10.0.0.1 peer!': [
    ...splitRows(`for=203.0.113.9, for=unknown|for=203.0.113.9, for="_gazonk"|for=203.0.113.9, proto=https|
      for=203.0.113.9;for=6.6.6.6|for="203.0.113.9|for=203.0.113.9"|203.0.113.9|for=203.0.113.9, ;|for=|
      for="203.0.113\\\\.9"|for="203.0.113.9:_"|for="203.0.113.9:_a/b"|for="203.0.113.9:http"`),
    ...['', `for="${'\\'.repeat(10_000)}"`],
  ],
}

t.test('Forwarded is read by RFC 7239, from the right', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'], 'Forwarded')
  const walk = (...lines: readonly string[]) => brief(resolveClient(request('10.0.0.1', ...forwarded(...lines)), trust))
  for (const [expected, rows] of Object.entries(FORWARDED))
    for (const row of rows) t.equal(walk(row), expected, row.slice(0, 80))
  t.equal(walk('for=203.0.113.9', 'for=10.0.0.2'), '203.0.113.9 header')
  t.equal(walk(', for=203.0.113.9 ,, for=10.0.0.2,', ' '), '203.0.113.9 header', 'empty elements')
})

t.test('a header of one address holds exactly one, once', async (t) => {
  const trust = parseTrust(['10.0.0.0/8'], 'CF-Connecting-IP')
  const of = (...values: readonly string[]) =>
    brief(resolveClient(request('10.0.0.1', ...values.map((value): Field => ['cf-connecting-ip', value])), trust))
  const found: Readonly<Record<string, readonly string[]>> = {
    // Empty elements count for nothing, and a port is of the connection.
    '203.0.113.9 header': [' 203.0.113.9 ', ...splitRows('::ffff:203.0.113.9:51234|203.0.113.9,|, ,203.0.113.9:80 ,')],
    '2001:db8::9 header': splitRows('2001:db8::9|[2001:db8::9]:443|[2001:db8::9]'),
    // A trusted address is a client like any other.
    '10.0.0.9 header': ['10.0.0.9'],
    '10.0.0.1 peer!': splitRows(`|x|203.0.113.9, 6.6.6.6|203.0.113.9:|203.0.113.9:99999|[2001:db8::9|[1.2.3.4]:80|127.1|
      2001:db8::9%lo|203.0.113.9:_p1`),
  }
  for (const [expected, values] of Object.entries(found))
    for (const value of values) t.equal(of(value), expected, JSON.stringify(value))
  t.equal(of('203.0.113.9', '6.6.6.6'), '10.0.0.1 peer!', 'twice')
  t.equal(of('203.0.113.9', '203.0.113.9'), '10.0.0.1 peer!', 'twice the same')
  // Lines are one list (RFC 9110 5.3), of which empty elements are none.
  t.equal(of('203.0.113.9', ''), '203.0.113.9 header', 'beside an empty line')
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
  const quote = (text: string) => `for="${text.includes(':') ? `[${text}]` : text}"`
  const lists = [
    { trust: parseTrust(['10.0.0.0/8']), header: 'x-forwarded-for', hop: (text: string) => text },
    { trust: parseTrust(['10.0.0.0/8'], 'forwarded'), header: 'forwarded', hop: quote },
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
