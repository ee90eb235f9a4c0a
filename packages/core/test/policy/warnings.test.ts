import t from 'tap'
import { type Policy, policyFaults, policyWarnings, type Rule } from '../../src/index.ts'

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
  `${place}: no request reaches this rule, because the earlier rule "${by}" matches every request`

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
  const narrower = [{ match: { path: ['/*'] } }, { match: { address: ['0.0.0.0/0', '::/0'] } }]
  const milder: readonly Partial<Rule>[] = [{ monitor: true }, { action: 'flag', weight: 2 }, { action: 'challenge' }]
  const reached: readonly Partial<Rule>[] = [...narrower, ...milder, { action: 'throttle', limit: LIMIT }]
  for (const wide of reached) t.same(warned([wide, narrow]), [], JSON.stringify(wide))
})

t.test('a rule that allows every request is named, and the rules after it are not', async (t) => {
  const opening = 'rules.0 r0: the rule allows every request, so later rules and the preset never decide'
  const narrow: Partial<Rule> = { match: { country: ['DE'] } }
  t.same(warned([{ action: 'allow' }, narrow]), [opening])
  t.same(warned([{ action: 'allow', match: { path: ['/**'] } }]), [opening])
  t.same(warned([{ action: 'allow', match: { address: ['::/0', '0.0.0.0/0'] } }]), [opening])
  t.same(warned([{ action: 'throttle', limit: LIMIT, then: 'allow' }, narrow]), [opening])
  t.same(warned([{ action: 'allow', match: { address: ['0.0.0.0/0'] } }]), [])
})

t.test('a limit directly before a block of the same match is named', async (t) => {
  const match = { path: ['/api/**'], method: ['POST'] }
  const limit: Partial<Rule> = { match, action: 'throttle', limit: LIMIT }
  const undone =
    'rules.0 r0: the later rule "r1" blocks every request that this rule counts, even within the limit. Add then: allow to allow requests within the limit (crawlers only if verified)'
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

t.test('what is trusted or weighed too little is said', async (t) => {
  t.same(warned([{ match: { userAgent: ['Mine*'], cookie: { a: ['1'] } }, action: 'allow', trustClaim: true }]), [
    'rules.0.trustClaim r0: the rule allows by an unverified claim: nothing verifies userAgent and cookie',
  ])
  const bound = { userAgent: ['Mine*'], address: ['198.51.100.7'] }
  t.same(warned([{ match: bound, action: 'allow', trustClaim: true }]), [])
  const sign: Partial<Rule> = { match: { method: ['PUT'] }, action: 'flag', weight: 3 }
  const sum = (atLeast: number): Partial<Rule> => ({ match: { weight: { atLeast } } })
  const few = 'rules.1.match.weight.atLeast r1: never matches: earlier weights add up to at most 3'
  t.same(warned([sign, sum(4)]), [few])
  t.same(warned([sum(1), sign]), ['rules.0.match.weight.atLeast r0: never matches: no earlier rule has a weight'])
  t.same(warned([sign, { ...sign, match: { method: ['POST'] } }, sum(6)]), [])
  t.match(warned([sign, { ...sign, monitor: true, match: { method: ['POST'] } }, sum(6)]), [/add up to at most 3/])
})

t.test('a challenge that no navigation meets is named', async (t) => {
  const listWarnings = (match: Rule['match']) => warned([{ match, action: 'challenge' }])
  const missed: readonly Rule['match'][] = [
    { method: ['PUT', 'delete'] },
    { path: ['/robots.txt', '/.well-known/**'] },
    { class: ['verified_crawler'] },
    { crawlerOutcome: ['verified'] },
    { crawler: ['gptbot'] },
  ]
  for (const match of missed) t.match(listWarnings(match), [/^rules\.0\.match\.\w+ r0: /], JSON.stringify(match))
  const met: readonly Rule['match'][] = [
    {},
    { method: ['PUT', 'get'] },
    { path: ['/robots.txt', '/shop'] },
    { path: ['/robots.txt/**'] },
    { class: ['human', 'verified_crawler'] },
    { not: { method: ['GET'] } },
  ]
  for (const match of met) t.same(listWarnings(match), [], JSON.stringify(match))
  t.same(warned([{ match: { method: ['PUT'] } }]), [], 'what is blocked needs no page')
})

t.test('patterns and rules that no request can match are named', async (t) => {
  const never = (match: Rule['match']) => warned([{ match }]).map((warning) => warning.replace(/^rules\.0\.match/, ''))
  const slashes = 'a regular expression needs slashes'
  t.same(never({ userAgent: ['curl', '^curl', '/^curl/', 'list:some'] }), [
    `.userAgent.1 r0: "^curl" never matches: ${slashes}: "/^curl/i"`,
  ])
  t.same(never({ path: ['/x'], not: { userAgent: ['(GPTBot|CCBot)'] } }), [
    `.not.userAgent.0 r0: "(GPTBot|CCBot)" never matches: ${slashes}: "/(GPTBot|CCBot)/i"`,
  ])
  const [host = ''] = never({ host: ['https://shop.example'] })
  t.match(host, /^\.host\.0 r0: .* no scheme, path or port$/)
  for (const match of [
    { host: ['shop.example:8080'] },
    { referer: ['spam.example'] },
    { contentType: ['json'] },
    { language: ['de_AT'] },
    { ja4: ['chrome'] },
    { country: ['DE'], not: { country: ['DE', 'AT'] } },
    { header: { present: ['Cookie'], absent: ['cookie'] } },
  ])
    t.equal(never(match).length, 1, JSON.stringify(match))
  for (const match of [
    { host: ['shop.example', '*.example', 'bücher.example', '[2001:db8::1]'] },
    { referer: ['*spam.example*', 'https://x.example/'] },
    { contentType: ['application/json', '*json'] },
    { language: ['de', 'de-AT', 'zh-Hant-TW', '*'] },
    { ja4: ['program', 't13d1516h2_*'] },
    { query: { price: ['5$'] } },
    { country: ['DE', 'CH'], not: { country: ['DE'] } },
    { country: ['DE'], not: { country: ['DE'], path: ['/x'] } },
  ])
    t.same(never(match), [], JSON.stringify(match))
})

t.test('methods of MCP that there are not, and rules that read every body, are named', async (t) => {
  const path = ['/mcp']
  const everywhere =
    'the rule reads every JSON body of a POST and rejects bodies above 64 KiB. Add the path of the MCP server'
  t.same(warned([{ match: { path, mcp: { method: ['tools/call', 'prompts/*', '/^ping$/', 'list:some'] } } }]), [])
  t.same(warned([{ match: { path, mcp: { method: ['tools/call', 'tool/call'] } } }]), [
    'rules.0.match.mcp.method.1 r0: no MCP method matches "tool/call"; did you mean "tools/call"?',
  ])
  t.same(warned([{ match: { path, not: { mcp: { method: ['xyz'] } } } }]), [
    'rules.0.match.not.mcp.method.0 r0: no MCP method matches "xyz"',
  ])
  t.same(warned([{ match: { mcp: { name: ['search'] } } }]), [`rules.0.match r0: ${everywhere}`])
  const limit = { ...LIMIT, key: 'tool' } as const
  t.same(warned([{ match: {}, limit, action: 'throttle' }]), [`rules.0.match r0: ${everywhere}`])
  t.same(warned([{ match: { path }, limit, action: 'throttle' }]), [])
})
