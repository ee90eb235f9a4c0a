import type { WhoisRecord } from '@sallyport/core'

/** Facts in these tests' answers, unless others are given beside them. */
export const FACTS: WhoisRecord = {
  registrar: 'Example Registrar, Inc.',
  registeredOn: '2001-02-03',
  expiresOn: '2031-02-03',
  lastUpdated: '2021-02-03',
  nameservers: ['ns1.example.net', 'ns2.example.net'],
  status: ['clientTransferProhibited', 'ok'],
  privacyProtection: false,
}
