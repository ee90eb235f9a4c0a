import { type Manners, testManners } from './facts.ts'

/** Made answers in the manner of one registry each, and what is hard about it. */
const ANSWERS: Manners = {
  'it: people without a mark, the registrar behind them': [
    `*********************************************************************
* Please note that the following result could be a subgroup of      *
*********************************************************************

Domain:             example.it
Status:             ok
Signed:             no
Created:            2001-02-03 00:00:00
Last Update:        2021-02-03 01:00:00
Expire Date:        2031-02-03

Registrant
  Organization:     Jo Person
  Address:          Via Uno
  Created:          1999-01-01 00:00:00
  Last Update:      2012-01-01 00:00:00

Admin Contact
  Name:             Jo Person
  Created:          1999-01-01 00:00:00

Technical Contacts
  Name:             Jo Person
  Organization:     Another

Registrar
  Organization:     Example Registrar, Inc.
  Name:             EXAMPLE-REG
  Web:              https://registrar.example
  DNSSEC:           no


Nameservers
  ns1.example.net
  ns2.example.net
`,
    { status: ['ok'] },
  ],
  'at: an address behind the registrar, lines between servers': [
    `domain:         example.at
registrar:      Example Registrar, Inc. ( https://nic.at/registrar/1 )
registrant:     JP1-NICAT
tech-c:         JP1-NICAT
nserver:        ns1.example.net
remarks:        192.0.2.7
nserver:        ns2.example.net
changed:        20210203 10:29:24
source:         AT-DOM

personname:     Jo Person
organization:   Another
nic-hdl:        JP1-NICAT
changed:        20190101 10:29:24
source:         AT-DOM
`,
    { registeredOn: undefined, expiresOn: undefined },
  ],
  'cz: handles of registrars in other objects': [
    `domain:       example.cz
registrant:   JP1
nsset:        NSS:EX:1
keyset:       KEY1
registrar:    REG-EXAMPLE
registered:   03.02.2001 10:00:00
changed:      03.02.2021 10:00:00
expire:       03.02.2031

contact:      JP1
org:          Another
name:         Jo Person
registrar:    REG-OTHER
created:      01.01.1999 10:00:00
changed:      01.01.2019 10:00:00

nsset:        NSS:EX:1
nserver:      ns1.example.net (192.0.2.7)
nserver:      ns2.example.net
tech-c:       JP1
registrar:    REG-OTHER
created:      01.01.1999 10:00:00
`,
    { registrar: 'REG-EXAMPLE' },
  ],
  'ru: a footer that speaks of the database': [
    `% TCI Whois Service.

domain:        EXAMPLE.RU
nserver:       ns1.example.net.
nserver:       ns2.example.net. 192.0.2.7, 2001:db8::7
state:         REGISTERED, DELEGATED, VERIFIED
org:           Another
taxpayer-id:   1
registrar:     EXAMPLE-RU
admin-contact: https://www.nic.ru/whois
created:       2001-02-03T20:00:00Z
paid-till:     2031-02-03T21:00:00Z
free-date:     2031-03-07
source:        TCI

Last updated on 2026-01-01T00:00:00Z
`,
    { registrar: 'EXAMPLE-RU', lastUpdated: undefined, status: ['REGISTERED', 'DELEGATED', 'VERIFIED'] },
  ],
  'il: a log of what was done': [
    `query:        example.co.il

reg-name:     example
domain:       example.co.il

descr:        Jo Person
phone:        +972
admin-c:      II-JP1-IL
nserver:      ns1.example.net
nserver:      ns2.example.net
validity:     03-02-2031
DNSSEC:       unsigned
status:       Transfer Allowed
changed:      domain-registrar AT isoc.org.il 20010203 (Assigned)
changed:      domain-registrar AT isoc.org.il 20210203 (Changed)

person:       Jo Person
changed:      domain-registrar AT isoc.org.il 20190101

registrar name: Example Registrar, Inc.
registrar info: https://registrar.example
`,
    { status: ['Transfer Allowed'] },
  ],
  'tr: sections behind stars, the last of them about the server': [
    `** Domain Name: example.com.tr
Domain Status: Active
Frozen Status: -
Transfer Status: The domain is LOCKED to transfer.

** Registrant:
   Hidden upon user request

** Registrar:
NIC Handle\t\t: exr
Organization Name\t: Example Registrar, Inc.
Address\t\t\t: Cad 1
Phone\t\t\t: +90

** Domain Servers:
ns1.example.net
ns2.example.net 192.0.2.7

** Additional Info:
Created on..............: 2001-Feb-03.
Expires on..............: 2031-Feb-03.

** Whois Server:
Last Update Time: 2026-01-01T00:00:00+03:00
`,
    { lastUpdated: undefined, status: ['Active'], privacyProtection: true },
  ],
  'tn: servers labelled as names, and a zone': [
    `NIC Whois server for cTLDs : .tn
All rights reserved

Details:

Domain name.........: example.tn
Creation date.......: 03-02-2001 00:00:00 GMT+1
Domain status.......: Active
Registrar...........: Example Registrar, Inc.

Owner Contact
Name................: Jo
First name..........: Person
Address.............: Rue 1

Administrativ contact
Name................: Jo

Technical contact
Name................: Jo

DNSSEC..............:

DNS servers
Name................: ns1.example.net
Name................: ns2.example.net
`,
    { registeredOn: '2001-02-02', expiresOn: undefined, lastUpdated: undefined, status: ['Active'] },
  ],
  'ar: objects with dates of their own': [
    `domain:\t\texample.ar
registrant:\t123
registrar:\tnicar
registered:\t2001-02-03 00:00:00
changed:\t2021-02-03 00:00:00
expire:\t\t2031-02-03 00:00:00

contact:\t123
name:\t\tJO PERSON
registrar:\tnicar
created:\t2013-01-01 00:00:00
changed:\t2026-01-01 00:00:00

nserver:\tns1.example.net ()
nserver:\tns2.example.net (192.0.2.7/32)
registrar:\tnicar
created:\t2016-01-01 00:00:00
`,
    { registrar: 'nicar' },
  ],
  'lv: headings in brackets': [
    `[Domain]
Domain: example.lv
Status: active

[Holder]
Type: Legal person
Name: Jo
Country: LV

[Tech]
Type: Natural person

[Registrar]
Type: Legal person
Name: Example Registrar, Inc.
Country: LV

[Nservers]
Nserver: ns1.example.net
Nserver: ns2.example.net

[Whois]
Updated: 2021-02-03T04:05:06.789+00:00

[Disclaimer]
% text
`,
    { registeredOn: undefined, expiresOn: undefined, status: ['active'] },
  ],
  'ee: sections with the same labels': [
    `Search results may not be used for commercial

Estonia .ee Top Level Domain WHOIS server

Domain:
name:       example.ee
status:     ok (paid and in zone)
registered: 2001-02-03 14:05:06 +03:00
changed:    2021-02-03 14:05:06 +03:00
expire:     2031-02-03
outzone:
delete:

Registrant:
name:       Private Person
email:      Not Disclosed
changed:    2019-01-01 00:00:00 +03:00

Administrative contact:
name:       Not Disclosed
changed:    Not Disclosed

Registrar:
name:       Example Registrar, Inc.
url:        https://registrar.example
phone:      +372
changed:    2020-01-01 00:00:00 +03:00

Name servers:
nserver:   ns1.example.net
nserver:   ns2.example.net
changed:   2019-01-01 00:00:00 +03:00
`,
    { status: ['ok'], privacyProtection: true },
  ],
  'th: a date of the last renewal before that of the end': [
    `Whois Server Version 2.1.7

Domain Name:                EXAMPLE.CO.TH
Registrar:                  Example Registrar, Inc.
Name Server:                NS1.EXAMPLE.NET
Name Server:                NS2.EXAMPLE.NET
DNSSEC:                     unsigned
Status:                     ACTIVE
Renew date:                 03 Feb 2020
Updated date:               03 Feb 2021
Created date:               03 Feb 2001
Exp date:                   02 Feb 2031
Domain Holder Organization: Another

>>> Last updated on Sun, 12 Jul 2026 19:25:58 UTC+7 <<<
`,
    { expiresOn: '2031-02-02', status: ['ACTIVE'] },
  ],
  'kz: a province among the lines of an address': [
    `Domain Name............: example.kz

Organization Using Domain Name
Name...................: Jo Person
Street Address.........: 1 Street
City...................: Almaty
State..................: Almaty
Postal Code............: 050000
Country................: KZ

Nameserver in listed order

Primary server.........: ns1.example.net
Primary ip address.....: 192.0.2.7

Secondary server.......: ns2.example.net
Secondary ip address...: 192.0.2.8

Domain created: 2001-02-03 12:44:02 (GMT+0:00)
Last modified : 2021-02-03 10:20:10 (GMT+0:00)
Domain status : ok - no restrictions

Registar created: OTHER
Current Registar: EXAMPLE
`,
    { registrar: 'EXAMPLE', expiresOn: undefined, status: ['ok'] },
  ],
}

testManners(ANSWERS)
