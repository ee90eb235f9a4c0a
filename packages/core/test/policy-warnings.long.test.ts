import fc from 'fast-check'
import t from 'tap'
import { compilePolicy } from '../src/policy/compile.ts'
import { policyFaults } from '../src/policy/faults.ts'
import type { Match } from '../src/policy/match-words.ts'
import type { Policy, Rule } from '../src/policy/policy.ts'
import type { NamedList, Surroundings } from '../src/policy/surroundings.ts'
import { policyWarnings } from '../src/policy/warnings.ts'
import { createFakeCountries, createFakeNetworks, snapshotsOf, systemOf } from '../src/testing/fakes.ts'
import type { InspectionRequest } from '../src/values/request.ts'
import { agentInspector, HOME, RACK, requestOf } from './agents.ts'

const LISTS = new Set(['some', 'late'])
const LIMIT = { key: 'client', max: 30, window: '1m' } as const

/** Small vocabularies, so that rules often meet each other. */
const some = <Value>(...values: readonly Value[]) => fc.subarray([...values], { minLength: 1, maxLength: 2 })
const PATTERNS = ['*', '*a*', 'A', '*ab*', 'ab', '/a/', '/A/', '/b/i', 'list:some', 'list:late']
const PLAIN = {
  path: some('/**', '/a/**', '/a', '/A/', '/a/b', '/a/*', '/a*/b', '/*b'),
  method: some('GET', 'get', 'POST'),
  country: some('DE', 'AT', 'unknown'),
  networkClass: some('hosting', 'residential_clean', 'unknown'),
  class: some('human', 'unverified_bot', 'impostor'),
  crawler: some('gptbot', 'googlebot'),
  purpose: some('training', 'search'),
  identity: some('*', 'googlebot'),
  confidence: fc.constantFrom({ atLeast: 0 }, { atLeast: 0.5 }, { atMost: 0.6 }, { atLeast: 0.3, atMost: 1 }),
  address: some('8.0.0.0/8', '8.1.1.1', '0.0.0.0/0', '::/0', 'list:some'),
  userAgent: some(...PATTERNS),
  language: some('de', 'd*', 'en'),
  query: fc.record({ q: some(...PATTERNS), p: some('1', '*') }, { requiredKeys: ['q'] }),
  cookie: fc.record({ c: some(...PATTERNS) }),
  header: fc.record({ present: some('te', 'Accept'), absent: some('te', 'cookie') }, { requiredKeys: [] }),
  httpVersion: some('1.1', '2'),
  ja4: some('*', 'program', 't13*'),
  user: some('*', '1', '2'),
  load: fc.constantFrom({ atLeast: 0 }, { atLeast: 0.5 }, { atLeast: 0.8 }, { atMost: 1 }),
  weight: fc.constantFrom({ atLeast: 0 }, { atLeast: 2 }, { atMost: 3 }),
  share: fc.constantFrom(0.5, 0.9),
  time: fc.constantFrom({ from: '00:00' }, { from: '09:00', to: '18:00' }),
}

/** A match of one word or two. */
function matchOf(words: Readonly<Record<string, fc.Arbitrary<unknown>>>, minLength = 0): fc.Arbitrary<Match> {
  return fc
    .subarray(Object.keys(words), { minLength, maxLength: 2 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, words[name] as fc.Arbitrary<unknown>]))))
    .map((match): Match => match)
}

const match = matchOf({ ...PLAIN, not: matchOf(PLAIN, 1) })

const effect: fc.Arbitrary<Partial<Rule>> = fc.constantFrom<Partial<Rule>>(
  { action: 'block' },
  { action: 'block' },
  { action: 'flag' },
  { action: 'allow', trustClaim: true },
  { action: 'allow', trustClaim: true },
  { action: 'block', onError: 'flag' },
  { action: 'block', monitor: true },
  { action: 'flag', weight: 2 },
  { action: 'throttle', limit: LIMIT },
  { action: 'throttle', limit: LIMIT, then: 'allow', trustClaim: true },
)

/** Rules that vary few matches, each of which is near another. */
const rules: fc.Arbitrary<readonly Rule[]> = fc
  .array(match, { minLength: 1, maxLength: 4 })
  .chain((bases) =>
    fc.array(fc.tuple(fc.constantFrom(...bases), fc.oneof(fc.constant({}), match), effect), {
      minLength: 2,
      maxLength: 7,
    }),
  )
  .map((drawn) =>
    drawn.map(
      ([base, more, effect], at): Rule => ({ id: `r${at}`, action: 'block', match: { ...base, ...more }, ...effect }),
    ),
  )

const AGENTS = ['ab', 'A', 'b', 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)', 'Googlebot/2.1', '']
const request: fc.Arbitrary<InspectionRequest> = fc
  .record({
    target: fc.constantFrom('/', '/a', '/A', '/a/', '/a/b', '/A/b/', '/a;x/b', '/ab/b', '/x', '//a//b', '/%2561', '*'),
    search: fc.constantFrom('', '?q=a', '?q=ab&q=b', '?q=B&p=1', '?x'),
    method: fc.constantFrom('GET', 'POST', 'PUT'),
    agents: fc.subarray(AGENTS, { maxLength: 2 }),
    more: fc.subarray(['Te', 'Accept', 'Cookie', 'Accept-Language']),
    peer: fc.constantFrom(HOME, RACK, '8.9.0.1', '2001:db8::1', ''),
    httpVersion: fc.constantFrom('1.1', '2.0', ''),
    ja4: fc.constantFrom(undefined, 't13d1516h2_8daaf6152771_02713d6af862'),
    user: fc.constantFrom(undefined, '1'),
  })
  .map(({ target, search, agents, more, ...rest }) => {
    const values: Readonly<Record<string, string>> = { Cookie: 'c=ab; c=A', 'Accept-Language': 'de-AT, fr' }
    const fields = [
      ...agents.flatMap((agent) => ['User-Agent', agent]),
      ...more.flatMap((name) => [name, values[name] ?? 'x']),
    ]
    return requestOf(fields, { target: target + search, ...rest })
  })

const holding = (isRead: boolean): NamedList => ({
  isRead,
  holds: () => isRead,
  hasSystem: () => false,
  matches: (text) => isRead && text === 'ab',
})

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: systemOf({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: systemOf({ asn: 64_502, name: 'Racks', type: 'hosting', networkClass: 'hosting' }) }],
])

/** The surroundings of a request: whether data is loaded, and how loaded the server is; a load of one bound is on for itself. */
const world = fc.record({
  isLoaded: fc.boolean(),
  isMeasured: fc.boolean(),
  load: fc.constantFrom(0, 0.6, 1.2),
  late: fc.constantFrom(0.4, 0.5, 0.8, 2),
})

/** Decisions of a policy in a world. */
function deciderOf(
  policy: Policy,
  { isLoaded, isMeasured, load, late }: typeof world extends fc.Arbitrary<infer World> ? World : never,
) {
  const gauge = { now: () => load, latch: (atLeast: number) => () => load >= atLeast || atLeast === late }
  const surroundings: Surroundings = {
    lists: new Map([
      ['some', holding(true)],
      ['late', holding(false)],
    ]),
    ...(isMeasured && { load: gauge }),
  }
  const countries = createFakeCountries({ [HOME]: 'DE', [RACK]: 'AT' })
  const snapshots = isLoaded ? snapshotsOf({ networks: NETWORKS, countries, rangesLoaded: true }) : snapshotsOf({})
  return agentInspector({ policy: compilePolicy(policy, surroundings), snapshots })
}

t.test('no request is decided, counted or tried by a rule that is said to be out of reach', async (t) => {
  let unreached = 0
  let needless = 0
  fc.assert(
    fc.property(rules, fc.array(request, { minLength: 30, maxLength: 30 }), world, (rules, requests, world) => {
      const policy: Policy = { preset: 'observe', rules }
      if (policyFaults(policy, LISTS).length > 0) return true
      const warnings = policyWarnings(policy)
      const out = new Set(
        warnings.flatMap(({ rule, message }) => (message.startsWith('no request reaches') ? [rule] : [])),
      )
      const spare = warnings.flatMap(({ rule, message }) =>
        message.includes('nothing changes without it') ? [rule] : [],
      )
      unreached += out.size
      needless += spare.length
      const { decide } = deciderOf(policy, world)
      const without = spare.map((id) => deciderOf({ ...policy, rules: rules.filter((rule) => rule.id !== id) }, world))
      return requests.every((request) => {
        const { reasons, counting, trials = [], action } = decide(request)
        const met = [
          ...reasons.flatMap(({ id, text }) =>
            id === 'policy:weight'
              ? [...text.matchAll(/"(\w+)"/g)].map(([, name]) => name)
              : [id.replace('policy:', '')],
          ),
          ...(counting?.rules ?? []).map(({ rule }) => rule.id),
          ...trials.map(({ rule }) => rule),
        ]
        return !met.some((id) => out.has(id)) && without.every((other) => other.decide(request).action === action)
      })
    }),
    { numRuns: 400 },
  )
  t.ok(unreached > 150 && needless > 5, `${unreached} out of reach, ${needless} needless`)
})

const DISTINCT: Readonly<Record<string, (at: number) => Partial<Rule> & { readonly match: Match }>> = {
  'limits beside blocks': (at) =>
    at % 2 === 0
      ? { match: { path: [`/p${at}/x`] } }
      : { match: { path: [`/p${at}/**`] }, limit: LIMIT, action: 'throttle' },
  'limits that blocks undo': (at) =>
    at % 2 === 0
      ? { match: { path: [`/p${at - 3}/**`] } }
      : { match: { path: [`/p${at}`] }, limit: LIMIT, action: 'throttle' },
  'patterns that begin alike': (at) => ({ match: { userAgent: [`Mozilla/5.0 (compatible; bot${at}*`] } }),
  addresses: (at) => ({
    match: { address: [`10.${at >> 8}.${at & 255}.0/24`] },
    action: at % 2 === 0 ? 'flag' : 'block',
  }),
  'one condition': () => ({ match: { country: ['DE'] } }),
  shares: () => ({ match: { share: 0.5 } }),
}

for (const [name, make] of Object.entries(DISTINCT)) {
  t.test(`ten thousand rules are checked, warned of and compiled in seconds: ${name}`, async (t) => {
    const rules = Array.from({ length: 10_000 }, (_, at): Rule => ({ id: `r${at}`, action: 'block', ...make(at) }))
    const policy: Policy = { preset: 'protect-content', default: 'block', rules }
    const before = process.cpuUsage()
    t.same(policyFaults(policy), [])
    policyWarnings(policy)
    const { rules: compiled } = compilePolicy(policy)
    const { user } = process.cpuUsage(before)
    t.ok(compiled.length > 10_000)
    // Rule against rule they take minutes.
    t.ok(user < 15_000_000, `${user / 1e6} s`)
  })
}
