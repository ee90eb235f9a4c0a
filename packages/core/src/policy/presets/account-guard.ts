import type { CountKey } from '../../values/counting.ts'
import type { Rule, RuleLimit } from '../policy.ts'
import { ASKED, RENTED } from './common-rules.ts'

function failures(key: CountKey | readonly CountKey[], max: number, window: string): { readonly limit: RuleLimit } {
  return { limit: { key, max, window, count: 'failure' } }
}

/** Counts failures beyond half of the attempts: most attempts of a busy office succeed, and one stuffed password in a hundred does. */
function stuffed(key: CountKey, max: number): { readonly limit: RuleLimit } {
  return { limit: { ...failures(key, max, '1h').limit, share: 0.5 } }
}

const GUESSED = { event: ['login', 'mfa'] } as const
const STUFFED = { event: ['login', 'mfa', 'reset', 'payment'] } as const
const UNKNOWN = { ...GUESSED, account: { known: false } } as const
const PASSED = { pass: { atLeast: 1 } } as const

/**
 * Rules about events of accounts. Only throwaway mail is blocked, and only at sign-up: every other rule challenges, so that nobody can lock
 * another user out by guessing. Guesses of strangers never challenge a user on a known network with a known browser. They challenge
 * strangers, at the eleventh failure in a quarter of an hour, and slow ones by the day and by the week. A pass is good for some failures
 * and then its holder solves again; otherwise one solution would pay for every guess.
 */
export const ACCOUNT_GUARD: readonly Rule[] = [
  { id: 'throwaway', match: { event: ['signup', 'email_change'], mail: { disposable: true } }, action: 'block' },
  { id: 'guess-pass', match: { ...GUESSED, ...PASSED }, ...failures(['identifier', 'pass'], 10, '12h'), ...ASKED },
  { id: 'guess', match: UNKNOWN, ...failures('identifier', 10, '15m'), ...ASKED },
  { id: 'guess-day', match: UNKNOWN, ...failures('identifier', 30, '1d'), ...ASKED },
  { id: 'guess-week', match: UNKNOWN, ...failures('identifier', 60, '7d'), ...ASKED },
  // A guesser on the user's own network, with the same browser, is known too.
  { id: 'guess-near', match: GUESSED, ...failures(['identifier', 'client'], 10, '15m'), ...ASKED },
  { id: 'guess-network', match: GUESSED, ...failures(['identifier', 'asn'], 100, '1d'), ...ASKED },
  { id: 'stuffing-pass', match: { ...STUFFED, ...PASSED }, ...failures('pass', 20, '12h'), ...ASKED },
  { id: 'stuffing', match: STUFFED, ...stuffed('browser', 20), ...ASKED },
  { id: 'stuffing-prefix', match: STUFFED, ...stuffed('prefix', 200), ...ASKED },
  { id: 'stuffing-network', match: { ...STUFFED, ...RENTED }, ...stuffed('prefix', 30), ...ASKED },
  { id: 'stuffing-system', match: { ...STUFFED, ...RENTED }, ...stuffed('asn', 200), ...ASKED },
  // Millions of people have the TLS client of a common browser: their successes, and known users, stay out of it.
  { id: 'stuffing-client', match: UNKNOWN, ...stuffed('ja4', 100), ...ASKED },
  { id: 'wave', match: signup({ newDomain: true }), limit: { key: 'mailDomain', max: 20, window: '1h' }, ...ASKED },
  { id: 'shared-pass', match: { ...signup(), ...PASSED }, limit: { key: 'pass', max: 10, window: '1d' }, ...ASKED },
  { id: 'aliases', match: signup(), limit: { key: 'identifier', max: 3, window: '1d' }, ...ASKED },
  { id: 'shared', match: signup(), limit: { key: 'browser', max: 10, window: '1d' }, ...ASKED },
  { id: 'shared-prefix', match: signup(), limit: { key: 'prefix', max: 50, window: '1d' }, ...ASKED },
  { id: 'shared-stem', match: signup(), limit: { key: 'mailStem', max: 10, window: '1h' }, ...ASKED },
  { id: 'reset', match: { event: ['reset'] }, limit: { key: 'identifier', max: 5, window: '1h' }, ...ASKED },
  { id: 'travel', match: { event: ['login', 'email_change', 'payment'], account: { travel: true } }, ...ASKED },
].map((rule) => ({ ...rule, id: `account-${rule.id}` }) as Rule)

function signup(mail?: Rule['match']['mail']): Rule['match'] {
  return { event: ['signup'], ...(mail && { mail }) }
}
