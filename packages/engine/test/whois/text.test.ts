import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { WhoisRecord } from '@sallyport/core'
import t from 'tap'
import { parseWhoisText, referralIn } from '../../src/whois/parse-text.ts'

/** Facts in these tests' answers, unless others are given beside them. */
const FACTS: WhoisRecord = {
  registrar: 'Example Registrar, Inc.',
  registeredOn: '2001-02-03',
  expiresOn: '2031-02-03',
  lastUpdated: '2021-02-03',
  nameservers: ['ns1.example.net', 'ns2.example.net'],
  status: ['clientTransferProhibited', 'ok'],
  privacyProtection: false,
}

t.test('a privacy service or a redaction instead of the registrant is recognised', async (t) => {
  const answer = (registrant: string) => `Domain Name: example.com\nCreation Date: 2001-02-03\n${registrant}\n`
  const rows: readonly (readonly [registrant: string, hidden: boolean])[] = [
    ['Registrant Name: REDACTED FOR PRIVACY', true],
    ['Registrant Organization: Domains By Proxy, LLC', true],
    ['Registrant Organization: Data Protected', true],
    ['Registrant Name: Registration Private', true],
    ['Registrant Name: On behalf of example.com owner', true],
    ['\nRegistrant:\n    Contact Privacy Inc. Customer 0123\n    Toronto\n', true],
    ['owner: Statutory Masking Enabled', true],
    ['Registrant Organization: Example, Inc.', false],
    ['Tech Organization: Domains By Proxy, LLC', false],
    ['', false],
  ]
  for (const [registrant, hidden] of rows) {
    t.match(parseWhoisText(answer(registrant)), { record: { privacyProtection: hidden } }, registrant)
  }
})

t.test('the record that was asked for is read, and no block about hosts before it', async (t) => {
  const record = (name: string, year: number) =>
    `Domain Name: ${name}\nRegistrar: Registrar of ${year}\nCreation Date: ${year}-02-03\nName Server: ns1.of${year}.example\n`
  const two = `${record('EXAMPLE.NET', 2001)}\n${record('EXAMPLE.COM', 2011)}`
  const registrar = (text: string, domain?: string) => {
    const finding = parseWhoisText(text, domain)
    return finding.state === 'registered' ? finding.record.registrar : finding.state
  }
  t.equal(registrar(two, 'example.com'), 'Registrar of 2011')
  t.equal(registrar(two, 'example.net'), 'Registrar of 2001')
  t.equal(registrar(two), 'Registrar of 2001', 'the first, where both say as much')
  t.equal(registrar(`Domain Name: EXAMPLE.NET\nStatus: ok\n\n${record('EXAMPLE.COM', 2011)}`), 'Registrar of 2011')
  const glue = 'Server Name: EXAMPLE.COM.AND.MORE.EXAMPLE.ORG\nIP Address: 192.0.2.1\nRegistrar: Glue, Inc.\n\n'
  t.equal(registrar(`${glue}${record('EXAMPLE.COM', 2011)}`), 'Registrar of 2011')
  t.equal(registrar(`Registrar: First, Inc.\n${record('EXAMPLE.COM', 2011)}`), 'First, Inc.')
  const idn = parseWhoisText(
    `Domain: münchen.example\nDomain ACE: xn--mnchen-3ya.example\nRegistrar: One\nCreated: 2001-02-03`,
  )
  t.match(idn, { record: { registrar: 'One', registeredOn: '2001-02-03' } })
})

t.test('all dates of an answer are in one order', async (t) => {
  const dates = (...lines: readonly string[]) => {
    const finding = parseWhoisText(`Domain: example.com\n${lines.join('\n')}`)
    if (finding.state !== 'registered') return finding.state
    const { registeredOn, lastUpdated, expiresOn } = finding.record
    return [registeredOn, lastUpdated, expiresOn]
  }
  const monthFirst = dates('Created: 02/03/2001', 'Updated: 02/14/2021', 'Expires: 02/03/2031')
  t.same(monthFirst, ['2001-02-03', '2021-02-14', '2031-02-03'])
  t.same(dates('Created: 02-03-2001', 'Expires: 02-28-2031'), ['2001-02-03', undefined, '2031-02-28'])
  t.same(dates('Created: 02.03.2001', 'Expires: 28.02.2031'), ['2001-03-02', undefined, '2031-02-28'])
  t.same(dates('Created: 02/03/2001', 'Expires: 02/03/2031'), ['2001-03-02', undefined, '2031-03-02'])
  const changedLater = dates('Created: 02/11/2020', 'Updated: 05/03/2020', 'Expires: 02/11/2031')
  t.same(changedLater, ['2020-02-11', '2020-05-03', '2031-02-11'], 'nothing is changed before it is there')
})

t.test('several facts on a line, servers that go on, and sentences that are no facts', async (t) => {
  const text = `Domain: example.com
Created: 2001-02-03, Changed: 2021-02-03; Expires: 2031-02-03
Nameserver: ns1.example.net
ns2.example.net 192.0.2.1
Registrar: of this domain is named by the registry and has to be asked for any of the data that is not in here
Registrar: Example Registrar, Inc.
Status: of a domain that is in the registry may be changed by the holder or by the registrar for any reason
Status: ok`
  const { state, ...rest } = parseWhoisText(text)
  t.same([state, rest], ['registered', { record: { ...FACTS, status: ['ok'] } }])
})

/** Made answers in the manner of registries and registrars: a line `=== manner {facts that differ}`, and the answer. */
const ANSWERS = readFileSync(join(import.meta.dirname, '../../../test/whois/records.txt'), 'utf8')
  .slice('=== '.length, -1)
  .split('\n=== ')

for (const text of ANSWERS) {
  const [, manner = '', differs = '', answer = ''] = /^(.*?) (\{.*\})\n([\s\S]*)$/.exec(text) ?? []
  t.test(`a record is read in the manner of ${manner}`, async (t) => {
    const facts = Object.entries({ ...FACTS, ...JSON.parse(differs) }).filter(([, value]) => value !== null)
    const expected = { state: 'registered', record: Object.fromEntries(facts) }
    t.strictSame(parseWhoisText(answer), expected)
    t.strictSame(parseWhoisText(answer.replaceAll('\n', '\r\n')), expected, 'CR LF')
  })
}

/** Made answers of registries: the top-level domain, or the registry that says it, the state, and the answer. */
const STATES = readFileSync(join(import.meta.dirname, '../../../test/whois/states.jsonl'), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as [registry: string, state: string, answer: string])

for (const state of new Set(STATES.map(([, expected]) => expected))) {
  t.test(`every answer that says ${state} is read as ${state}`, async (t) => {
    for (const [registry, , answer] of STATES.filter(([, expected]) => expected === state)) {
      for (const text of [answer, answer.replaceAll('\n', '\r\n')])
        t.equal(parseWhoisText(text).state, state, `${registry}: ${text.slice(0, 60)}`)
    }
  })
}

t.test('a registrar that is referred to is named, and nothing else is', async (t) => {
  const rows = {
    'Registrar WHOIS Server: WHOIS.Registrar.Example\nWhois Server: other.example': 'whois.registrar.example',
    '   Whois Server: whois.registrar.example': 'whois.registrar.example',
    'ReferralServer: whois://127.0.0.1:22': undefined,
    'Registrar WHOIS Server: 127.0.0.1': undefined,
  }
  for (const [text, server] of Object.entries(rows)) t.equal(referralIn(text), server, text)
})

t.test('an answer is read as far as answers reach, without text that could steer a terminal or a page', async (t) => {
  const answer = 'Registrar: Ex\u001b[31mam\u202eple\u0007\u009b1m\nStatus: o\u0000k\u2066\nCreation Date: 2001-02-03'
  t.match(parseWhoisText(answer), { record: { registrar: 'Ex [31mam ple  1m', status: ['ok'] } })
  const record = 'Creation Date: 2001-02-03'
  t.equal(parseWhoisText(`${'\n'.repeat(500)}${record}`).state, 'registered')
  t.equal(parseWhoisText(`${'\n'.repeat(700)}${record}`).state, 'unreadable')
  t.equal(parseWhoisText(`${'x'.repeat(24_000)}\n${record}`).state, 'registered')
  t.equal(parseWhoisText(`${'x'.repeat(25_000)}\n${record}`).state, 'unreadable')
  t.match(parseWhoisText(`${record}\nRegistrar: ${'x'.repeat(900)}`), { record: { registrar: 'x'.repeat(200) } })
})

t.test('no text makes it throw, lists and texts stay bounded, and a megabyte of noise is an answer', async (t) => {
  const naughty = [
    ...['\0', '9', ':', '(', ' ', '2001-', 'a.', '-'].map((piece) => piece.repeat(5_000)),
    ...['\u202e\u0000\ufeff', '__proto__', 'constructor', '<script>', "'; DROP TABLE domains; --", '%s%x%n', '\ud800'],
  ]
  const labels = ['Domain Name', 'Registrar', 'Creation Date', 'Name Server', 'Domain Status', 'Registrant Name']
  const between = [': ', '] ', ':\n   ', '  ', '']
  const starts = [...labels, ...labels.map((label) => `[${label}`), ...naughty]
  const answers = naughty.flatMap((text) => starts.flatMap((start) => between.map((mark) => start + mark + text)))
  const findings = answers.map((text) => parseWhoisText(text))
  const records = findings.flatMap((finding) => ('record' in finding ? [finding.record] : []))
  t.ok(records.length > 0)
  for (const { registrar = '', nameservers, status } of records)
    if (registrar.length > 200 || nameservers.length > 64 || status.length > 64) t.fail(registrar)
  const many = Array.from({ length: 2_000 }, (_, index) => `Name Server: ns${index}.example.net\nStatus: s${index}`)
  t.match(parseWhoisText(many.join('\n')), { record: { nameservers: { length: 64 }, status: { length: 64 } } })
  const lines = ['Name Server: a.b\n', 'Status: a;\n', 'Registrant:\n', '@ \n\n']
  for (const piece of ['\0\xff', ' ', '2001-', '[(', 'a: ', '\n', 'x\r', ...lines]) {
    const text = piece.repeat(Math.ceil(1_048_576 / piece.length))
    t.ok(parseWhoisText(text).state, JSON.stringify(piece))
    t.equal(referralIn(text), undefined)
  }
})
