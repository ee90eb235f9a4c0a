import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { compilePolicy, type InspectionRequest, type Match, type Policy, type Rule } from '../../src/index.ts'
import type { InspectorOptions } from '../../src/inspection/inspector.ts'
import { createFakeClock, makeSnapshots } from '../../src/testing/fakes.ts'
import { agentInspector, CHROME, HOME, makeFields, makeRequest, RACK } from '../agents.ts'
import { createVerifier, signedFields } from '../signed-requests.ts'

const BROWSER = makeRequest(makeFields(CHROME))
const TUNNEL = '8.6.1.1'

function createDecider(policy: Partial<Policy>, options: Partial<InspectorOptions> = {}) {
  const compiled = compilePolicy({ preset: 'observe', rules: [], ...policy })
  return agentInspector({ policy: compiled, ...options }).decide
}

function named(userAgent: string, overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return makeRequest(['Host', 'example.com', 'User-Agent', userAgent], overrides)
}

t.test("the application's user is decided at each request, and is in the decision", async (t) => {
  const decide = createDecider({ rules: [{ id: 'mallory', match: { user: ['mallory'] }, action: 'block' }] })
  for (const user of ['alice', 'alice', 'mallory', undefined, 'mallory']) {
    const given = user === undefined ? {} : { user, plan: 'free' }
    const { action, inspection } = decide(makeRequest(makeFields(CHROME), given))
    t.equal(action, user === 'mallory' ? 'block' : 'allow')
    t.same([inspection.user, inspection.plan], [user, user && 'free'])
  }
})

t.test('the first rule that matches decides, the rules of the user before those of the preset', async (t) => {
  const rules: readonly Rule[] = [
    { id: 'friends', match: { asn: [64_506], path: ['/open'] }, action: 'allow' },
    { id: 'no-tunnels', match: { provider: ['Tunnels'] }, action: 'block' },
  ]
  const decide = createDecider({ preset: 'low-friction', rules })
  const at = (peer: string, target: string) => makeRequest(makeFields(CHROME), { peer, target })
  t.match(decide(at(TUNNEL, '/open')), { action: 'allow', enforced: true, reasons: [{ id: 'policy:friends' }, {}] })
  t.match(decide(at(TUNNEL, '/')), { action: 'block', reasons: [{ id: 'policy:no-tunnels' }, {}] })
  t.match(decide(at('8.4.1.1', '/')), { action: 'flag', reasons: [{ id: 'policy:anonymised' }, {}] }, 'Tor')
})

t.test('each member of a match is asked, and all of them must hold', async (t) => {
  const from = (peer: string, overrides: Partial<InspectionRequest> = {}) =>
    makeRequest(makeFields(CHROME), { peer, ...overrides })
  const signed = makeRequest(signedFields())
  const gpt = named('GPTBot/1.2')
  const rows: readonly (readonly [match: Match, request: InspectionRequest, matches: boolean])[] = [
    [{ networkClass: ['tor', 'hosting'] }, from(RACK), true],
    [{ asn: [64_502] }, from(RACK), true],
    [{ country: ['DE'] }, BROWSER, true],
    [{ method: ['post'] }, from(HOME, { method: 'POST' }), true],
    [{ path: ['/admin/**'], country: ['DE'] }, from(HOME, { target: '/admin/users?id=1' }), true],
    [{ path: ['/admin/**'], country: ['FR'] }, from(HOME, { target: '/admin' }), false],
    [{ user: ['18'] }, from(HOME, { user: '17' }), false],
    [{ user: ['*'] }, BROWSER, false],
    [{ plan: ['free'], user: ['17'] }, from(HOME, { user: '17', plan: 'free' }), true],
    [{ plan: ['free'] }, from(HOME, { user: '17', plan: 'pro' }), false],
    [{ provider: ['Relay', 'racks'] }, from(RACK), true],
    [{ provider: ['Tunnels'] }, from(RACK), false],
    [{ country: ['unknown'] }, from(RACK), true],
    [{ country: ['unknown'] }, BROWSER, false],
    [{ class: ['human'] }, BROWSER, true],
    [{ class: ['unverified_bot', 'impostor'] }, BROWSER, false],
    [{ basis: ['automation'] }, named('curl/8'), true],
    [{ headless: true }, named('HeadlessChrome/150'), true],
    [{ headless: false }, BROWSER, true],
    [{ confidence: { atLeast: 0.9 } }, BROWSER, true],
    [{ confidence: { atMost: 0.9 } }, BROWSER, false],
    [{ networkConfidence: { atLeast: 0.99 } }, BROWSER, false],
    [{ vendor: ['openai'] }, gpt, true],
    [{ operator: ['OpenAI'], purpose: ['training'] }, gpt, true],
    [{ purpose: ['agent'], operator: ['OpenAI'] }, signed, true],
    [{ identity: ['*'] }, signed, true],
    [{ identity: ['https://chatgpt.com'] }, signed, true],
    [{ identity: ['*'] }, gpt, false],
    [{ header: { present: ['Sec-Fetch-Site', 'accept'] } }, BROWSER, true],
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
  const rules: readonly Rule[] = [{ id: 'friends', match: { vendor: ['OpenAI'] }, action: 'allow' }]
  const decide = createDecider({ default: 'block', rules }, { signatures: createVerifier().verifier })
  t.equal(decide(named('GPTBot/1.2')).action, 'block')
  t.equal(decide(makeRequest(signedFields())).action, 'allow')
})

t.test('hours are those of the zone, and may end the next morning', async (t) => {
  for (const [at, time, matches] of [
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
  ] as const) {
    const rules: readonly Rule[] = [{ id: 'hours', match: { time }, action: 'flag' }]
    const decide = createDecider({ rules }, { clock: createFakeClock(at) })
    // The second request is within the same minute.
    for (const _ of [1, 2]) t.equal(decide(BROWSER).action, matches ? 'flag' : 'allow', `${at} ${JSON.stringify(time)}`)
  }
})

t.test('a rule on trial is recorded and decides nothing', async (t) => {
  const trial: Rule = { id: 'trial', match: {}, action: 'block', monitor: true }
  const tried = { trial: { rule: 'trial', action: 'block' } }
  const reasons = [{ id: 'policy:default' }, {}, { id: 'policy:trial' }]
  t.match(createDecider({ rules: [trial] })(BROWSER), { action: 'allow', enforced: true, ...tried, reasons })
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
  // The first that is stricter is the trial.
  t.match(createDecider({ rules: [lenient, trial] })(BROWSER), { action: 'allow', ...tried })
  const { trials } = createDecider({ rules: [lenient, trial, block] })(BROWSER)
  t.same(trials, [{ rule: 'lenient', action: 'allow' }, tried.trial], 'all that match are named')
  t.equal(decided.trials, undefined)
  const monitored = createDecider({ rules: [trial, flag] }, { mode: 'monitor' })(BROWSER)
  t.match(monitored, { action: 'flag', enforced: false, ...tried })
})

t.test('a flag is a mark: the rules after it decide, and it shows where none does', async (t) => {
  const mark = (id: string): Rule => ({ id, match: {}, action: 'flag' })
  type Row = readonly [rules: readonly Rule[], fallback: 'allow' | 'block', action: string, rule: string]
  const rows: readonly Row[] = [
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

t.test('a rule that cannot be answered does what its onError says, and the default decides the rest', async (t) => {
  const nothing = { snapshots: makeSnapshots() }
  const rule: Rule = { id: 'place', match: { country: ['DE'], path: ['/buy'] }, action: 'allow', onError: 'block' }
  const at = (target: string) => makeRequest(makeFields(CHROME), { target })
  t.equal(createDecider({ rules: [rule] }, nothing)(at('/buy')).action, 'block')
  t.equal(createDecider({ rules: [rule] }, nothing)(at('/')).action, 'allow', 'the rest of it does not match')
  t.equal(createDecider({ rules: [rule] })(at('/buy')).action, 'allow')
  const { onError: _, ...silent } = rule
  t.equal(createDecider({ rules: [silent], default: 'flag' }, nothing)(at('/buy')).action, 'flag', 'it does not match')
  const network: Rule = { id: 'vpn', match: { networkClass: ['vpn'] }, action: 'block', onError: 'flag' }
  const flagged = { action: 'flag', reasons: [{ text: /not loaded/ }, {}] }
  t.match(createDecider({ rules: [network] }, nothing)(BROWSER), flagged)
  t.match(createDecider({ default: 'block' })(BROWSER), { action: 'block', reasons: [{ id: 'policy:default' }, {}] })
  t.match(createDecider({})(BROWSER), { action: 'allow' })
})

t.test('a policy with a value it cannot mean is refused by name', async (t) => {
  const words: readonly (readonly [match: object, message: RegExp])[] = [
    [{ networkClass: ['tunnel'] }, /"a".*networkClass.*tunnel/],
    [{ country: ['Germany'] }, /country.*Germany/],
    [{ asn: [-1] }, /asn.*-1/],
    [{ provider: [' '] }, /provider/],
    [{ crawler: ['Googlebot'] }, /crawler: "Googlebot" is unknown/],
    [{ crawlerOutcome: ['maybe'] }, /crawlerOutcome: "maybe" is unknown/],
    [{ operator: ['google'] }, /operator: "google" is unknown/],
    [{ class: ['robot'] }, /"a".*class.*robot/],
    [{ basis: ['guess'] }, /basis.*guess/],
    [{ confidence: { atLeast: 2 } }, /confidence\.atLeast.*2/],
    [{ time: { from: '25:00' } }, /time\.from.*25:00/],
    [{ time: { zone: 'Mars/Base' } }, /time\.zone.*Mars/],
    [{ time: { days: ['Sunday'] } }, /time\.days/],
    [{ method: ['GE T'] }, /method.*GE T/],
    [{ header: { present: ['cookie:'] } }, /header\.present.*cookie:/],
    [{ vendor: ['Open AI'] }, /vendor.*Open AI/],
    [{ identity: ['https://chatgpt.com/'] }, /identity.*chatgpt/],
    [{ purpose: ['__proto__'] }, /purpose.*__proto__/],
  ]
  const paths = ['/admin?x', '/a/**/b', '//admin', '/%61dmin', '/caf\u00e9', 'admin']
  const rule = { id: 'a', match: {}, action: 'flag' }
  const rows: readonly (readonly [policy: object, message: RegExp])[] = [
    ...words.map(([match, message]) => [{ rules: [{ ...rule, match }] }, message] as const),
    ...paths.map((path) => [{ rules: [{ ...rule, match: { path: [path] } }] }, /"a": path: /] as const),
    [{ rules: [{ ...rule, action: 'deny' }] }, /action.*deny/],
    [{ rules: [rule, rule] }, /"a" is used twice/],
    [{ rules: [{ ...rule, onError: 'panic' }] }, /onError.*panic/],
    [{ default: 'deny' }, /policy\.default.*deny/],
    [{ onError: 'deny' }, /policy\.onError.*deny/],
    [{ preset: 'strict' }, /strict.*observe/],
  ]
  for (const [policy, message] of rows)
    t.throws(() => compilePolicy({ preset: 'observe', rules: [], ...policy }), { code: 'invalid_policy', message })
})

t.test('every preset does to twelve typical visitors what it promises, and policy.md shows it', async (t) => {
  const { verifier } = createVerifier()
  const bad = { 'sec-ch-ua-platform': '"Linux"' }
  const worse = { ...bad, 'sec-ch-ua': '"Chromium";v="120"' }
  const forged = signedFields().map((text) => (text === 'example.com' ? 'example.org' : text))
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
  const rows = [...((page.split('| visitor |')[1] ?? '').split('\n\n')[0]?.matchAll(/^\| [^`-].*\|$/gm) ?? [])]
  const cells = rows.map(([row]) => row.split('|').map((cell) => cell.trim()))
  // The page has the visitors that its other table, of headers and networks, leaves out.
  const shown = [3, 4, 7, 8, 9, 10, 11]
  t.equal(cells.length, shown.length)
  for (const [column, [preset, text]] of Object.entries(table).entries()) {
    const actions = text.split(' ')
    const decide = createDecider({ preset: preset as keyof typeof table }, { signatures: verifier })
    for (const [at, visitor] of visitors.entries()) t.equal(decide(visitor).action, actions[at], `${preset} ${at}`)
    if (preset === 'observe') continue
    for (const [row, at] of shown.entries()) t.equal(cells[row]?.[column + 1], actions[at], `page: ${preset} ${at}`)
  }
})
