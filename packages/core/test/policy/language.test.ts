import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { InspectorOptions } from '../../src/inspection/inspector.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import type { Match } from '../../src/policy/words/match-words.ts'
import {
  createFakeClock,
  createFakeCountries,
  createFakeNetworks,
  makeSnapshots,
  makeSystem,
} from '../../src/testing/fakes.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { agentInspector, CHROME, HOME, makeFields, makeRequest, RACK } from '../agents.ts'
import { createVerifier, signedFields } from '../signed-requests.ts'

const BROWSER = makeRequest(makeFields(CHROME))
const TUNNEL = '8.3.1.1'

const SNAPSHOTS = makeSnapshots({
  networks: createFakeNetworks([
    ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, type: 'hosting', networkClass: 'hosting', brand: 'Racks' }) }],
    ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, type: 'vpn', networkClass: 'vpn', brand: 'Tunnels' }) }],
  ]),
  countries: createFakeCountries({ [HOME]: 'DE' }),
  rangesLoaded: true,
})

function createDecider(policy: Partial<Policy>, options: Partial<InspectorOptions> = {}) {
  const compiled = compilePolicy({ preset: 'observe', rules: [], ...policy })
  return agentInspector({ policy: compiled, snapshots: SNAPSHOTS, ...options }).decide
}

function named(userAgent: string, overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return makeRequest(['Host', 'example.com', 'User-Agent', userAgent], overrides)
}

t.test("the application's user is decided at each request, and is in the decision", async (t) => {
  const decide = createDecider({ rules: [{ id: 'mallory', match: { user: ['mallory'] }, action: 'block' }] })
  const asked = ['alice', 'alice', 'mallory', undefined, 'mallory'].map((user) =>
    decide(makeRequest(makeFields(CHROME), user === undefined ? {} : { user, plan: 'free' })),
  )
  t.same(
    asked.map(({ action }) => action),
    ['allow', 'allow', 'block', 'allow', 'block'],
  )
  t.hasStrict(asked[2]?.inspection, { user: 'mallory', plan: 'free' })
  t.notOk('user' in (asked[3]?.inspection ?? {}))
})

t.test('each member of a match is asked', async (t) => {
  const signed = makeRequest(signedFields())
  const gpt = named('GPTBot/1.2')
  const rows: readonly (readonly [match: Match, request: InspectionRequest, matches: boolean])[] = [
    [{ user: ['17'] }, makeRequest(makeFields(CHROME), { user: '17' }), true],
    [{ user: ['*'] }, makeRequest(makeFields(CHROME), { user: '17' }), true],
    [{ user: ['18'] }, makeRequest(makeFields(CHROME), { user: '17' }), false],
    [{ user: ['*'] }, BROWSER, false],
    [{ plan: ['free'], user: ['17'] }, makeRequest(makeFields(CHROME), { user: '17', plan: 'free' }), true],
    [{ plan: ['free'] }, makeRequest(makeFields(CHROME), { user: '17', plan: 'pro' }), false],
    [{ provider: ['racks'] }, makeRequest(makeFields(CHROME), { peer: RACK }), true],
    [{ provider: ['Tunnels'] }, makeRequest(makeFields(CHROME), { peer: RACK }), false],
    [{ country: ['unknown'] }, makeRequest(makeFields(CHROME), { peer: RACK }), true],
    [{ country: ['unknown'] }, BROWSER, false],
    [{ class: ['human'] }, BROWSER, true],
    [{ class: ['unverified_bot', 'impostor'] }, BROWSER, false],
    [{ basis: ['automation'] }, named('curl/8'), true],
    [{ basis: ['automation'] }, BROWSER, false],
    [{ headless: true }, named('HeadlessChrome/150'), true],
    [{ headless: false }, BROWSER, true],
    [{ headless: true }, named('curl/8'), false],
    [{ confidence: { atLeast: 0.9 } }, BROWSER, true],
    [{ confidence: { atMost: 0.9 } }, BROWSER, false],
    [{ confidence: { atLeast: 0, atMost: 1 } }, BROWSER, true],
    [{ networkConfidence: { atLeast: 0.99 } }, BROWSER, false],
    [{ networkConfidence: { atLeast: 0 } }, BROWSER, true],
    [{ vendor: ['openai'] }, gpt, true],
    [{ vendor: ['openai'] }, named('curl/8'), false],
    [{ operator: ['OpenAI'], purpose: ['training'] }, gpt, true],
    [{ purpose: ['agent'] }, signed, true],
    [{ operator: ['OpenAI'] }, signed, true],
    [{ identity: ['*'] }, signed, true],
    [{ identity: ['https://chatgpt.com'] }, signed, true],
    [{ identity: ['https://other.example'] }, signed, false],
    [{ identity: ['*'] }, gpt, false],
    [{ header: { present: ['Sec-Fetch-Site', 'accept'] } }, BROWSER, true],
    [{ header: { present: ['cookie'] } }, BROWSER, false],
    [{ header: { absent: ['cookie'] } }, BROWSER, true],
    [{ header: { present: ['accept'], absent: ['ACCEPT'] } }, BROWSER, false],
  ]
  const { verifier } = createVerifier()
  for (const [match, request, matches] of rows) {
    const decide = createDecider({ rules: [{ id: 'rule', match, action: 'flag' }] }, { signatures: verifier })
    t.equal(decide(request).action, matches ? 'flag' : 'allow', JSON.stringify(match))
  }
})

t.test('a mere claim earns no permission', async (t) => {
  const closed: Partial<Policy> = { default: 'block' }
  for (const match of [{ vendor: ['OpenAI'] }, { operator: ['OpenAI'] }, { purpose: ['training'] }] as const) {
    const decide = createDecider({ ...closed, rules: [{ id: 'friends', match, action: 'allow' }] })
    t.equal(decide(named('GPTBot/1.2')).action, 'block', JSON.stringify(match))
  }
  const { verifier } = createVerifier()
  const rules: readonly Rule[] = [{ id: 'friends', match: { vendor: ['OpenAI'] }, action: 'allow' }]
  t.equal(createDecider({ ...closed, rules }, { signatures: verifier })(makeRequest(signedFields())).action, 'allow')
})

t.test('hours are those of the zone, and may end the next morning', async (t) => {
  const rows: readonly (readonly [at: string, time: Match['time'], matches: boolean])[] = [
    ['2026-11-21T12:00:00Z', {}, true],
    ['2026-11-21T12:00:00Z', { from: '12:00', to: '13:00' }, true],
    ['2026-11-21T13:00:00Z', { from: '12:00', to: '13:00' }, false],
    ['2026-11-21T23:30:00Z', { from: '22:00', to: '06:00' }, true],
    ['2026-11-22T05:59:00Z', { from: '22:00', to: '06:00', days: ['sat'] }, true],
    ['2026-11-21T05:59:00Z', { from: '22:00', to: '06:00', days: ['sat'] }, false],
    ['2026-11-21T12:00:00Z', { days: ['sat', 'sun'] }, true],
    ['2026-11-21T12:00:00Z', { days: ['mon'] }, false],
    ['2026-11-21T12:00:00Z', { from: '21:00', to: '22:00', zone: 'Asia/Tokyo' }, true],
    ['2026-11-21T15:30:00Z', { days: ['sun'], zone: 'Asia/Tokyo' }, true],
  ]
  for (const [at, time, matches] of rows) {
    const decide = createDecider(
      { rules: [{ id: 'hours', match: { time }, action: 'flag' }] },
      { clock: createFakeClock(at) },
    )
    t.equal(decide(BROWSER).action, matches ? 'flag' : 'allow', `${at} ${JSON.stringify(time)}`)
    t.equal(decide(BROWSER).action, matches ? 'flag' : 'allow', 'and again within the minute')
  }
})

t.test('a rule on trial is recorded and decides nothing', async (t) => {
  const trial: Rule = { id: 'trial', match: {}, action: 'block', monitor: true }
  const tried = { trial: { rule: 'trial', action: 'block' } }
  t.match(createDecider({ rules: [trial] })(BROWSER), {
    action: 'allow',
    enforced: true,
    ...tried,
    reasons: [{ id: 'policy:default' }, {}, { id: 'policy:trial' }],
  })
  const flag: Rule = { id: 'flag', match: {}, action: 'flag' }
  const block: Rule = { id: 'block', match: {}, action: 'block' }
  t.match(createDecider({ rules: [trial, flag] })(BROWSER), { action: 'flag', enforced: true, ...tried })
  const { trial: asStrict, ...blocked } = createDecider({ rules: [trial, block] })(BROWSER)
  t.match(blocked, { action: 'block', enforced: true, reasons: [{ id: 'policy:block' }, {}, { id: 'policy:trial' }] })
  t.equal(asStrict, undefined, 'it is as strict, not stricter')
  t.match(createDecider({ rules: [flag, trial] })(BROWSER), { action: 'flag', ...tried })
  const { trial: behind, ...decided } = createDecider({ rules: [block, trial] })(BROWSER)
  t.match(decided, { action: 'block', enforced: true, reasons: [{ id: 'policy:block' }, {}] })
  t.equal(behind, undefined, 'behind the deciding rule')
  const lenient: Rule = { id: 'lenient', match: {}, action: 'allow', monitor: true }
  const opened = createDecider({ rules: [lenient, block] })(BROWSER)
  t.match(opened, { action: 'block', reasons: [{}, {}, { id: 'policy:lenient' }] }, 'a trial opens nothing')
  t.match(
    createDecider({ rules: [lenient, trial] })(BROWSER),
    { action: 'allow', ...tried },
    'the first that is stricter',
  )
  const { trials } = createDecider({ rules: [lenient, trial, block] })(BROWSER)
  t.same(trials, [{ rule: 'lenient', action: 'allow' }, tried.trial], 'all that match are named')
  t.equal(decided.trials, undefined)
  t.match(createDecider({ rules: [trial, flag] }, { mode: 'monitor' })(BROWSER), {
    action: 'flag',
    enforced: false,
    ...tried,
  })
})

t.test('a flag is a mark: the rules after it decide, and it shows where none does', async (t) => {
  const mark = (id: string): Rule => ({ id, match: {}, action: 'flag' })
  const rows: readonly (readonly [
    rules: readonly Rule[],
    fallback: 'allow' | 'block',
    action: string,
    rule: string,
  ])[] = [
    [[mark('one'), mark('two')], 'allow', 'flag', 'one'],
    [[mark('one')], 'block', 'block', 'default'],
    ...(['allow', 'block', 'challenge'] as const).map(
      (action) => [[mark('one'), { id: 'next', match: {}, action }], 'allow', action, 'next'] as const,
    ),
    [[mark('one'), { id: 'other', match: { method: ['POST'] }, action: 'block' }], 'allow', 'flag', 'one'],
    [[{ ...mark('weighs'), weight: 2 }, mark('two')], 'allow', 'flag', 'weighs'],
  ]
  for (const [rules, fallback, action, rule] of rows) {
    const decision = createDecider({ rules, default: fallback })(BROWSER)
    t.match(decision, { action, reasons: [{ id: `policy:${rule}` }] })
  }
})

t.test('a rule that trusts claims lets an unproven name pass, and no disproved one', async (t) => {
  const previews: Rule = { id: 'previews', match: { purpose: ['preview'] }, action: 'allow' }
  const rule = (rules: readonly Rule[], userAgent: string) =>
    createDecider({ rules })(named(userAgent, { peer: RACK })).reasons[0]?.id
  const trusted: Rule = { ...previews, trustClaim: true }
  t.equal(rule([previews], 'WhatsApp/2.23.20.0'), 'policy:default')
  t.equal(rule([trusted], 'WhatsApp/2.23.20.0'), 'policy:previews')
  t.equal(rule([trusted], 'Twitterbot/1.0'), 'policy:default', 'from a system that its operator does not send from')
})

t.test('a rule that cannot be answered does what its onError says', async (t) => {
  const nothing = { snapshots: makeSnapshots() }
  const rule: Rule = { id: 'place', match: { country: ['DE'], path: ['/buy'] }, action: 'allow', onError: 'block' }
  const at = (target: string) => makeRequest(makeFields(CHROME), { target })
  t.equal(createDecider({ rules: [rule] }, nothing)(at('/buy')).action, 'block')
  t.equal(createDecider({ rules: [rule] }, nothing)(at('/')).action, 'allow', 'the rest of it does not match')
  t.equal(createDecider({ rules: [rule] })(at('/buy')).action, 'allow')
  const { onError: _, ...silent } = rule
  t.equal(
    createDecider({ rules: [silent], default: 'flag' }, nothing)(at('/buy')).action,
    'flag',
    'unknown is not a match',
  )
  const network: Rule = { id: 'vpn', match: { networkClass: ['vpn'] }, action: 'block', onError: 'flag' }
  t.match(createDecider({ rules: [network] }, nothing)(BROWSER), {
    action: 'flag',
    reasons: [{ text: /not loaded/ }, {}],
  })
})

t.test('the default decides what no rule speaks of', async (t) => {
  t.match(createDecider({ default: 'block' })(BROWSER), { action: 'block', reasons: [{ id: 'policy:default' }, {}] })
  t.match(createDecider({})(BROWSER), { action: 'allow' })
})

t.test('a policy with a value it cannot mean is refused by name', async (t) => {
  const rows: readonly (readonly [policy: object, message: RegExp])[] = [
    [{ rules: [{ id: 'a', match: { class: ['robot'] }, action: 'flag' }] }, /"a".*class.*robot/],
    [{ rules: [{ id: 'a', match: { basis: ['guess'] }, action: 'flag' }] }, /basis.*guess/],
    [{ rules: [{ id: 'a', match: { confidence: { atLeast: 2 } }, action: 'flag' }] }, /confidence\.atLeast.*2/],
    [
      { rules: [{ id: 'a', match: { networkConfidence: { atMost: -1 } }, action: 'flag' }] },
      /networkConfidence\.atMost/,
    ],
    [{ rules: [{ id: 'a', match: { time: { from: '25:00' } }, action: 'flag' }] }, /time\.from.*25:00/],
    [{ rules: [{ id: 'a', match: { time: { to: '9' } }, action: 'flag' }] }, /time\.to/],
    [{ rules: [{ id: 'a', match: { time: { zone: 'Mars/Base' } }, action: 'flag' }] }, /time\.zone.*Mars/],
    [{ rules: [{ id: 'a', match: { time: { days: ['Sunday'] } }, action: 'flag' }] }, /time\.days/],
    [{ rules: [{ id: 'a', match: {}, action: 'flag', onError: 'panic' }] }, /onError.*panic/],
    ...(['/admin?x', '/a/**/b', '//admin', '/%61dmin', '/caf\u00e9', 'admin'].map((path) => [
      { rules: [{ id: 'a', match: { path: [path] }, action: 'block' }] },
      /"a": path: /,
    ]) as [object, RegExp][]),
    [{ rules: [{ id: 'a', match: { method: ['GE T'] }, action: 'block' }] }, /method.*GE T/],
    [
      { rules: [{ id: 'a', match: { header: { present: ['cookie:'] } }, action: 'block' }] },
      /header\.present.*cookie:/,
    ],
    [{ rules: [{ id: 'a', match: { vendor: ['Open AI'] }, action: 'block' }] }, /vendor.*Open AI/],
    [{ rules: [{ id: 'a', match: { identity: ['chatgpt'] }, action: 'block' }] }, /identity.*chatgpt/],
    [{ rules: [{ id: 'a', match: { identity: ['https://chatgpt.com/'] }, action: 'block' }] }, /identity.*chatgpt/],
    [{ default: 'deny' }, /policy\.default.*deny/],
    [{ onError: 'deny' }, /policy\.onError.*deny/],
    [{ rules: [{ id: 'a', match: { purpose: ['__proto__'] }, action: 'flag' }] }, /purpose.*__proto__/],
  ]
  for (const [policy, message] of rows) {
    t.throws(() => compilePolicy({ preset: 'observe', rules: [], ...policy }), { code: 'invalid_policy', message })
  }
})

t.test(
  'every preset does to twelve typical visitors what it promises, and the page shows what no generated table has',
  async (t) => {
    const { verifier } = createVerifier()
    const bad = { 'sec-ch-ua-platform': '"Linux"' }
    const worse = { ...bad, 'sec-ch-ua': '"Chromium";v="120"' }
    const forged = signedFields({ host: 'example.org' }).map((text) => (text === 'example.org' ? 'example.com' : text))
    const visitors: readonly InspectionRequest[] = [
      BROWSER,
      makeRequest(makeFields(CHROME), { peer: TUNNEL }),
      makeRequest(makeFields(CHROME, { Cookie: 'a' }), { peer: RACK }),
      makeRequest(makeFields(CHROME, bad)),
      makeRequest(makeFields(CHROME, worse)),
      makeRequest(['Host', 'example.com', 'User-Agent', CHROME['User-Agent'] ?? '', 'Accept', '*/*']),
      named('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 HeadlessChrome/150.0.0.0 Safari/537.36'),
      named('python-requests/2.32.3'),
      makeRequest(signedFields()),
      named('Bytespider'),
      named('Devin/1.0'),
      makeRequest(forged),
    ]
    const table = {
      observe: 'allow allow allow allow allow allow allow allow allow allow allow allow',
      'low-friction': 'allow flag flag flag flag flag flag allow allow flag flag block',
      'protect-content': 'allow flag challenge challenge challenge challenge block flag flag block flag block',
      'agents-welcome': 'allow flag allow flag flag flag flag allow allow flag flag block',
      'jurisdiction-strict': 'allow block flag challenge block challenge flag allow allow flag flag block',
      'stop-scrapers': 'allow flag flag challenge block challenge block flag allow flag flag block',
      'under-attack': 'allow challenge challenge challenge block challenge block flag allow flag flag block',
    } as const
    const page = readFileSync(join(import.meta.dirname, '../../../../sallyport/docs/policy.md'), 'utf8')
    const told = [...((page.split('| visitor |')[1] ?? '').split('\n\n')[0]?.matchAll(/^\| [^`-].*\|$/gm) ?? [])]
    const cells = told.map(([row]) =>
      row
        .split('|')
        .slice(2, -1)
        .map((cell) => cell.trim()),
    )
    // The page has the visitors that its other table, of headers and networks, leaves out.
    const shown = [3, 4, 7, 8, 9, 10, 11]
    t.equal(cells.length, shown.length)
    const { observe: _, ...presets } = table
    Object.values(presets).forEach((text, column) => {
      const actions = text.split(' ')
      const expected = shown.map((at) => actions[at])
      t.same(
        cells.map((row) => row[column]),
        expected,
        'as policy.md says',
      )
    })
    for (const [preset, actions] of Object.entries(table)) {
      const decide = createDecider({ preset: preset as keyof typeof table }, { signatures: verifier })
      t.same(visitors.map((visitor) => decide(visitor).action).join(' '), actions, preset)
    }
  },
)
