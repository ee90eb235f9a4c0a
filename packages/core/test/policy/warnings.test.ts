import t from 'tap'
import { policyFaults } from '../../src/policy/check/faults.ts'
import { policyWarnings } from '../../src/policy/check/warnings.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'

const LISTS = new Set(['some', 'late'])

/** The warnings about rules, as `place id: message`. */
function warned(rules: readonly Partial<Rule>[], more: Partial<Policy> = {}): readonly string[] {
  const named = rules.map((rule, at): Rule => ({ id: `r${at}`, match: {}, action: 'block', ...rule }))
  const policy: Policy = { preset: 'observe', ...more, rules: named }
  t.same(policyFaults(policy, LISTS), [], JSON.stringify(policy))
  return policyWarnings(policy).map(({ path, rule, message }) => `${path.join('.')} ${rule}: ${message}`)
}

const LIMIT = { key: 'client', max: 30, window: '1m' } as const
const behind = (place: string, by: string) =>
  `${place}: no request reaches it: the rule "${by}" before it matches every request`

t.test('rules after one that refuses every request are named', async (t) => {
  const narrow: Partial<Rule> = { match: { country: ['DE'] } }
  for (const match of [{}, { path: ['/**'] }, { path: ['/x', '/**'] }]) {
    t.same(warned([narrow, { match }, narrow, narrow], { limits: ['polite-crawlers'] }), [
      behind('rules.2 r2', 'r1'),
      behind('rules.3 r3', 'r1'),
      behind('limits.0 undefined', 'r1'),
    ])
  }
  t.same(warned([narrow, {}]), [], 'as the last rule it is a default')
  const reached: readonly Partial<Rule>[] = [
    { match: { path: ['/*'] } },
    { match: { address: ['0.0.0.0/0', '::/0'] } },
    { monitor: true },
    { action: 'flag' },
    { action: 'flag', weight: 2 },
    { action: 'challenge' },
    { action: 'throttle', limit: LIMIT },
  ]
  for (const wide of reached) t.same(warned([wide, narrow]), [], JSON.stringify(wide))
})

t.test('a rule that allows every request is named, and the rules after it are not', async (t) => {
  const opening =
    'rules.0 r0: it matches every request and allows it, so no rule after it and none of the preset ever decides'
  const narrow: Partial<Rule> = { match: { country: ['DE'] } }
  t.same(warned([{ action: 'allow' }, narrow]), [opening])
  t.same(warned([{ action: 'allow', match: { path: ['/**'] } }]), [opening])
  t.same(warned([{ action: 'allow', match: { address: ['::/0', '0.0.0.0/0'] } }]), [opening])
  t.same(warned([{ action: 'throttle', limit: LIMIT, then: 'allow' }, narrow]), [opening])
  t.same(warned([{ action: 'allow', match: { address: ['0.0.0.0/0'] } }]), [])
  t.same(warned([{ action: 'allow', monitor: true }]), [])
})

t.test('a limit directly before a block of the same match is named', async (t) => {
  const match = { path: ['/api/**'], method: ['POST'] }
  const limit: Partial<Rule> = { match, action: 'throttle', limit: LIMIT }
  const undone =
    'rules.0 r0: the rule "r1" after it blocks all that it counts, within the limit too; with then: allow it allows requests within the limit, crawlers only if they are proven'
  t.same(warned([limit, { match }]), [undone])
  t.same(warned([limit, { match: { method: ['POST'], path: ['/api/**'] } }]), [undone], 'in any order of words')
  t.same(warned([{ ...limit, limit: undefined, concurrent: 3 }, { match }]), [undone])
  const quiet: readonly (readonly Partial<Rule>[])[] = [
    [{ ...limit, then: 'allow', match: { ...match, address: ['198.51.100.7'] } }, { match }],
    [{ ...limit, monitor: true }, { match }],
    [limit, { match, monitor: true }],
    [limit, { match, action: 'flag' }],
    [limit, { match, limit: LIMIT }],
    [limit, { match: { path: ['/api/**'] } }],
    [limit, { match: { country: ['DE'] }, action: 'allow' }, { match }],
  ]
  for (const rules of quiet) t.same(warned(rules), [], JSON.stringify(rules))
})

t.test('one request that costs more than a limit has is named', async (t) => {
  const few: Partial<Rule> = { match: { path: ['/x'] }, action: 'throttle', limit: LIMIT }
  t.same(warned([{ ...few, cost: 31 }]), [
    'rules.0.cost r0: one request costs 31 of 30: the first is beyond the limit already',
  ])
  const bucket = { key: 'client', max: 30, window: '1m', kind: 'bucket', burst: 40 } as const
  t.same(warned([{ ...few, limit: bucket, cost: 31 }]), [])
  t.same(warned([{ ...few, cost: { POST: 31 } }]), [])
})

t.test('what is trusted, weighed too little, or counted for a share alone is said', async (t) => {
  t.same(warned([{ match: { userAgent: ['Mine*'], cookie: { a: ['1'] } }, action: 'allow', trustClaim: true }]), [
    'rules.0.trustClaim r0: it allows by an unproven claim: nothing proves userAgent and cookie',
  ])
  t.same(
    warned([{ match: { userAgent: ['Mine*'], address: ['198.51.100.7'] }, action: 'allow', trustClaim: true }]),
    [],
  )
  const sign: Partial<Rule> = { match: { method: ['PUT'] }, action: 'flag', weight: 3 }
  const sum = (atLeast: number): Partial<Rule> => ({ match: { weight: { atLeast } } })
  t.same(warned([sign, sum(4)]), [
    'rules.1.match.weight.atLeast r1: it never matches: the weights before it come to 3 at most',
  ])
  t.same(warned([sum(1), sign]), ['rules.0.match.weight.atLeast r0: it never matches: no rule before it has a weight'])
  t.same(warned([sign, { ...sign, match: { method: ['POST'] } }, sum(6)]), [])
  t.match(warned([sign, { ...sign, monitor: true, match: { method: ['POST'] } }, sum(6)]), [/come to 3 at most/])
  t.same(warned([{ match: { share: 0.05, path: ['/x'] }, limit: LIMIT, action: 'throttle' }]), [
    'rules.0.match.share r0: its limit is for 5 % of the clients: it neither counts nor limits the others',
  ])
  t.same(warned([{ match: { share: 0.05, path: ['/x'] } }]), [])
})

t.test('a challenge that no navigation meets is named', async (t) => {
  const warnedOf = (match: Rule['match']) => warned([{ match, action: 'challenge' }])
  const missed: readonly Rule['match'][] = [
    { method: ['PUT', 'delete'] },
    { path: ['/robots.txt', '/.well-known/**'] },
    { class: ['verified_crawler'] },
    { crawlerOutcome: ['verified'] },
    { purpose: ['training'] },
    { crawler: ['gptbot'] },
  ]
  for (const match of missed) t.match(warnedOf(match), [/^rules\.0\.match\.\w+ r0: /], JSON.stringify(match))
  const met: readonly Rule['match'][] = [
    {},
    { method: ['POST'] },
    { method: ['PUT', 'get'] },
    { path: ['/robots.txt', '/shop'] },
    { path: ['/robots.txt/**'] },
    { class: ['human', 'verified_crawler'] },
    { not: { method: ['GET'] } },
  ]
  for (const match of met) t.same(warnedOf(match), [], JSON.stringify(match))
  t.same(warned([{ match: { method: ['PUT'] } }]), [], 'what is blocked needs no page')
})
