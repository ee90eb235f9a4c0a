import fc from 'fast-check'
import t from 'tap'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Rule } from '../../src/policy/policy.ts'
import type { Match } from '../../src/policy/words/match-words.ts'
import type { Snapshot } from '../../src/ports/snapshot.ts'
import { createFakeCountries, snapshotsOf } from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { agentInspector, requestOf } from '../agents.ts'

const PATHS = ['/', '/a', '/a/**', '/a/b', '/A/b/', '/a/*/c', '/a*/b/**', '/**', '/a/b/c/d/e/f/g/h/i/j/**']
const TARGETS = [
  '/',
  '/a',
  '/A',
  '/a/',
  '/a/b',
  '//a//b',
  '/a/./b',
  '/%61/b',
  '/a;x/b',
  '/ab/b/c',
  '/a/x/c',
  '/b/%2f',
  '/a\\b',
  '/a/%2e%2e/b',
  '/a/b/c/d/e/f/g/h/i/j/k',
]
const AGENTS = [
  '*curl*',
  'curl/8',
  '/curl/',
  '/^curl[^x]|scrapy/i',
  '/libcurl?/',
  '/(curl)/',
  '*a*',
  '*Scrapy*',
  'Scrapy/*',
  'no',
]
const SENT = ['curl/8', 'libcurl/8', 'SCRAPY/2', 'x', '', 'a']

const words: fc.Arbitrary<Match> = fc.record({
  path: fc.array(fc.constantFrom(...PATHS), { minLength: 1, maxLength: 2 }),
  userAgent: fc.array(fc.constantFrom(...AGENTS), { minLength: 1, maxLength: 2 }),
  address: fc.array(fc.constantFrom('8.8.8.0/24', '8.8.0.0/15', '8.0.0.0/8', '2001:db8::/32', '8.8.8.8'), {
    minLength: 1,
  }),
  host: fc.array(fc.constantFrom('a.example', '*.example', 'b*'), { minLength: 1 }),
  query: fc.record({ q: fc.array(fc.constantFrom('1', '2', '*', '/1/'), { minLength: 1 }) }),
  cookie: fc.record({ c: fc.array(fc.constantFrom('X', 'y', '*'), { minLength: 1 }) }),
  user: fc.array(fc.constantFrom('1', '2', '*'), { minLength: 1 }),
  country: fc.array(fc.constantFrom('unknown', 'DE'), { minLength: 1 }),
  crawler: fc.array(fc.constantFrom('googlebot', 'gptbot'), { minLength: 1 }),
  share: fc.constantFrom(0.2, 0.7),
  weight: fc.oneof(
    fc.constantFrom({ atLeast: 1 }, { atMost: 2 }, { atLeast: 2, atMost: 3 }),
    fc.integer({ min: 0, max: 6 }).map((atLeast) => ({ atLeast })),
  ),
  headless: fc.boolean(),
  not: fc.oneof(
    fc.constantFrom<Match>({ weight: { atLeast: 2 } }, { share: 0.5 }, { path: ['/a/**'] }, { country: ['DE'] }),
    fc.record({ path: fc.array(fc.constantFrom(...PATHS), { minLength: 2, maxLength: 3 }) }),
    fc.record({ userAgent: fc.array(fc.constantFrom(...AGENTS), { minLength: 2, maxLength: 3 }) }),
    fc.record({ country: fc.constant(['DE', 'unknown']) }),
  ),
})

/** One word or two: rules of more match hardly anything. */
const match: fc.Arbitrary<Match> = fc
  .tuple(words, fc.nat(), fc.nat())
  .map(([all, ...chosen]) =>
    Object.fromEntries(chosen.map((at) => Object.entries(all)[at % Object.keys(all).length] as [string, unknown])),
  )

const request: fc.Arbitrary<InspectionRequest> = fc
  .record({
    target: fc.constantFrom(...TARGETS),
    search: fc.constantFrom('', '?q=1', '?q=2&q=3', '?x=1'),
    agent: fc.constantFrom(...SENT),
    host: fc.constantFrom('a.example', 'B.Example:80', 'other'),
    cookie: fc.constantFrom('', 'c=x', 'c=Y; d=1'),
    peer: fc.constantFrom('8.8.8.8', '8.9.0.1', '2001:db8::1', ''),
    user: fc.constantFrom('1', undefined),
  })
  .map(({ target, search, agent, host, cookie, peer, user }) =>
    requestOf(['Host', host, 'User-Agent', agent, 'Cookie', cookie], { target: target + search, peer, user }),
  )

t.test('of many rules the same one decides as of the same asked one by one', async (t) => {
  fc.assert(
    fc.property(
      fc.array(match, { minLength: 40, maxLength: 60 }),
      fc.array(request, { minLength: 20 }),
      fc.nat(),
      (matches, requests, seed) => {
        // By turns many or few rules decide: the sum of the others grows.
        const weighs = (index: number) => (seed % 2 === 0 ? index % 3 === 0 : index % 8 !== 0)
        const rules: readonly Rule[] = matches.map((match, index) => {
          const id = `r${index}`
          if (weighs(index)) return { id, match, action: 'flag', weight: 1 }
          return { id, match, action: index % 5 === 0 ? 'allow' : 'block', trustClaim: true, monitor: index % 7 === 0 }
        })
        const policy = compilePolicy({ preset: 'observe', rules })
        const { index: _, ...plain } = policy
        const [found, asked] = [policy, plain].map((policy) => agentInspector({ policy }))
        return requests.every((request) => {
          const [one, other] = [found?.decide(request), asked?.decide(request)]
          const idsOf = (decision: typeof one) => decision?.reasons.map(({ id }) => id).join()
          return one?.action === other?.action && idsOf(one) === idsOf(other)
        })
      },
    ),
    { numRuns: 60, endOnFailure: true },
  )
  t.ok(
    compilePolicy({
      preset: 'observe',
      rules: Array.from({ length: 40 }, (_, n) => ({
        id: `r${n}`,
        match: { path: [`/${n}`] },
        action: 'block' as const,
      })),
    }).index,
  )
})

t.test('a rule with onError is found while its data is not loaded', async (t) => {
  const others = Array.from(
    { length: 40 },
    (_, at): Rule => ({ id: `r${at}`, match: { path: [`/${at}`] }, action: 'flag' }),
  )
  const abroad: Rule = { id: 'abroad', match: { country: ['DE'] }, action: 'flag', onError: 'block' }
  const policy = compilePolicy({ preset: 'observe', rules: [abroad, ...others] })
  const decided = (snapshot: Partial<Snapshot>) =>
    agentInspector({ policy, snapshots: snapshotsOf(snapshot) }).decide(requestOf(['Host', 'x'])).reasons[0]?.text
  t.match(decided({ rangesLoaded: true }), /"abroad" asks about data that is not loaded/)
  t.match(decided({ rangesLoaded: true, countries: createFakeCountries({}) }), /No rule of the policy/)
})
