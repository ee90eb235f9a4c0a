import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'
import { FACTS } from './facts.ts'

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
  t.same(dates('Created: 02/03/2001', 'Updated: 02/14/2021', 'Expires: 02/03/2031'), [
    '2001-02-03',
    '2021-02-14',
    '2031-02-03',
  ])
  t.same(dates('Created: 02-03-2001', 'Expires: 02-28-2031'), ['2001-02-03', undefined, '2031-02-28'])
  t.same(dates('Created: 02.03.2001', 'Expires: 28.02.2031'), ['2001-03-02', undefined, '2031-02-28'])
  t.same(
    dates('Created: 02/03/2001', 'Expires: 02/03/2031'),
    ['2001-03-02', undefined, '2031-03-02'],
    'else the day first',
  )
  t.same(
    dates('Created: 02/11/2020', 'Updated: 05/03/2020', 'Expires: 02/11/2031'),
    ['2020-02-11', '2020-05-03', '2031-02-11'],
    'nothing is changed before it is there',
  )
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
