import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'
import { type Differs, recordWith } from './facts.ts'

const TERMS = `
>>> Last update of WHOIS database: 2026-01-01T00:00:00Z <<<

NOTICE: The expiration date displayed in this record is the date the registrar's
sponsorship ends. You agree that access may be refused when limits are exceeded, and
that domains not found here may be available elsewhere. All rights reserved.
`

/** Answers that say what FACTS says, each in the manner of another family. */
const RECORDS: Readonly<Record<string, readonly [answer: string, differs?: Differs]>> = {
  'ICANN labels': [
    `   Domain Name: EXAMPLE.COM
   Registrar WHOIS Server: whois.registrar.example
   Updated Date: 2021-02-03T04:05:06Z
   Creation Date: 2001-02-03T04:05:06Z
   Registry Expiry Date: 2031-02-03T04:05:06Z
   Registrar Registration Expiration Date:
   Registrar: Example Registrar, Inc.
   Registrar IANA ID: 9999
   Reseller:
   Domain Status: clientTransferProhibited https://icann.org/epp#clientTransferProhibited
   Domain Status: ok https://icann.org/epp#ok
   Registrant Name: Jo Person
   Name Server: NS1.EXAMPLE.NET
   Name Server: NS2.EXAMPLE.NET.
   DNSSEC: unsigned${TERMS}`,
  ],
  'padded labels, sections without a mark': [
    `domain.............: example.fi
status.............: clientTransferProhibited
status.............: ok
created............: 3.2.2001 09:48:01
expires............: 3.2.2031
modified...........: 3.2.2021

Nameservers

nserver............: ns1.example.net [OK]
nserver............: ns2.example.net [OK]

Holder

name...............: Jo Person
created............: 1.1.1999

Registrar

registrar..........: Example Registrar, Inc.
`,
  ],
  'headings with indented values': [
    `
    Domain name:
        example.co.uk

    Registrar:
        Example Registrar, Inc.
        URL: https://registrar.example

    Relevant dates:
        Registered on: 03-Feb-2001
        Expiry date:  03-Feb-2031
        Last updated:  03-Feb-2021

    Registration status:
        clientTransferProhibited
        ok

    Name servers:
        ns1.example.net
        ns2.example.net     192.0.2.7

    WHOIS lookup made at 13:41:57 01-May-2026
`,
  ],
  'headings with labelled lines below': [
    `Domain:\texample.be
Status:\tclientTransferProhibited
Status:\tok
Registered:\tSat Feb 3 2001
Last Modified:\tWed Feb 3 2021
Expires:\tMon Feb 3 2031

Registrant:
\tNot shown, please visit www.example.be

Registrar Technical Contacts:
\tName:\tA. Technician
\tOrganisation:\tSomebody Else

Registrar:
\tName:\t Example Registrar, Inc.
\tWebsite: https://registrar.example

Nameservers:
\tns1.example.net
\tns2.example.net
`,
    { privacyProtection: true },
  ],
  'RPSL objects': [
    `% This is a Whois server.

domain:      example.fr
status:      clientTransferProhibited
status:      ok
holder-c:    JP1-FRNIC
registrar:   Example Registrar, Inc.
Expiry Date: 03/02/2031
created:     03/02/2001
last-update: 03/02/2021
nserver:     ns1.example.net
nserver:     ns2.example.net [192.0.2.7 2001:db8::7]
source:      FRNIC

nic-hdl:     JP1-FRNIC
type:        PERSON
changed:     01/01/2024 hostmaster@example.net
created:     01/01/1999
`,
  ],
  'a handle of the registrar, named by an object below': [
    `Domain:                       example.sk
Created:                      2001-02-03
Valid Until:                  2031-02-03
Updated:                      2021-02-03
Domain Status:                clientTransferProhibited, ok
Nameserver:                   ns1.example.net
Nameserver:                   ns2.example.net

Domain registrant:            JP-0001
Name:                         Jo Person
Created:                      1999-01-01

Registrar:                    EXAM-0024
Name:                         Example Registrar, Inc.
Created:                      1998-01-01
`,
  ],
  'labels in brackets': [
    `[ The database provides information on network administration. ]

Domain Information:
[Domain Name]                   EXAMPLE.JP

[Registrant]                    Jo Person

[Name Server]                   ns1.example.net
[Name Server]                   ns2.example.net
[Signing Key]

[Created on]                    2001/02/03
[Expires on]                    2031/02/03
[Status]                        Active
[Last Updated]                  2021/02/03 09:05:07 (JST)

Contact Information:
[Name]                          Jo Person
`,
    { registrar: undefined, status: ['Active'] },
  ],
  'lettered labels, and an end of the registration in the state': [
    `a. [Domain Name]                EXAMPLE.CO.JP
p. [Name Server]                ns1.example.net
p. [Name Server]                ns2.example.net
[State]                         Connected (2031/02/03)
[Registered Date]               2001/02/03
[Last Update]                   2021/02/03 12:00:00 (JST)
`,
    { registrar: undefined, status: ['Connected'] },
  ],
  'Korean, then English': [
    `query : example.kr

# KOREAN(UTF8)

도메인이름                  : example.kr
등록일                      : 2001. 02. 03.
최근 정보 변경일            : 2021. 02. 03.
사용 종료일                 : 2031. 02. 03.
등록대행자                  : Example Registrar, Inc.(http://registrar.example)

1차 네임서버 정보
   호스트이름               : ns1.example.net
   IP 주소                  : 192.0.2.7

2차 네임서버 정보
   호스트이름               : ns2.example.net
`,
    { status: [] },
  ],
  'underscores and a numeric state': [
    `version: 7.00
query_status: 200 Active
domain_name: example.nz
domain_dateregistered: 2001-02-03T00:00:00+00:00
domain_datelastmodified: 2021-02-03T04:05:06+00:00
registrar_name: Example Registrar, Inc.
ns_name_01: ns1.example.net
ns_name_02: ns2.example.net
`,
    { expiresOn: undefined, status: ['200 Active'] },
  ],
  'headings behind stars': [
    `** Domain Name: example.com.tr

** Registrant:
   Jo Person

** Domain Servers:
ns1.example.net
ns2.example.net 192.0.2.7

** Additional Info:
Created on..............: 2001-Feb-03.
Expires on..............: 2031-Feb-03.
`,
    { registrar: undefined, lastUpdated: undefined, status: [] },
  ],
  sentences: [
    `Domain Name: example.com.tw
   Domain Status: clientTransferProhibited,ok
   Registrant:

      Jo Person

   Record expires on 2031-02-03 09:22:50 (UTC+8)
   Record created on 2001-02-03 09:22:50 (UTC+8)

   Domain servers in listed order:
      ns1.example.net
      ns2.example.net

Registration Service Provider: Example Registrar, Inc.
`,
    { lastUpdated: undefined },
  ],
  'gaps in place of marks': [
    `Domain name          example.ch
Registrar            Example Registrar, Inc.
Dns_name             ns1.example.net
Dns_name             ns2.example.net
Last-update          2021-02-03
Valid-date           2031-02-03
`,
    { registeredOn: undefined, status: [] },
  ],
  'a list that goes on below its label': [
    `DOMAIN NAME:           example.pl
registrant type:       organization
nameservers:           ns1.example.net. [192.0.2.7]
                       ns2.example.net. [2001:db8::7]
created:               2001.02.03 13:00:00
last modified:         2021.02.03 11:21:09
renewal date:          2031.02.03 14:00:00

REGISTRAR:
Example Registrar, Inc.
ul. Example 1
`,
    { status: [] },
  ],
  Spanish: [
    `   Nombre de Dominio: example.ve
   Ultima Actualización: 2021-02-03 12:10:02
   Fecha de Creación: 2001-02-03 12:10:02
   Fecha de Vencimiento: 2031-02-03 12:10:02
   Estatus del dominio: ACTIVO

   Servidor(es) de Nombres de Dominio:

   - ns1.example.net
   - ns2.example.net
`,
    { registrar: undefined, status: ['ACTIVO'] },
  ],
}

for (const [family, [answer, differs = {}]] of Object.entries(RECORDS)) {
  t.test(`a record is read: ${family}`, async (t) => {
    const expected = { state: 'registered', record: recordWith(differs) }
    t.strictSame(parseWhoisText(answer), expected)
    t.strictSame(parseWhoisText(answer.replaceAll('\n', '\r\n')), expected, 'CR LF')
  })
}
