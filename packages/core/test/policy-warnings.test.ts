import t from 'tap'
import { policyFaults } from '../src/policy/faults.ts'
import type { Policy, Rule } from '../src/policy/policy.ts'
import { policyWarnings } from '../src/policy/warnings.ts'

const LISTS = new Set(['some', 'late'])

/** The warnings about rules, as `place id: message`. */
function warned(rules: readonly Partial<Rule>[], more: Partial<Policy> = {}): readonly string[] {
  const named = rules.map((rule, at): Rule => ({ id: `r${at}`, match: {}, action: 'block', ...rule }))
  const policy: Policy = { preset: 'observe', ...more, rules: named }
  t.same(policyFaults(policy, LISTS), [], JSON.stringify(policy))
  return policyWarnings(policy).map(({ path, rule, message }) => `${path.join('.')} ${rule}: ${message}`)
}

const LIMIT = { key: 'client', max: 30, window: '1m' } as const
const behind = (at: number, by: string) =>
  `rules.${at} r${at}: no request reaches it: the rule ${by} before it decides all that it matches`

t.test('a rule that no request reaches is named with those that decide before it', async (t) => {
  const pairs: readonly (readonly [wide: Partial<Rule>, narrow: Partial<Rule>])[] = [
    [{ match: { path: ['/admin/**'] } }, { match: { path: ['/admin/users', '/ADMIN/x/*'] } }],
    [{ match: { path: ['/a*/**'] } }, { match: { path: ['/ab*/c'] } }],
    [{ match: { path: ['/**'] } }, { match: { country: ['DE'] } }],
    [{ match: { country: ['DE', 'AT'] } }, { match: { country: ['AT'], path: ['/x'] }, action: 'flag' }],
    [{ match: { country: ['DE'] } }, { match: { country: ['DE'] }, monitor: true }],
    [{ match: { country: ['DE'] } }, { match: { country: ['DE'] }, action: 'flag', weight: 2 }],
    [{ match: { userAgent: ['*bot*'] } }, { match: { userAgent: ['*BADBOT/*', 'robot'] } }],
    [{ match: { userAgent: ['*'] } }, { match: { userAgent: ['/^x/', 'list:some'] } }],
    [{ match: { userAgent: ['/^Ab/'] } }, { match: { userAgent: ['/^Ab/'] }, action: 'flag' }],
    [{ match: { query: { page: ['*1*'] } } }, { match: { query: { page: ['11'], q: ['x'] } }, action: 'flag' }],
    [
      { match: { header: { absent: ['Accept'] } } },
      { match: { header: { absent: ['accept', 'te'] } }, action: 'flag' },
    ],
    [{ match: { address: ['198.51.0.0/16'] } }, { match: { address: ['198.51.100.7', '198.51.2.0/24'] } }],
    [{ match: { address: ['list:some'] } }, { match: { address: ['list:some'], path: ['/x'] }, action: 'flag' }],
    [{ match: { confidence: { atLeast: 0.5 } } }, { match: { confidence: { atLeast: 0.6, atMost: 0.9 } } }],
    [{ match: { not: { country: ['DE'] } } }, { match: { not: { country: ['DE', 'AT'] } }, action: 'flag' }],
    [{ match: { crawler: ['gptbot'] } }, { match: { crawler: ['gptbot'] }, action: 'allow' }],
    [{ match: { load: { atLeast: 0.8 } } }, { match: { load: { atLeast: 0.8 }, method: ['POST'] }, action: 'flag' }],
    [{ match: { method: ['post'] } }, { match: { method: ['POST'], country: ['DE'] }, action: 'flag' }],
    [
      { match: { path: ['/a'] }, action: 'allow' },
      { match: { path: ['/a'] }, action: 'allow', onError: 'block' },
    ],
    [
      { match: { country: ['DE'] }, onError: 'block' },
      { match: { country: ['DE'] }, onError: 'flag' },
    ],
  ]
  for (const [wide, narrow] of pairs) {
    t.same(warned([wide, narrow]), [behind(1, '"r0"')], JSON.stringify([wide, narrow]))
  }
  const counting: Partial<Rule> = { match: { path: ['/api'] }, limit: LIMIT, action: 'throttle' }
  t.match(warned([{ match: { path: ['/api/**'] } }, counting]), [/r1: no request reaches it, and it counts nothing: /])
  t.match(
    warned([
      { ...counting, match: { path: ['/api/**'] }, then: 'allow' },
      { match: { path: ['/api/x'] }, action: 'allow' },
    ]),
    [/^rules.1 r1: no request reaches it/],
  )
  const together = warned([
    { match: { path: ['/a'] } },
    { match: { path: ['/b/**'] } },
    { match: { path: ['/b/c', '/a'] } },
  ])
  t.same(together, ['rules.2 r2: no request reaches it: the rules "r1", "r0" before it decide all that it matches'])
  t.match(
    warned([{ match: { purpose: ['training', 'seo', 'archive', 'monitor', 'feed', 'security', 'ai-search'] } }], {
      limits: ['polite-crawlers'],
    }),
    [/^limits\.0 undefined: no request reaches it: the rule "r0"/],
  )
})

t.test('one that is reached is not', async (t) => {
  const pairs: readonly (readonly [wide: Partial<Rule>, narrow: Partial<Rule>])[] = [
    [{ match: { path: ['/admin/**'] }, monitor: true }, { match: { path: ['/admin/x'] } }],
    [{ match: { path: ['/admin/**'] }, limit: LIMIT, action: 'throttle' }, { match: { path: ['/x'] } }],
    [{ match: { path: ['/admin/**'] }, action: 'flag' }, { match: { path: ['/admin/x'] } }],
    [{ match: { country: ['DE'] }, onError: 'flag' }, { match: { country: ['DE'], path: ['/x'] } }],
    [{ match: { path: ['/admin/**'] }, action: 'flag', weight: 2 }, { match: { path: ['/admin/x'] } }],
    [{ match: { path: ['/admin'] } }, { match: { path: ['/admin/**'] }, action: 'flag' }],
    [{ match: { path: ['/a/*'] } }, { match: { path: ['/a/**'] }, action: 'flag' }],
    [{ match: { path: ['/a/**'] }, action: 'allow' }, { match: { path: ['/a/b'] } }],
    [
      { match: { path: ['/Admin'] }, action: 'allow' },
      { match: { path: ['/admin'] }, action: 'allow', onError: 'flag' },
    ],
    [{ match: { userAgent: ['/Bot/'] } }, { match: { userAgent: ['/bot/'] }, action: 'flag' }],
    [{ match: { userAgent: ['bot'] } }, { match: { userAgent: ['*bot'] }, action: 'flag' }],
    [{ match: { userAgent: ['list:some'] } }, { match: { userAgent: ['list:late'] }, action: 'flag' }],
    [{ match: { userAgent: ['*'] } }, { match: { path: ['/x'] }, action: 'flag' }],
    [{ match: { crawler: ['gptbot'] }, action: 'allow' }, { match: { crawler: ['gptbot'] } }],
    [{ match: { query: { a: ['1'] } }, action: 'allow' }, { match: { query: { a: ['1'] } } }],
    [{ match: { share: 0.9 } }, { match: { share: 0.1 }, action: 'flag' }],
    [{ match: { load: { atLeast: 0.5 } } }, { match: { load: { atLeast: 0.9 } }, action: 'flag' }],
    [{ match: { load: { atLeast: 0 } } }, { match: { path: ['/x'] }, action: 'flag' }],
    [{ match: { address: ['0.0.0.0/0', '::/0'] } }, { match: { path: ['/x'] }, action: 'flag' }],
    [{ match: { not: { country: ['DE', 'AT'] } } }, { match: { not: { country: ['DE'] } }, action: 'flag' }],
    [{ match: { not: { country: ['DE'], method: ['GET'] } } }, { match: { not: { country: ['DE'] } }, action: 'flag' }],
    [{ match: { country: ['DE'] } }, { match: { country: ['DE'] }, onError: 'block' }],
    [{ match: { ja4: ['p*'] } }, { match: { ja4: ['program'] }, action: 'flag' }],
    [{ match: { time: { from: '09:00' } } }, { match: { time: { from: '10:00' } }, action: 'flag' }],
    [{ match: { country: ['DE'] } }, { match: { country: ['DE', 'AT'] }, action: 'flag' }],
  ]
  for (const [wide, narrow] of pairs) t.same(warned([wide, narrow]), [], JSON.stringify([wide, narrow]))
  const weighs: Partial<Rule> = { match: { method: ['PUT'] }, action: 'flag', weight: 5 }
  t.same(
    warned([
      weighs,
      { match: { weight: { atLeast: 5 } }, action: 'flag' },
      weighs,
      { match: { weight: { atLeast: 5 } } },
    ]),
    [],
  )
})

t.test('a rule that a later one makes needless is named', async (t) => {
  const needless = (at: number, by: string) =>
    `rules.${at} r${at}: the rule "${by}" after it does the same with all that it matches: nothing changes without it`
  const wide: Partial<Rule> = { match: { path: ['/a/**'] } }
  const narrow: Partial<Rule> = { match: { path: ['/a/b'] } }
  t.same(warned([narrow, wide]), [needless(0, 'r1')])
  t.same(warned([narrow, { match: { country: ['DE'] } }, wide]), [needless(0, 'r2')])
  t.same(
    warned([
      { match: { country: ['DE'], method: ['PUT'] } },
      { match: { country: ['AT'] }, action: 'allow' },
      { match: { country: ['DE'] } },
    ]),
    [needless(0, 'r2')],
  )
  for (const between of [
    { match: { country: ['DE'] }, action: 'allow' },
    { match: { country: ['DE'] }, limit: LIMIT, action: 'throttle' },
    { match: { country: ['DE'] }, monitor: true },
    { match: { country: ['DE'] }, action: 'flag', weight: 2 },
    { match: { path: ['/c'] }, action: 'allow' },
  ] as const) {
    t.same(warned([narrow, between, wide]), [], JSON.stringify(between))
  }
  t.same(warned([{ ...narrow, action: 'flag' }, wide]), [])
  t.same(warned([{ ...narrow, onError: 'flag', match: { path: ['/a/b'], country: ['DE'] } }, wide]), [])
  t.same(
    warned([
      { ...narrow, limit: LIMIT },
      { ...wide, monitor: true },
    ]),
    [],
  )
  t.same(warned([narrow, narrow]), [behind(1, '"r0"')], 'of two that are the same the second is named')
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
    { contentType: ['application/json'] },
    { header: { present: ['Upgrade'] } },
    { headerValue: { accept: ['application/json'] } },
    { headerValue: { 'sec-fetch-mode': ['cors', 'no-cors'] } },
    { headerValue: { 'sec-fetch-dest': ['image'] } },
    { headerValue: { upgrade: ['websocket'] } },
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
    { contentType: ['application/json', 'text/plain'] },
    { contentType: ['application/*'] },
    { header: { present: ['cookie'], absent: ['upgrade'] } },
    { headerValue: { accept: ['*json*'] } },
    { headerValue: { 'sec-fetch-dest': ['document', 'image'] } },
    { not: { method: ['GET'] } },
  ]
  for (const match of met) t.same(warnedOf(match), [], JSON.stringify(match))
  t.same(warned([{ match: { method: ['PUT'] } }]), [], 'what is blocked needs no page')
})
