import { type CountKey, FAILURE_STATUSES } from '../../values/counting.ts'
import type { LimitPresetName, Rule, RuleCost, RuleLimit, Strikes } from '../policy.ts'
import type { Match } from '../words/match-words.ts'
import { ACCOUNT_GUARD } from './account-guard.ts'
import { RENTED } from './common-rules.ts'

/** Matches requests that sign in, start a session or set a password. */
const LOGIN: Match = {
  path: (
    'login signin sign-in session sessions auth password user/login users/login users/sign_in account/login accounts/login ' +
    'admin/login api/login api/signin api/auth/login api/auth/signin api/auth/sign-in api/auth/callback'
  )
    .split(' ')
    .map((place) => `/${place}/**`),
  method: ['POST'],
}

/** WordPress answers a wrong password with the form again. */
const WORDPRESS: Match = { path: ['/wp-login.php'], method: ['POST'] }

/** Last segments below a session or a login that keep a session or end it: pages request them on their own, again and again. */
const KEPT = (
  'refresh refresh-token refresh_token refreshtoken token-refresh renew extend touch ping keepalive keep-alive keep_alive ' +
  'heartbeat logout log-out signout sign-out sign_out'
).split(' ')

/** Renewals cost nothing, so that a page whose token expired keeps no user from signing in again. */
const RENEWALS: RuleCost = Object.fromEntries(
  ['/auth', '/auth/*', '/auth/*/*', '/session', '/session/*', '/sessions', '/sessions/*'].flatMap((place) =>
    KEPT.map((name) => [`${place}/${name}`, 0]),
  ),
)

/**
 * Limits failed logins an hour. One person mistypes a few times, and an office of 60 fails some ten times in its first hour, so 10
 * challenge, which costs each person a second. Nothing refuses: an office, a university, a carrier and a company's exit share an address
 * with guessers. A pass is good for 20 failures, and then its holder solves again. Behind a shared address one browser counts as a client
 * does elsewhere, and 200 together challenge, or a guesser would change its headers. Servers, VPNs and proxies come in prefixes and
 * systems: 30 and 200 for those.
 */
function loginRules(id: string, match: Match, failures?: readonly number[]): readonly Rule[] {
  const limitBy = (key: CountKey, max: number): RuleLimit => {
    return { key, max, window: '1h', count: 'failure', ...(failures && { failures }) }
  }
  const question = { match, cost: RENEWALS, action: 'challenge', challenge: { level: 2 } } as const
  const servers = { ...question, match: { ...match, ...RENTED } }
  const passed = { ...question, match: { ...match, pass: { atLeast: 1 } } }
  return [
    { ...passed, id: `${id}-pass`, limit: limitBy('pass', 20) },
    { ...question, id, limit: limitBy('browser', 10) },
    { ...question, id: `${id}-address`, limit: limitBy('client', 200) },
    { ...servers, id: `${id}-network`, limit: limitBy('prefix', 30) },
    { ...servers, id: `${id}-system`, limit: limitBy('asn', 200) },
  ]
}

export const LIMIT_PRESETS: Readonly<Record<LimitPresetName, readonly Rule[]>> = {
  'polite-crawlers': [
    {
      id: 'polite-training',
      match: { purpose: ['training'] },
      limit: { key: 'operator', kind: 'bucket', max: 60, window: '1m', burst: 10 },
      action: 'throttle',
    },
    {
      id: 'polite-crawler',
      match: { purpose: ['seo', 'archive', 'monitor', 'feed', 'security', 'ai-search'] },
      limit: { key: 'operator', kind: 'bucket', max: 300, window: '1m', burst: 50 },
      action: 'throttle',
    },
  ],
  'login-guard': [
    ...loginRules('login-guard', LOGIN),
    ...loginRules('login-guard-wordpress', WORDPRESS, [200, ...FAILURE_STATUSES]),
  ],
  'account-guard': ACCOUNT_GUARD,
  'api-fair-use': [
    {
      id: 'api-fair-use',
      match: { path: ['/api/**'] },
      limit: { key: 'client', kind: 'bucket', max: 600, window: '1m', burst: 100 },
      concurrent: { key: 'client', max: 20 },
      action: 'throttle',
    },
    {
      id: 'api-fair-use-user',
      match: { path: ['/api/**'] },
      limit: { key: 'user', max: 1_200, window: '1m' },
      action: 'throttle',
    },
  ],
  // This preset bans: none of its rules refuses a request.
  'scanner-guard': [],
}

/** `scanner-guard` has a ban for different probes, counted here. */
export const SCANNER_GUARD: Strikes = { count: 5, window: '1m', on: [], for: '1h' }
