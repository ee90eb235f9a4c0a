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

/** Differing facts of an answer; `undefined` for one that it leaves out. */
export type Differs = { readonly [Member in keyof WhoisRecord]?: WhoisRecord[Member] | undefined }

/** The record of an answer that says {@link FACTS}, but for what differs. */
export function recordWith(differs: Differs): object {
  return Object.fromEntries(Object.entries({ ...FACTS, ...differs }).filter(([, value]) => value !== undefined))
}
