import t from 'tap'
import { decide, eventPolicy, type InspectedEvent, type InspectedPass, policyFaults } from '../../src/index.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import { CHROME, CHROME_TEXT, makeFields, makeRequest } from '../agents.ts'
import { openGate } from '../policy/gate.ts'

interface Visitor {
  readonly peer?: string
  readonly pass?: InspectedPass | undefined
  readonly userAgent?: string
  readonly ja4?: string | undefined
}

/** Answers events by a policy, with counts and a clock of its own. */
function guard(policy: Partial<Policy>) {
  const { compiled, inspector, counts, counter, wait } = openGate(policy)
  async function assess(more: Partial<InspectedEvent>, { userAgent = CHROME_TEXT, ...about }: Visitor = {}) {
    const request = makeRequest(makeFields(CHROME, { 'User-Agent': userAgent }), { ...about, method: 'POST' })
    const login = { event: 'login', identifiers: ['ada'], mail: {}, account: { known: false }, reasons: [] } as const
    const inspection = { ...inspector.inspect(request), event: { ...login, ...more } }
    const decision = decide(eventPolicy(compiled), inspection, { mode: 'enforce', request })
    const counted = await counter.count(decision, request.fields)
    t.equal(counted.ended, undefined, 'an event has no answer to wait for')
    return { action: counted.decision.action, rule: counted.decision.reasons[0]?.id }
  }
  return { assess, counts, inspector, pass: wait }
}

const stranger = (at: number) => `9.${at >> 8}.${at & 255}.7`
const PRESET = { limits: ['account-guard'] } as const

t.test('the eleventh guess at one account is challenged, wherever it comes from', async (t) => {
  const { assess } = guard(PRESET)
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, { peer: stranger(at) })
  const eleventh = { action: 'challenge', rule: 'policy:account-guess' }
  t.match(await assess({}, { peer: stranger(10) }), eleventh, 'before the password is checked')
  t.match(await assess({ outcome: 'failure' }, { peer: stranger(10) }), eleventh)
  t.match(await assess({ outcome: 'success' }, { peer: stranger(10) }), eleventh, 'a right guess is not revealed')
  t.match(await assess({ account: { known: true } }), { action: 'allow' }, 'the owner')
  t.match(await assess({ identifiers: ['bob'] }, { peer: stranger(10) }), { action: 'allow' }, 'another account')
})

t.test('without an outcome nothing is counted, a success is no failure, and an unknown user is one', async (t) => {
  const { assess, counts } = guard(PRESET)
  for (let at = 0; at < 100; at++) await assess({})
  t.ok(counts.taken.length > 100)
  t.ok(counts.taken.every(({ cost }) => cost === 0))
  for (let at = 0; at < 10; at++) await assess({ outcome: 'success' }, { peer: stranger(at) })
  t.match(await assess({}), { action: 'allow' })
  for (let at = 0; at < 10; at++) await assess({ outcome: 'unknown_user' }, { peer: stranger(at) })
  t.match(await assess({}), { action: 'challenge' }, 'an account that is not there answers as one that is')
})

t.test('the user has a count beside every spelling of an identifier', async (t) => {
  const { assess } = guard(PRESET)
  for (let at = 0; at < 10; at++)
    await assess({ outcome: 'failure', identifiers: [`spelling ${at}`, 'user'] }, { peer: stranger(at) })
  t.match(await assess({ identifiers: ['another', 'user'] }, { peer: stranger(11) }), { action: 'challenge' })
})

const PASS: InspectedPass = { id: 'p1', level: 2, age: 1, maxAge: 43_200 }

t.test('a pass is good for ten guesses, and its holder solves again', async (t) => {
  const { assess } = guard(PRESET)
  for (let at = 0; at < 10; at++) t.match(await assess({ outcome: 'failure' }, { pass: PASS }), { action: 'allow' })
  const spent = { action: 'challenge', rule: 'policy:account-guess-pass' }
  t.match(await assess({ outcome: 'failure' }, { pass: PASS }), spent)
  t.match(await assess({}, { pass: { ...PASS, id: 'p2' } }), { action: 'allow' }, 'a new one')
})

const KNOWN = { outcome: 'failure', account: { known: true } } as const
const SIGNUP = { event: 'signup', outcome: 'success' } as const
const signup = (at: number) => ({ ...SIGNUP, identifiers: [`user ${at}`] })
const FRESH = { mailDomain: 'fresh.example', mail: { newDomain: true } }
const STEM = { mailStem: 'ada@corp.example' }
const TOOL = 't13d1715h2_5b57614c22b0_7121afd63204'
const BROWSER = 't13d1516h2_8daaf6152771_02713d6af862'
const stuffed = (at: number) => ({ outcome: 'unknown_user', identifiers: [`user ${at}`] }) as const

/** For each rule what it lets pass, and an event for each number that no rule before it bounds. */
type Bound = readonly [max: number, event: (at: number) => Partial<InspectedEvent>, visitor: (at: number) => Visitor]
const BOUNDS: Readonly<Record<string, Bound>> = {
  guess: [10, () => ({ outcome: 'failure' }), (at) => ({ peer: stranger(at) })],
  'guess-near': [10, () => KNOWN, () => ({ peer: '8.1.0.1' })],
  'guess-network': [100, () => KNOWN, (at) => ({ peer: `8.1.${at}.1` })],
  'guess-pass': [10, () => KNOWN, (at) => ({ peer: stranger(at), pass: PASS })],
  stuffing: [20, stuffed, () => ({ peer: '8.1.0.1' })],
  'stuffing-pass': [20, stuffed, (at) => ({ peer: stranger(at), pass: PASS })],
  'stuffing-prefix': [200, stuffed, (at) => ({ peer: `8.3.0.${at}`, userAgent: `Browser ${at}` })],
  'stuffing-network': [30, stuffed, (at) => ({ peer: `8.2.0.${at}` })],
  'stuffing-system': [200, stuffed, (at) => ({ peer: `8.2.${at}.1` })],
  'stuffing-client': [100, stuffed, (at) => ({ peer: stranger(at), ja4: TOOL })],
  wave: [20, (at) => ({ ...signup(at), ...FRESH }), (at) => ({ peer: stranger(at) })],
  aliases: [3, () => SIGNUP, (at) => ({ peer: stranger(at) })],
  shared: [10, signup, () => ({ peer: '8.1.0.1' })],
  'shared-pass': [10, (at) => ({ ...signup(at), ...STEM }), (at) => ({ peer: stranger(at), pass: PASS })],
  'shared-prefix': [50, signup, (at) => ({ peer: `8.1.0.${at}` })],
  'shared-stem': [10, (at) => ({ ...signup(at), ...STEM }), (at) => ({ peer: stranger(at) })],
  reset: [5, () => ({ event: 'reset', outcome: 'success' }), (at) => ({ peer: stranger(at) })],
}

for (const [rule, [max, event, visitor]] of Object.entries(BOUNDS)) {
  t.test(`account-${rule} asks beyond ${max}`, async (t) => {
    const { assess } = guard(PRESET)
    for (let at = 0; at < max; at++) t.equal((await assess(event(at), visitor(at))).action, 'allow', `${at}`)
    t.match(await assess(event(max), visitor(max)), { action: 'challenge', rule: `policy:account-${rule}` })
  })
}

/** Sends attempts of another account each, and counts those that are allowed; the given share of them fails, evenly. */
async function attempt({ assess }: ReturnType<typeof guard>, times: number, share: number, visitor: typeof sameOffice) {
  let allowed = 0
  for (let at = 0; at < times; at++) {
    const fails = Math.floor((at + 1) * share) > Math.floor(at * share)
    const event = { outcome: fails ? 'failure' : 'success', identifiers: [`user ${at}`] } as const
    if ((await assess(event, visitor(at))).action === 'allow') allowed++
  }
  return allowed
}

const sameOffice = (at: number): Visitor => ({ peer: `8.1.0.${1 + (at % 3)}`, userAgent: `Browser ${at % 59}` })
const sameCarrier = (at: number): Visitor => ({ peer: '8.3.0.1', userAgent: `Browser ${at % 59}` })
const sameServers = (at: number): Visitor => ({ peer: `8.2.0.${at % 250}` })

t.test('a busy network fails as often as a stuffing one, and the share of failures separates them', async (t) => {
  for (const [name, visitor] of Object.entries({ sameOffice, sameCarrier, sameServers })) {
    t.equal(await attempt(guard(PRESET), 3_000, 0.2, visitor), 3_000, `${name}: 600 failures of 3,000 attempts`)
    const stuffed = await attempt(guard(PRESET), 3_000, 0.98, visitor)
    t.ok(stuffed <= 260, `${name}: ${stuffed} of 3,000 stuffed passwords are tried`)
  }
})

t.test('a common browser is not accused by its TLS client, and rotating addresses with a tool are', async (t) => {
  const from = (ja4: string) => (at: number) => ({ peer: stranger(at), ja4 })
  t.equal(await attempt(guard(PRESET), 3_000, 0.3, from(BROWSER)), 3_000, '900 failures of a common browser')
  const world = guard(PRESET)
  for (let at = 0; at < 1_000; at++) {
    await world.assess({ outcome: 'success', identifiers: [`user ${at}`] }, from(BROWSER)(at))
    if (at % 3 === 0) await world.assess(stuffed(at), from(TOOL)(5_000 + at))
    if (at % 3 === 1) await world.assess(stuffed(at), from(BROWSER)(9_000 + at))
  }
  t.match(await world.assess({}, from(TOOL)(20_000)), { rule: 'policy:account-stuffing-client' })
  t.match(await world.assess({}, from(BROWSER)(20_000)), { action: 'allow' }, 'a guesser in a crowd does not accuse it')
  t.match(await world.assess({ account: { known: true } }, from(TOOL)(20_001)), { action: 'allow' }, 'a known user')
})

t.test('no success but the first of an account within the window explains a failure', async (t) => {
  const { assess, pass } = guard(PRESET)
  const peer = '8.1.0.1'
  let tried = 0
  // A guesser enters its own account between guesses, which succeeds.
  for (let at = 0; at < 200; at++) {
    await assess({ outcome: 'success', identifiers: ['own', 'mallory'], account: { known: true } }, { peer })
    if ((await assess(stuffed(at), { peer })).action === 'allow') tried++
  }
  t.ok(tried <= 21, `${tried} guesses`)
  t.match(await assess({ outcome: 'success', identifiers: ['ada'] }, { peer }), { action: 'challenge' })
  t.match(await assess({}, { peer }), { action: 'challenge' }, 'a guess that is challenged is no success')
  pass(2 * 3_600_000)
  t.match(await assess({}, { peer }), { action: 'allow' })
})

t.test('a reset or a sign-up, which anybody has succeed, explains no failure', async (t) => {
  for (const event of ['reset', 'signup'] as const) {
    const match = { event: ['login', event] } as const
    const limit = { key: 'client', max: 10, window: '1h', count: 'failure', share: 0.5 } as const
    const { assess } = guard({ rules: [{ id: 'stuffing', match, limit, action: 'challenge' }] })
    for (let at = 0; at < 10; at++) {
      await assess(stuffed(at))
      await assess({ event, outcome: 'success', identifiers: [`found ${at}`] })
    }
    t.match(await assess(stuffed(11)), { rule: 'policy:stuffing' }, event)
  }
})

t.test('a fact that is not known decides only for rules that do not refuse', async (t) => {
  const rule = (action: Rule['action']): Rule => ({ id: 'stranger', match: { account: { known: false } }, action })
  const asked = async (action: Rule['action'], account = {}) =>
    (await guard({ rules: [rule(action)] }).assess({ account })).action
  t.equal(await asked('challenge'), 'challenge')
  t.equal(await asked('block'), 'allow')
  t.equal(await asked('block', { known: false }), 'block')
  t.equal(await asked('challenge', { known: true }), 'allow')
})

t.test('rules about events are asked about no request, and rules about requests about no event', async (t) => {
  const rules: readonly Rule[] = [
    { id: 'event', match: { event: ['login'] }, action: 'flag' },
    { id: 'path', match: { path: ['/**'] }, action: 'block' },
  ]
  const { assess, inspector } = guard({ rules, default: 'block' })
  t.match(await assess({}), { action: 'flag', rule: 'policy:event' })
  t.match(await assess({ event: 'signup' }), { action: 'allow' }, 'the default is one for requests')
  t.match(inspector.decide(makeRequest(makeFields(CHROME))), { action: 'block', reasons: [{ id: 'policy:path' }] })
})

t.test('a rule that asks an event for what only requests have is a fault', async (t) => {
  const faults = (rule: Partial<Rule>) => {
    const whole: Rule = { id: 'bad', match: { event: ['login'] }, action: 'challenge', ...rule }
    return policyFaults({ preset: 'observe', rules: [whole] }).map(
      ({ path, message }) => `${path.slice(2).join('.')}: ${message}`,
    )
  }
  const limit = { key: 'client', max: 1, window: '1m' } as const
  t.same(faults({ limit: { ...limit, key: 'identifier' } }), [])
  const failures = { ...limit, count: 'failure' } as const
  t.same(faults({ limit: { ...failures, share: 0.3 } }), [])
  for (const share of [0, 1, -1, Number.NaN]) t.match(faults({ limit: { ...failures, share } }), [/^limit\.share: /])
  t.match(faults({ limit: { ...limit, share: 0.5 } }), [/^limit\.share: /])
  t.match(faults({ match: { path: ['/login'] }, limit: { ...failures, share: 0.5 } }), [/^limit\.share: /])
  t.match(faults({ concurrent: 2 }), [/^concurrent: events are never in flight/])
  t.match(faults({ limit: { ...limit, count: 'page' } }), [/^limit\.count: events are not pages/])
  t.match(faults({ match: {}, limit: { ...failures, key: 'identifier', failures: [401] } }), [/^limit\.failures: /])
  t.match(faults({ match: { event: ['logn' as 'login'] } }), [/^match\.event\.0: "logn" is unknown; did you mean "log/])
  t.match(faults({ match: { account: {} } }), [/^match\.account: has none of known/])
  t.match(faults({ match: { mail: { throwaway: true } as object } }), [/^match\.mail\.throwaway/])
})
