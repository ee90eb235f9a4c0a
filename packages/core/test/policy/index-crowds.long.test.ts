import t from 'tap'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import { Asked } from '../../src/policy/language/asked.ts'
import type { Surroundings } from '../../src/policy/language/surroundings.ts'
import type { Rule } from '../../src/policy/policy.ts'
import { MATCH_WORDS, type Match } from '../../src/policy/words/match-words.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { agentInspector, CHROME, fieldsOf, requestOf } from '../agents.ts'

/** Values of a word that many rules may have, each another; those that begin alike have more than the first letters in common. */
const MANY: Partial<{ readonly [Word in keyof Match]-?: readonly ((at: number) => NonNullable<Match[Word]>)[] }> = {
  address: [(at) => [`10.${at >> 8}.${at & 255}.0/24`], (at) => [`2001:db8:${at.toString(16)}::/48`]],
  asn: [(at) => [64_600 + at]],
  provider: [(at) => [`Provider ${at}`]],
  path: [(at) => [`/shop/articles/${at}/**`], (at) => [`/shop/${at}-*`], (at) => [`/a${at}`, `/b${at}/*`]],
  method: [(at) => [`METHOD-${at}`]],
  header: [(at) => ({ present: [`x-header-${at}`] })],
  userAgent: [
    (at) => [`Mozilla/5.0 (compatible; Bot${at}/1.0; +https://bot.example/)`],
    (at) => [`*compatible; Bot${at}/*`],
    (at) => [`/^Mozilla\\/5\\.0 \\(compatible; (Bot|Spider)${at}\\//`],
    (at) => [`/Bot${at}|Spider${at}x/i`],
  ],
  referer: [(at) => [`https://spam${at}.example/*`], (at) => [`https://www.spam-of-many.example/${at}/*`]],
  host: [(at) => [`shop-${at}.example.com`], (at) => [`*.shop-${at}.example.com`]],
  contentType: [(at) => [`application/vnd.of-${at}+json`]],
  language: [(at) => [`x-language-${at}`]],
  query: [
    (at) => ({ [`parameter${at}`]: ['*'] }),
    (at) => ({ utm_source: [`campaign-${at}`] }),
    (at) => ({ q: [`*cheap-${at}-pills*`] }),
  ],
  cookie: [(at) => ({ [`cookie${at}`]: ['*'] }), (at) => ({ session: [`*forged-${at}-x*`] })],
  headerValue: [
    (at) => ({ [`x-name-${at}`]: ['*'] }),
    (at) => ({ accept: [`*/forged-${at};*`] }),
    (at) => ({ te: ['*'], via: [`* proxy-${at} *`] }),
  ],
  ja4: [(at) => [`t13d1516h2_8daaf615${at}_*`]],
  identity: [(at) => [`https://agent${at}.example`]],
  vendor: [(at) => [`https://vendor${at}.example`]],
  user: [(at) => [`user-${at}`]],
  plan: [(at) => [`plan-${at}`]],
}

/** Words of which there are not many values: rules by them alone are few, or one of the first decides. */
const FEW: readonly (keyof Match)[] = [
  'networkClass',
  'networkConfidence',
  'country',
  'time',
  'class',
  'basis',
  'headless',
  'botProbability',
  'confidence',
  'crawler',
  'crawlerOutcome',
  'operator',
  'purpose',
  'httpVersion',
  'weight',
  'pass',
  'load',
  'share',
  'robots',
  'not',
]

const REQUESTS: readonly InspectionRequest[] = [
  requestOf(fieldsOf(CHROME), { target: '/shop/articles/7/x?utm_source=campaign-7&q=cheap-7-pills-and-more' }),
  requestOf(
    [
      'Host',
      'shop-7.example.com',
      'User-Agent',
      'Mozilla/5.0 (compatible; Bot7/1.0; +https://bot.example/)',
      'Referer',
      'https://spam7.example/x',
    ],
    { peer: '10.0.7.1', ja4: 't13d1516h2_8daaf6157_02713d6af862', user: 'user-7', plan: 'plan-7', target: '/shop/7-x' },
  ),
  requestOf([
    'Host',
    'x',
    'Accept',
    'text/html, x/forged-7;q=1',
    'Cookie',
    'session=a-forged-7-x; cookie7=1',
    'Via',
    '1.1 proxy-7 x',
    'TE',
    'x',
  ]),
]

const SURROUNDINGS: Surroundings = {
  load: { now: () => 0.1, latch: (atLeast) => () => atLeast < 0.1 },
  robots: () => false,
}

/** The most rules that one of the requests is held against, of so many. */
function triedOf(make: (at: number) => Match, count: number): number {
  const rules = Array.from({ length: count }, (_, at): Rule => ({ id: `r${at}`, match: make(at), action: 'block' }))
  const { index } = compilePolicy({ preset: 'observe', rules }, SURROUNDINGS)
  const { inspect } = agentInspector()
  return Math.max(
    ...REQUESTS.map((request) => index?.candidates(inspect(request), new Asked(request))?.length ?? count),
  )
}

t.test('a thousand rules of a word cost what ten do, whatever they have in common', async (t) => {
  for (const [word, makers] of Object.entries(MANY) as readonly [string, readonly ((at: number) => unknown)[]][]) {
    for (const make of makers) {
      const tried = triedOf((at) => ({ [word]: make(at) }), 1_000)
      t.ok(tried <= 40, `${tried} rules as ${JSON.stringify(make(7))}`)
    }
  }
  t.same([...Object.keys(MANY), ...FEW].sort(), Object.keys(MATCH_WORDS).sort(), 'every word is looked at')
})

t.test('so do rules that have a crowded word beside a rare one', async (t) => {
  const makers: readonly ((at: number) => Match)[] = [
    (at) => ({ networkClass: ['residential_clean'], path: [`/shop/${at}/**`] }),
    (at) => ({ userAgent: ['Mozilla*'], headerValue: { accept: ['text/html*'], cookie: [`*id-${at}-x*`] } }),
    (at) => ({ method: ['GET'], not: { country: ['DE'] }, host: [`*.shop-${at}.example`] }),
  ]
  for (const make of makers) t.ok(triedOf(make, 1_000) <= 40, JSON.stringify(make(7)))
})

/** Values of words without keys: some that many rules share, and others. */
const SHARED: Partial<{ readonly [Word in keyof Match]-?: (at: number) => NonNullable<Match[Word]> }> = {
  time: (at) => ({ from: timeText(at), to: timeText(at + 1), zone: at % 2 === 0 ? 'UTC' : 'Asia/Tokyo' }),
  share: (at) => 0.001 + at * 1e-6,
  load: (at) => ({ atLeast: 0.2 + (at % 10) / 20 }),
  pass: () => ({ atLeast: 1 }),
  confidence: (at) => ({ atLeast: 0.999 + (at % 10) / 1e5 }),
  headless: () => true,
  robots: () => ['disallowed'],
  not: () => ({ method: ['GET'], path: ['/**'] }),
}

function timeText(minutes: number): string {
  return [Math.trunc(minutes / 60) % 24, minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
}

t.test(
  'a word without keys is asked once for all rules with one value, and those where it holds are tried',
  async (t) => {
    for (const [word, make] of Object.entries(SHARED)) {
      const tried = triedOf((at) => ({ [word]: make(at) }), 1_000)
      t.ok(tried <= 40, `${tried} rules as ${JSON.stringify(make(7))}`)
    }
    t.equal(
      triedOf((at) => ({ weight: { atLeast: 1 + at } }), 100),
      0,
      'no sum is there yet',
    )
    t.equal(
      triedOf(() => ({ weight: { atMost: 1 } }), 100),
      100,
    )
    t.equal(
      triedOf(() => ({ not: { weight: { atLeast: 1 } } }), 100),
      100,
    )
    t.equal(
      triedOf(() => ({ weight: { atLeast: 1 }, headless: true }), 100),
      0,
    )
  },
)

t.test('what a thousand negations have in common is asked once, and each of the others', async (t) => {
  let asked = 0
  const lists = new Map(
    ['common', ...Array.from({ length: 100 }, (_, at) => `of-${at}`)].map((name) => [
      name,
      { isRead: true, holds: () => false, hasSystem: () => false, matches: () => asked++ >= 0 && name === 'common' },
    ]),
  )
  const countOf = (make: (at: number) => readonly string[]) => {
    const rules = Array.from(
      { length: 100 },
      (_, at): Rule => ({ id: `r${at}`, match: { not: { userAgent: make(at) } }, action: 'block' }),
    )
    const request = requestOf(fieldsOf(CHROME))
    const { index } = compilePolicy({ preset: 'observe', rules }, { ...SURROUNDINGS, lists })
    asked = 0
    return index?.candidates(agentInspector().inspect(request), new Asked(request))?.length
  }
  t.equal(
    countOf((at) => [`list:of-${at}`, 'list:common']),
    0,
  )
  t.equal(asked, 1)
  t.equal(
    countOf((at) => [`list:of-${at}`, 'list:of-0']),
    100,
    'nothing refutes them',
  )
  t.equal(asked, 1 + 2 * 100)
})

t.test('robots.txt is asked once for a request, however few rules ask it', async (t) => {
  let asked = 0
  const robots = () => {
    asked++
    return false
  }
  const rules = Array.from(
    { length: 10 },
    (_, at): Rule => ({
      id: `r${at}`,
      match: { robots: ['disallowed'], query: { [`q${at}`]: ['*'] } },
      action: 'block',
    }),
  )
  const { decide } = agentInspector({ policy: compilePolicy({ preset: 'observe', rules }, { robots }) })
  decide(requestOf(fieldsOf(CHROME), { target: `/?${rules.map((_, at) => `q${at}=1`).join('&')}` }))
  t.equal(asked, 1)
})
