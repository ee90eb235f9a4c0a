import t from 'tap'
import { parseRdap } from '../../src/whois/parse-rdap.ts'
import { createRegistries } from '../../src/whois/registries.ts'

const vcard = (...rows: readonly (readonly unknown[])[]) => ['vcard', [['version', {}, 'text', '4.0'], ...rows]]

const ANSWER = {
  objectClassName: 'domain',
  handle: '2336799_DOMAIN_COM-VRSN',
  ldhName: 'EXAMPLE.COM',
  status: ['client delete prohibited', 'client transfer prohibited', 'active'],
  entities: [
    {
      roles: ['registrar'],
      vcardArray: vcard(['fn', {}, 'text', 'Example Registrar, Inc.'], ['org', {}, 'text', 'Example Group']),
    },
    { roles: ['registrant'], vcardArray: vcard(['fn', {}, 'text', 'Jo Person']) },
  ],
  events: [
    { eventAction: 'registration', eventDate: '1995-08-14T04:00:00Z' },
    { eventAction: 'expiration', eventDate: '2027-08-13T04:00:00Z' },
    { eventAction: 'last changed', eventDate: '2026-08-14T23:30:00-05:00' },
    { eventAction: 'last update of RDAP database', eventDate: '2026-11-21T00:00:00Z' },
  ],
  nameservers: ['A.IANA-SERVERS.NET', 'b.iana-servers.net.', 'A.IANA-SERVERS.NET'].map((ldhName) => ({ ldhName })),
}

const RECORD = {
  registrar: 'Example Registrar, Inc.',
  registeredOn: '1995-08-14',
  expiresOn: '2027-08-13',
  lastUpdated: '2026-08-15',
  nameservers: ['a.iana-servers.net', 'b.iana-servers.net'],
  status: ['clientDeleteProhibited', 'clientTransferProhibited', 'ok'],
  privacyProtection: false,
}

const read = (answer: unknown) => parseRdap(JSON.stringify(answer), 'example.com')

t.test('an RDAP answer becomes a record, without text that could steer a terminal or a page', async (t) => {
  t.strictSame(read(ANSWER), { state: 'registered', record: RECORD })
  const empty = { nameservers: [], status: [], privacyProtection: false }
  t.strictSame(read({ objectClassName: 'domain', ldhName: 'example.com.' }), { state: 'registered', record: empty })
  const registrar = { roles: ['registrar'], vcardArray: vcard(['fn', {}, 'text', 'Ex\u001b[31mam\u202eple\r\nInc.']) }
  t.match(read({ ...ANSWER, entities: [registrar] }), { record: { registrar: 'Ex [31mam ple Inc.' } })
})

t.test('a hidden registrant is recognised, however the registry says so', async (t) => {
  const registrant = (entity: object) => ({ ...ANSWER, entities: [{ roles: ['registrant'], ...entity }] })
  const hidden = [
    registrant({ vcardArray: vcard(['fn', {}, 'text', 'REDACTED FOR PRIVACY']) }),
    registrant({ vcardArray: vcard(['fn', {}, 'text', ''], ['org', {}, 'text', ['Domains By Proxy, LLC', 'Unit']]) }),
    registrant({ remarks: [{ title: 'REDACTED FOR PRIVACY', description: ['Some of the data is removed.'] }] }),
    { ...ANSWER, redacted: [{ name: { description: 'Registrant Name' }, method: 'removal' }] },
  ]
  for (const answer of hidden) t.match(read(answer), { record: { privacyProtection: true } })
  const open = { ...ANSWER, redacted: [{ name: { description: 'Tech Email' } }] }
  t.match(read(open), { record: { privacyProtection: false } })
})

t.test('an answer about another domain is unreadable, and nothing in it makes it throw', async (t) => {
  const other = { ...ANSWER, ldhName: 'example.net' }
  const strange = [null, [], {}, 7, 'text', other, { ...ANSWER, objectClassName: 'entity' }, { errorCode: 404 }]
  for (const answer of strange) t.strictSame(read(answer), { state: 'unreadable' }, JSON.stringify(answer).slice(0, 60))
  for (const text of ['', '{', '<html>', 'null', '\0'])
    t.strictSame(parseRdap(text, 'example.com'), { state: 'unreadable' })
  const members = ['status', 'entities', 'events', 'nameservers', 'redacted']
  const values = [null, 7, 'x', {}, [null], [[]], [{}], [7], [{ roles: 7, vcardArray: [7, [7, [], {}]] }]]
  for (const member of members) {
    for (const value of values) t.equal(read({ ...ANSWER, [member]: value }).state, 'registered', member)
  }
  const many = { ...ANSWER, status: Array.from({ length: 500 }, (_, index) => `s${index}`) }
  t.match(read(many), { record: { status: { length: 64 } } })
})

t.test('registries are known by top-level domain', async (t) => {
  const { rdap, whois, registrar } = createRegistries()
  t.equal(rdap('com'), 'https://rdap.verisign.com/com/v1/')
  t.match(rdap('uk'), /^https:\/\/.+\/$/)
  t.equal(rdap('unheard-of'), undefined)
  t.match(whois('com', 'example.com'), { host: 'whois.verisign-grs.com', port: 43, question: 'domain example.com' })
  t.match(whois('de', 'example.de'), { host: 'whois.denic.de', question: '-T dn,ace example.de' })
  t.match(whois('se', 'example.se'), { port: 43, question: 'example.se' })
  t.equal(whois('unheard-of', 'example.unheard-of'), undefined)
  t.equal(registrar('whois.markmonitor.com')?.port, 43)
  for (const host of ['127.0.0.1', 'localhost', 'whois.markmonitor.com.evil.example'])
    t.equal(registrar(host), undefined, host)
  const servers = new Map([['de', { host: '127.0.0.1', port: 4343 }]])
  const own = createRegistries({ servers, bootstrap: new Map([['se', 'https://rdap.example.se/']]) })
  t.match(own.whois('de', 'example.de'), { host: '127.0.0.1', port: 4343, question: '-T dn,ace example.de' })
  t.strictSame([own.rdap('se'), own.rdap('com')], ['https://rdap.example.se/', undefined])
  t.strictSame([rdap('th'), rdap('to'), rdap('kz')].map(Boolean), [true, true, true])
  t.equal(own.rdap('kz'), 'https://rdap.nic.kz/', 'no bootstrap file has it')
  t.equal(own.rdap('de'), undefined, 'a configured server goes first')
})
