import t from 'tap'
import { createCounter } from '../src/counting/counter.ts'
import { compilePolicy } from '../src/policy/compile.ts'
import { policyFaults } from '../src/policy/faults.ts'
import type { Match } from '../src/policy/match-words.ts'
import type { Policy, Rule } from '../src/policy/policy.ts'
import { policyWarnings } from '../src/policy/warnings.ts'
import { createFakeCounts } from '../src/testing/fakes.ts'
import { agentInspector, requestOf } from './agents.ts'

/** A rule that lets thirty a minute through, or was meant to. */
function few(match: Match, more: Partial<Rule> = {}): Rule {
  return { id: 'few', match, limit: { key: 'client', max: 30, window: '1m' }, action: 'throttle', ...more }
}

/** The warnings about a policy, each without its cure. */
function warned(policy: Partial<Policy>): readonly string[] {
  const whole: Policy = { preset: 'observe', rules: [], ...policy }
  t.same(policyFaults(whole), [])
  return policyWarnings(whole).map(({ path, rule, message }) => `${path.join('.')} ${rule}: ${message.split('; ')[0]}`)
}

const after = (who: string, what = 'all that it counts') => `rules.0 few: ${who} blocks ${what}, within the limit too`
const TRAINING = 'the rule "training" of the preset protect-content'

t.test('a limit that a rule of the preset undoes is named with that rule', async (t) => {
  const said = (match: Match, more: Partial<Rule> = {}) =>
    warned({ preset: 'protect-content', rules: [few(match, more)] })
  t.same(said({ purpose: ['training'] }), [after(TRAINING)])
  t.same(said({ purpose: ['training'] }, { limit: undefined, concurrent: 3 }), [after(TRAINING)])
  t.same(said({ purpose: ['training'], path: ['/docs/**'] }), [after(TRAINING)])
  t.same(said({ crawler: ['gptbot'] }), [after(TRAINING)], 'its purpose is known from the catalogue')
  t.same(said({ crawler: ['gptbot', 'googlebot'] }), [after(TRAINING, 'crawler gptbot of what it counts')])
  t.same(said({ purpose: ['training', 'seo'] }), [after(TRAINING, 'purpose training of what it counts')])
  t.same(said({ operator: ['OpenAI'] }), [after(TRAINING, 'purpose training of what it counts')])
  t.same(said({ class: ['ai_agent'] }), [after(TRAINING, 'purpose training of what it counts')])
  t.same(said({ userAgent: ['*GPTBot*'] }), [after(TRAINING)], 'as is what a user agent names')
  t.same(said({ userAgent: ['/gptbot|claudebot/i'] }), [after(TRAINING)])
  t.same(said({ userAgent: ['*GPTBot*', '*Googlebot*'] }), [after(TRAINING, 'userAgent *GPTBot* of what it counts')])
  t.same(said({ userAgent: ['*curl*', '*Googlebot*'] }), [])
  t.same(said({ headless: true }), [after('the rule "headless" of the preset protect-content')])
  const headless = 'the rule "headless" of the preset protect-content'
  t.same(said({ userAgent: ['*HeadlessChrome*'] }), [after(headless)], 'as is a browser that says it has no window')
  t.same(said({ userAgent: ['*HeadlessChrome*', '*curl*'] }), [
    after(headless, 'userAgent *HeadlessChrome* of what it counts'),
  ])
  t.same(said({ class: ['impostor'] }), [after('the rule "impostor" of the preset protect-content')])
  t.same(said({ crawlerOutcome: ['spoofed'] }), [after('the rule "impostor" of the preset protect-content')])
  const contradicted = { basis: ['contradiction' as const], confidence: { atLeast: 0.95 } }
  t.same(said(contradicted), [], 'it asks, and blocks nobody')
  t.same(warned({ preset: 'jurisdiction-strict', rules: [few({ networkClass: ['tor', 'hosting'] })] }), [
    after('the rule "anonymised" of the preset jurisdiction-strict', 'networkClass tor of what it counts'),
  ])
  t.same(warned({ preset: 'protect-content', limits: ['login-guard', 'polite-crawlers'] }), [
    `limits.1 polite-training: ${TRAINING} blocks all that it counts, within the limit too`,
  ])
})

t.test('so is one that a later rule of the user undoes, or the default', async (t) => {
  const shut: Rule = { id: 'shut', match: { path: ['/api/**'] }, action: 'block' }
  const own = 'the rule "shut" after it'
  t.same(warned({ rules: [few({ path: ['/api/a'] }), shut] }), [after(own)])
  t.same(warned({ rules: [few({ path: ['/api/**'], country: ['DE'] }), shut] }), [after(own)])
  t.same(warned({ rules: [few({ path: ['/api'] }), shut] }), [after(own)])
  t.same(warned({ rules: [few({ path: ['/a', '/api/b'] }), shut] }), [after(own, 'path /api/b of what it counts')])
  const others: Rule = { id: 'shut', match: { not: { country: ['AT', 'CH'] } }, action: 'block' }
  t.same(warned({ rules: [few({ country: ['DE'] }), others] }), [after(own)], 'a negation of others blocks it')
  t.same(warned({ rules: [few({ country: ['DE', 'AT'] }), others] }), [after(own, 'country DE of what it counts')])
  t.same(warned({ default: 'block', rules: [few({ path: ['/api/**'] })] }), [after('the default of the policy')])
})

t.test('a limit that has an effect is not warned of', async (t) => {
  const shut: Rule = { id: 'shut', match: { path: ['/api/**'] }, action: 'block' }
  const quiet: readonly Partial<Policy>[] = [
    { preset: 'protect-content', rules: [few({})] },
    { preset: 'protect-content', rules: [few({ path: ['/login'] })] },
    { preset: 'protect-content', rules: [few({ purpose: ['seo'] })] },
    { preset: 'protect-content', rules: [few({ networkClass: ['tor'] })] },
    { preset: 'protect-content', rules: [few({ basis: ['contradiction'] })] },
    { preset: 'protect-content', rules: [few({ purpose: ['training'] }, { then: 'allow' })] },
    { preset: 'protect-content', rules: [few({ purpose: ['training'] }, { monitor: true })] },
    { preset: 'low-friction', limits: ['polite-crawlers', 'login-guard'], rules: [few({ purpose: ['training'] })] },
    { preset: 'protect-content', rules: [few({ userAgent: ['*Chrome*'] })] },
    { preset: 'low-friction', rules: [few({ userAgent: ['*HeadlessChrome*'] })] },
    { rules: [few({ country: ['AT'] }), { ...shut, match: { not: { country: ['AT', 'CH'] } } }] },
    { rules: [few({ path: ['/a'] }), { ...shut, match: { not: { country: ['AT', 'CH'] } } }] },
    { rules: [few({ country: ['DE'] }, { onError: 'allow' }), { ...shut, match: { not: { country: ['AT'] } } }] },
    { rules: [few({ userAgent: ['*HeadlessChrome*'] }), { ...shut, match: { headless: false } }] },
    { rules: [few({ path: ['/a'] }), { ...shut, match: { not: { path: ['/b'] } } }] },
    { rules: [few({ purpose: ['seo'] }), { ...shut, match: { not: { purpose: ['training'] } } }] },
    { rules: [few({ path: ['/api/**'] }, { cost: 30 })] },
    { rules: [few({ path: ['/api/**'] }, { cost: { POST: 31 } })] },
    { rules: [few({ path: ['/apis'] }), shut] },
    { rules: [few({ path: ['/api/**'] }), { ...shut, monitor: true }] },
    { rules: [few({ path: ['/api/**'] }), { ...shut, match: { ...shut.match, country: ['DE'] } }] },
    { rules: [few({ path: ['/api/**'] }), { id: 'us', match: { country: ['DE'] }, action: 'allow' }, shut] },
    { rules: [few({ path: ['/api/**'] }), { id: 'all', match: {}, action: 'flag' }] },
    { preset: 'low-friction', default: 'block', rules: [few({ path: ['/api/**'] })] },
  ]
  for (const policy of quiet) t.same(warned(policy), [], JSON.stringify(policy))
  const marked = warned({ rules: [few({ path: ['/api/**'] }), { id: 'all', match: {}, action: 'flag' }, shut] })
  t.match(marked, [/^rules\.0 few: the rule "shut" after it blocks all that it counts/], 'a mark opens nothing')
})

t.test(
  'a request that costs more than a limit has is named, and a limit that no request reaches only as that',
  async (t) => {
    t.same(warned({ rules: [few({}, { cost: 31 })] }), [
      'rules.0.cost few: one request costs 31 of 30: the first is beyond the limit already',
    ])
    const bucket = { key: 'client', max: 30, window: '1m', kind: 'bucket', burst: 40 } as const
    t.same(warned({ rules: [few({}, { limit: bucket, cost: 31 })] }), [])
    const rules: readonly Rule[] = [{ id: 'mine', match: { identity: ['gptbot'] }, action: 'allow' }]
    const said = warned({ preset: 'protect-content', rules: [...rules, few({ identity: ['gptbot'] })] })
    t.match(said, [/^rules\.1 few: no request reaches it/])
    t.equal(said.length, 1)
  },
)

t.test('the warning tells the truth, and its cure helps', async (t) => {
  const actions = async (rule: Rule) => {
    const policy = compilePolicy({ preset: 'protect-content', rules: [rule] })
    const inspector = agentInspector({ policy })
    const counter = createCounter({ counts: createFakeCounts({ now: () => 0 }), ipv6Prefix: 64, flights: 'test' })
    const headless = requestOf(['Host', 'a', 'User-Agent', 'Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/150.0.0.0'])
    const found: string[] = []
    for (let call = 0; call < 3; call++) {
      const { decision } = await counter.count(inspector.decide(headless))
      found.push(`${decision.action} ${decision.reasons[0]?.id}`)
    }
    return found
  }
  const rule = few({ headless: true }, { limit: { key: 'client', max: 2, window: '1m' } })
  t.same(await actions(rule), ['block policy:headless', 'block policy:headless', 'throttle policy:few'])
  const [{ message = '' } = {}] = policyWarnings({ preset: 'protect-content', rules: [rule] })
  t.match(message, 'then: allow')
  t.same(await actions({ ...rule, then: 'allow' }), ['allow policy:few', 'allow policy:few', 'throttle policy:few'])
})
