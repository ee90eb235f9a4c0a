import type { WhoisRecord } from '@sallyport/core'
import t from 'tap'
import { parseWhoisText } from '../../src/whois/parse-text.ts'

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

/** Made answers in one manner each, and the facts that differ. */
export type Manners = Readonly<Record<string, readonly [answer: string, differs: Differs]>>

/** Tests that each answer is read as its record. */
export function testManners(answers: Manners): void {
  for (const [manner, [answer, differs]] of Object.entries(answers)) {
    t.test(`a record is read in the manner of ${manner}`, async (t) => {
      // Most registries of countries say no state of their own.
      const record = recordWith({ status: [], ...differs })
      t.strictSame(parseWhoisText(answer), { state: 'registered', record })
    })
  }
}

/** Made answers in the manner of registries, by top-level domain or by who says it. */
export type Answers = readonly (readonly [
  registry: string,
  state: 'free' | 'reserved' | 'throttled' | 'registered' | 'unreadable',
  answer: string,
])[]

/** Tests that each answer is read as its state. */
export function testStates(answers: Answers): void {
  for (const state of new Set(answers.map(([, expected]) => expected))) {
    t.test(`every answer that says ${state} is read as ${state}`, async (t) => {
      const wrong = answers
        .filter(([, expected]) => expected === state)
        .flatMap(([registry, , answer]) =>
          [answer, answer.replaceAll('\n', '\r\n')]
            .map((text) => [registry, text.slice(0, 60), parseWhoisText(text).state])
            .filter(([, , read]) => read !== state),
        )
      t.strictSame(wrong, [])
    })
  }
}

/** Footers with words of all states, which say nothing of the domain. */
export const TERMS = `
>>> Last update of WHOIS database: 2026-01-01T00:00:00Z <<<

NOTICE: The expiration date displayed in this record is the date the registrar's
sponsorship ends. You agree that access may be refused when limits are exceeded, and
that domains not found here may be available elsewhere. All rights reserved.
`
