import t from 'tap'
import { type AnswerStatus, createCounter } from '../../src/counting/counter.ts'
import { withStrikes } from '../../src/counting/strikes.ts'
import { policyFaults } from '../../src/policy/check/faults.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import { createFakeCounts, createFakeNetworks, makeSnapshots, makeSystem } from '../../src/testing/fakes.ts'
import type { InspectedPass } from '../../src/values/challenge.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { agentInspector, CHROME, makeFields, makeRequest } from '../agents.ts'

const START = 1_800_000_000_000

const SNAPSHOTS = makeSnapshots({
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' }) }],
    ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, type: 'hosting', networkClass: 'hosting', brand: 'Racks' }) }],
    ['8.3.0.0/16', { system: makeSystem({ asn: 64_503, type: 'mobile', networkClass: 'mobile' }) }],
    ['8.4.0.0/16', { system: makeSystem({ asn: 64_504, type: 'education', networkClass: 'unknown' }) }],
    [
      '8.5.0.0/16',
      { system: makeSystem({ asn: 22_616, type: 'hosting', networkClass: 'datacenter', brand: 'Zscaler' }) },
    ],
  ]),
  rangesLoaded: true,
})

interface Asked {
  readonly userAgent?: number | undefined
  readonly target?: string | undefined
  readonly pass?: InspectedPass | undefined
  /** If it is absent, the request stays in flight. */
  readonly status?: AnswerStatus | 'flying' | undefined
}

function createGate(policy: Partial<Policy>, mode: 'enforce' | 'monitor' = 'enforce') {
  let now = START
  const compiled = compilePolicy({ preset: 'observe', rules: [], ...policy })
  const inspector = agentInspector({ policy: compiled, snapshots: SNAPSHOTS, mode })
  const counts = createFakeCounts({ now: () => now })
  const counter = createCounter({ counts, flights: 'test' })

  /** Returns the action and reports the end of its answer. */
  async function ask(peer: string, { userAgent = 150, target = '/login', pass, status }: Asked = {}) {
    const browser = {
      ...CHROME,
      'User-Agent': `Mozilla/5.0 (X11; Linux x86_64; rv:${userAgent}.0) Firefox/${userAgent}.0`,
    }
    const request: InspectionRequest = makeRequest(makeFields(browser), { peer, target, method: 'POST', pass })
    const { decision, ended } = await counter.count(inspector.decide(request), request.fields)
    // Our own answer is no answer of the application.
    const isOurs = decision.enforced && decision.action !== 'allow'
    if (status !== 'flying') ended?.(isOurs ? undefined : status)
    return { decision, action: decision.action, rule: decision.reasons[0]?.id.slice(7), ended }
  }

  /** Counts how many of `times` requests are allowed, and names the rule that decides the last. */
  async function sendMany(times: number, peerOf: (at: number) => string, asked: (at: number) => Asked) {
    let allowed = 0
    let last = ''
    for (let at = 0; at < times; at++) {
      const { action, rule = '' } = await ask(peerOf(at), asked(at))
      if (action === 'allow') allowed++
      last = `${action} ${rule}`
    }
    return { allowed, last }
  }

  const wait = (ms: number): void => {
    now += ms
  }
  return { ask, sent: sendMany, wait, counts }
}

const LOGINS: Rule = {
  id: 'logins',
  match: { path: ['/login'] },
  limit: { key: 'client', max: 3, window: '1h', count: 'failure' },
  action: 'throttle',
}
const GUARD: Partial<Policy> = { limits: ['login-guard'] }
const home = () => '8.1.0.1'

t.test('failures count, and nothing else: no success, no answer of ours, none that never came', async (t) => {
  for (const kind of ['sliding', 'fixed', 'bucket'] as const) {
    const { ask, sent, wait } = createGate({
      rules: [{ ...LOGINS, limit: { ...LOGINS.limit, kind } as Rule['limit'] }],
    })
    const quiet: readonly AnswerStatus[] = [200, 303, 404, 429, 500, undefined]
    t.equal((await sent(60, home, (at) => ({ status: quiet[at % quiet.length] }))).allowed, 60, kind)
    t.same(await sent(3, home, (at) => ({ status: [401, 403, 422][at] })), { allowed: 3, last: 'allow default' })
    t.same(await sent(9, home, () => ({ status: 200 })), { allowed: 0, last: 'throttle logins' })
    wait(7_200_001)
    t.equal((await ask('8.1.0.1', { status: 200 })).action, 'allow', 'after the window')
  }
})

t.test('each request in flight counts until its answer is known', async (t) => {
  const { ask, sent, counts } = createGate({ rules: [LOGINS] })
  const burst = await Promise.all(Array.from({ length: 200 }, () => ask('8.1.0.1', { status: 'flying' })))
  t.equal(burst.filter(({ action }) => action === 'allow').length, 3, 'of 200 guesses at a time')
  for (const { ended } of burst) ended?.(200)
  t.equal((await sent(20, home, () => ({ status: 200 }))).allowed, 20, 'they were logins, and nothing is left of them')
  t.equal(counts.left.length, 0)
  const again = await Promise.all(Array.from({ length: 200 }, () => ask('8.1.0.1', { status: 'flying' })))
  for (const { ended } of again) ended?.(401)
  t.equal((await ask('8.1.0.1', { status: 200 })).action, 'throttle')
  t.match(again[2]?.decision.limits, [{ used: 2, max: 3, counts: 'failure', exceeded: false }], 'failures before it')
})

t.test('where nobody sees the answer each request is a failure', async (t) => {
  const { sent } = createGate({ rules: [LOGINS] })
  t.equal((await sent(20, home, () => ({ status: 'unseen' }))).allowed, 3)
})

t.test('statuses: those of the limit, else those of the policy', async (t) => {
  const rule = { ...LOGINS, limit: { ...LOGINS.limit, failures: [200] } as Rule['limit'] }
  const own = createGate({ rules: [rule], failures: [418] })
  t.equal((await own.sent(9, home, () => ({ status: 401 }))).allowed, 9)
  t.equal((await own.sent(9, home, () => ({ status: 418 }))).allowed, 9)
  t.equal((await own.sent(9, home, () => ({ status: 200 }))).allowed, 3)
  const common = createGate({ rules: [LOGINS], failures: [418] })
  t.equal((await common.sent(9, home, () => ({ status: 401 }))).allowed, 9)
  t.equal((await common.sent(9, home, () => ({ status: 418 }))).allowed, 3)
  t.match(policyFaults({ preset: 'observe', rules: [], failures: [] }), [{ path: ['failures'] }])
})

t.test('a dry run and monitor mode count, and refuse nobody; a cost counts as a whole', async (t) => {
  const tried = createGate({ rules: [{ ...LOGINS, monitor: true }] })
  t.equal((await tried.sent(9, home, () => ({ status: 401 }))).allowed, 9)
  t.same((await tried.ask('8.1.0.1')).decision.trial, { rule: 'logins', action: 'throttle' })
  const monitored = createGate({ rules: [LOGINS] }, 'monitor')
  await monitored.sent(9, home, () => ({ status: 401 }))
  t.match((await monitored.ask('8.1.0.1')).decision, { action: 'throttle', enforced: false })
  const dear = createGate({ rules: [{ ...LOGINS, cost: 2, limit: { ...LOGINS.limit, max: 6 } as Rule['limit'] }] })
  t.equal((await dear.sent(9, home, () => ({ status: 401 }))).allowed, 3)
  const opening = createGate({ rules: [{ ...LOGINS, then: 'allow' }] })
  t.equal((await opening.ask('8.1.0.1')).rule, 'logins')
})

t.test('a path that is cheaper is cheaper only where every server reads it so', async (t) => {
  const { ask } = createGate({ rules: [{ ...LOGINS, match: {}, cost: { '/auth/refresh': 0 } }] })
  for (let at = 0; at < 9; at++) {
    t.equal((await ask('8.1.0.1', { target: '/auth/refresh', status: 401 })).action, 'allow')
    await ask('8.1.0.2', { target: '/auth/refresh/..%2flogin', status: 401 })
  }
  t.equal((await ask('8.1.0.2', { target: '/auth/refresh/..%2flogin' })).action, 'throttle')
})

t.test('login-guard: offices, schools, carriers and SASE exits log in, and pages renew their tokens', async (t) => {
  for (const [name, peer] of Object.entries({
    office: '8.1.0.1',
    school: '8.4.0.1',
    carrier: '8.3.0.1',
    Zscaler: '8.5.0.1',
    server: '8.2.0.1',
    'no data': '9.9.9.9',
  })) {
    const { sent } = createGate(GUARD)
    const makeAsked = (at: number): Asked => ({ userAgent: 100 + (at % 60), status: 303 })
    t.equal((await sent(2_000, () => peer, makeAsked)).allowed, 2_000, `${name}: 2,000 logins`)
  }
  for (const peer of ['8.3.0.1', '8.4.0.1', '8.5.0.1']) {
    const { sent } = createGate(GUARD)
    // One in six is mistyped, as at an office in the morning.
    const makeAsked = (at: number): Asked => ({ userAgent: at % 60, status: at % 6 === 0 ? 401 : 303 })
    t.equal((await sent(600, () => peer, makeAsked)).allowed, 600, `${peer}: 100 failures of 60 browsers`)
  }
  const { sent } = createGate(GUARD)
  for (const target of [
    '/auth/refresh',
    '/session/renew',
    '/sessions/17/keep-alive',
    '/auth/v1/token/refresh',
    '/auth/logout',
  ])
    t.equal((await sent(3_600, home, () => ({ target, status: 401 }))).allowed, 3_600, `${target} in a loop`)
  t.equal((await sent(1, home, () => ({ status: 200 }))).allowed, 1, 'and who did that signs in')
})

t.test(
  'login-guard: a guesser is challenged, again with a pass; it changes headers and addresses in vain',
  async (t) => {
    const { sent } = createGate(GUARD)
    const makeFailure = (more: Asked = {}) => ({ status: 401, ...more }) as const
    t.same(await sent(40, home, () => makeFailure()), { allowed: 10, last: 'challenge login-guard' })
    const pass: InspectedPass = { id: 'p', level: 2, age: 1 }
    t.same(await sent(200, home, () => makeFailure({ pass })), { allowed: 20, last: 'challenge login-guard-pass' })
    const again = await sent(200, home, () => makeFailure({ pass: { ...pass, id: 'q' } }))
    t.same(again, { allowed: 20, last: 'challenge login-guard-pass' }, 'each solution is good for some failures')
    const shared = createGate(GUARD)
    const changed = await shared.sent(
      300,
      () => '8.3.0.1',
      (at) => makeFailure({ userAgent: at }),
    )
    t.same(changed, { allowed: 200, last: 'challenge login-guard-address' })
    const prefix = createGate(GUARD)
    const rotated = await prefix.sent(
      200,
      (at) => `8.2.0.${at}`,
      () => makeFailure(),
    )
    t.same(rotated, { allowed: 30, last: 'challenge login-guard-network' })
    const system = createGate(GUARD)
    const spread = await system.sent(
      400,
      (at) => `8.2.${at % 200}.1`,
      () => makeFailure(),
    )
    t.same(spread, { allowed: 200, last: 'challenge login-guard-system' })
  },
)

t.test('login-guard: WordPress answers a wrong password with 200', async (t) => {
  const { sent } = createGate(GUARD)
  const target = '/wp-login.php'
  t.equal((await sent(60, home, () => ({ target, status: 302 }))).allowed, 60)
  t.same(await sent(40, home, () => ({ target, status: 200 })), {
    allowed: 10,
    last: 'challenge login-guard-wordpress',
  })
})

t.test('200 servers of many systems are stopped by a rule about the first login', async (t) => {
  const rule: Rule = {
    id: 'server-logins',
    match: { path: ['/login/**'], method: ['POST'], networkClass: ['hosting', 'datacenter', 'tor'] },
    action: 'challenge',
    challenge: { level: 2 },
  }
  const { sent } = createGate({ ...GUARD, rules: [rule] })
  const rotated = await sent(
    200,
    (at) => `8.2.${at}.1`,
    () => ({ status: 401 }),
  )
  t.same(rotated, { allowed: 0, last: 'challenge server-logins' })
})

t.test('a strike of a status nobody saw is none', async (t) => {
  const rules = compilePolicy({
    preset: 'observe',
    rules: [],
    strikes: { count: 1, window: '1h', on: ['status:401'], for: '1h' },
  })
  const puts: unknown[] = []
  const counter = withStrikes(createCounter({ counts: createFakeCounts({ now: () => START }), flights: 'test' }), {
    strikes: rules.strikes,
    mode: 'enforce',
    counts: createFakeCounts({ now: () => START }),
    bans: {
      find: () => undefined,
      put: async (ban) => void puts.push(ban),
      lift: async () => false,
      list: async () => [],
      liftedAt: () => undefined,
    },
    now: () => START,
    onFault: (error) => t.fail(String(error)),
  })
  const inspector = agentInspector({ policy: rules, snapshots: SNAPSHOTS, mode: 'enforce' })
  const { ended } = await counter.count(inspector.decide(makeRequest(makeFields(CHROME), { peer: '8.1.0.1' })))
  ended?.('unseen')
  ended?.(401)
  await new Promise(setImmediate)
  t.equal(puts.length, 1)
})
