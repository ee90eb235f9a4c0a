import t from 'tap'
import { parseWhoisText, referralIn } from '../../src/whois/parse-text.ts'

t.test('a registrar that is referred to is named, and nothing else is', async (t) => {
  t.equal(
    referralIn('Registrar WHOIS Server: WHOIS.Registrar.Example\nWhois Server: other.example'),
    'whois.registrar.example',
  )
  t.equal(referralIn('   Whois Server: whois.registrar.example'), 'whois.registrar.example')
  for (const text of [
    'ReferralServer: whois://127.0.0.1:22',
    'Registrar WHOIS Server:',
    'Registrar WHOIS Server: 127.0.0.1',
    '',
  ]) {
    t.equal(referralIn(text), undefined, text)
  }
})

t.test('text that could steer a terminal or a page is not passed on', async (t) => {
  const answer = 'Registrar: Ex\u001b[31mam\u202eple\u0007\u009b1m\nStatus: o\u0000k\u2066\nCreation Date: 2001-02-03'
  t.match(parseWhoisText(answer), { record: { registrar: 'Ex [31mam ple  1m', status: ['ok'] } })
})

t.test('an answer is looked at as far as answers reach', async (t) => {
  const record = 'Creation Date: 2001-02-03'
  t.equal(parseWhoisText(`${'\n'.repeat(500)}${record}`).state, 'registered')
  t.equal(parseWhoisText(`${'\n'.repeat(700)}${record}`).state, 'unreadable')
  t.equal(parseWhoisText(`${'x'.repeat(24_000)}\n${record}`).state, 'registered')
  t.equal(parseWhoisText(`${'x'.repeat(25_000)}\n${record}`).state, 'unreadable')
  t.match(parseWhoisText(`${record}\nRegistrar: ${'x'.repeat(900)}`), { record: { registrar: 'x'.repeat(200) } })
})

t.test('no text makes it throw, and lists and texts stay bounded', async (t) => {
  const naughty = [
    '\0'.repeat(100),
    '\u202e\u0000\ufeff',
    '__proto__',
    'constructor',
    '<script>alert(1)</script>',
    "'; DROP TABLE domains; --",
    '%s%x%n',
    '‮evil',
    '\ud800',
    '9'.repeat(5_000),
    ':'.repeat(5_000),
    '('.repeat(5_000),
    ' '.repeat(5_000),
    '2001-'.repeat(1_000),
    'a.'.repeat(2_000),
    '-'.repeat(5_000),
  ]
  const labels = [
    'Domain Name',
    'Registrar',
    'Creation Date',
    'Registry Expiry Date',
    'Updated Date',
    'Name Server',
    'Domain Status',
    'Registrant Name',
  ]
  const answers = naughty.flatMap((text) =>
    [...labels, ...naughty].flatMap((label) => [
      `${label}: ${text}`,
      `[${label}] ${text}`,
      `${label}:\n   ${text}`,
      `${label}  ${text}`,
      text + label,
    ]),
  )
  const records = answers
    .map((text) => parseWhoisText(text))
    .flatMap((finding) => ('record' in finding ? [finding.record] : []))
  t.ok(records.length > 0)
  t.strictSame(
    records.filter(
      ({ registrar = '', nameservers, status }) =>
        registrar.length > 200 || nameservers.length > 64 || status.length > 64,
    ),
    [],
  )
  const many = Array.from({ length: 2_000 }, (_, index) => `Name Server: ns${index}.example.net\nStatus: s${index}`)
  t.match(parseWhoisText(many.join('\n')), { record: { nameservers: { length: 64 }, status: { length: 64 } } })
})

t.test('a megabyte of noise is an answer like any other', async (t) => {
  const pieces = [
    '\0\xff',
    ' ',
    '2001-',
    '[(',
    'a: ',
    '\n',
    'Name Server: a.b\n',
    'Status: a;\n',
    'Registrant:\n',
    '@ \n\n',
    'x\r',
  ]
  for (const piece of pieces) {
    const text = piece.repeat(Math.ceil(1_048_576 / piece.length))
    t.ok(parseWhoisText(text).state, JSON.stringify(piece))
    t.equal(referralIn(text), undefined)
  }
})
