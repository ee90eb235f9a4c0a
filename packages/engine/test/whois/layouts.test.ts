import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'
import { type Manners, testManners } from './facts.ts'

/** Made answers whose lines are laid out as hardly another's are: of registrars, of old protocols and of clients. */
const ANSWERS: Manners = {
  'a registrar: two-digit years': [
    `   Registered through: Example Registrar, Inc.
   Domain Name: EXAMPLE.COM
      Created on: 03-Feb-01
      Expires on: 03-Feb-31
      Last Updated on: 03-Feb-21

   Registrant:
   Jo Person
   Street 1

   Administrative Contact:
      Jo Person

   Domain servers in listed order:
      NS1.EXAMPLE.NET
      NS2.EXAMPLE.NET
`,
    {},
  ],
  'a registrar: dots in place of marks, a list that goes on below': [
    `Domain Name ..................... example.com
Name Server ..................... ns1.example.net
                                  ns2.example.net
Registrant Name ................. Jo Person
Creation Date.......... 2001-02-03 12:00:00
Expiration Date........ 2031-02-03 12:00:00
`,
    { registrar: undefined, lastUpdated: undefined },
  ],
  'ac.uk: headings of two words, days of the week': [
    `
Domain:
\texample.ac.uk

Registered For:
\tA University

Registered By:
\tExample Registrar, Inc.

Servers:
\tns1.example.net
\tns2.example.net\t192.0.2.7

Registrant Contact:
\tJo Person

Renewal date:
\tMonday 3rd Feb 2031

Entry updated:
\tWednesday 3rd February 2021

Entry created:
\tSaturday 3rd February 2001
`,
    {},
  ],
  'ma: RWhois, with classes of people behind the domain': [
    `%rwhois V-1.5:003fff:00 whois.example (by Network Solutions, Inc. V-1.5.9.5)
domain:ID:1-EXAMPLE
domain:Class-Name:domain
domain:Auth-Area:ma
domain:Domain-Name:example.ma
domain:Owner-Contact;I:2-EXAMPLE
domain:Primary-Server;I:ns1.example.net
domain:Secondary-Server;I:ns2.example.net
domain:Registrar:Example Registrar, Inc.
domain:Created:20010203
domain:Updated:20210203
contact:ID:2-EXAMPLE
contact:Class-Name:contact
contact:Created:19990101
contact:Status:verified
%ok
`,
    { expiresOn: undefined },
  ],
  'to: a list of servers and nothing else': [
    'Tonic whoisd V1.1\nexample ns1.example.net\nexample ns2.example.net\n',
    { registrar: undefined, registeredOn: undefined, expiresOn: undefined, lastUpdated: undefined },
  ],
  'a client that shows the answer of IANA first': [
    `% IANA WHOIS server
% for more information on IANA, visit http://www.iana.org
% This query returned 1 object

refer:        whois.example

domain:       XX

organisation: The Registry
address:      Street 1

contact:      administrative
name:         Jo Person

nserver:      A.NIC.XX 192.0.2.1
nserver:      B.NIC.XX 192.0.2.2

whois:        whois.example

status:       ACTIVE
remarks:      Registration information: http://www.nic.example

created:      1988-09-07
changed:      2024-05-06
source:       IANA

# whois.example

domain:       example.xx
registrar:    Example Registrar, Inc.
created:      2001-02-03
changed:      2021-02-03
expires:      2031-02-03
nserver:      ns1.example.net
nserver:      ns2.example.net
`,
    {},
  ],
}

testManners(ANSWERS)

t.test('a known label goes before one that was guessed, wherever it stands', async (t) => {
  const known = 'Expires: 2031-02-03\nRegistrar: A Registrar\nName Server: ns1.example.net'
  const guessed = 'Renewed until: 2029-01-01\nCurrent registrar of it: Another\nThe hosting server: www.example.net'
  for (const text of [`${guessed}\n${known}`, `${known}\n${guessed}`]) {
    const record = { registrar: 'A Registrar', expiresOn: '2031-02-03', nameservers: ['ns1.example.net'] }
    t.match(parseWhoisText(text), { state: 'registered', record })
  }
  t.match(parseWhoisText(guessed), { record: { registrar: 'Another', expiresOn: '2029-01-01' } })
})

t.test('a list of servers is one where every line is', async (t) => {
  const read = (text: string, domain?: string) => parseWhoisText(text, domain).state
  t.equal(read('example ns1.example.net', 'example.to'), 'registered')
  t.equal(read('example ns1.example.net'), 'unreadable')
  t.equal(read('Server 1.0\nns1.example.net 192.0.2.1\nns2.example.net 2001:db8::1'), 'registered')
  t.equal(read('visit www.example.net', 'example.to'), 'unreadable')
  t.equal(read('example ns1.example.net\nexample ns2.example.net\nsee the terms of use', 'example.to'), 'unreadable')
  t.equal(read('example ns1.example.net\nother ns1.example.net', 'example.to'), 'unreadable')
})
