import t from 'tap'
import {
  type AnswerStatus,
  type InspectedPass,
  type Policy,
  policyFaults,
  type Rule,
  withStrikes,
} from '../../src/index.ts'
import { CHROME, makeFields, makeRequest } from '../agents.ts'
import { openGate } from './gate.ts'

interface Asked {
  readonly userAgent?: number | undefined
  readonly target?: string | undefined
  readonly pass?: InspectedPass | undefined
  /** If it is absent, the request stays in flight. */
  readonly status?: AnswerStatus | 'flying' | undefined
}

function createGate(policy: Partial<Policy>, mode: 'enforce' | 'monitor' = 'enforce') {
  const { ask: count, counts, wait } = openGate(policy, { mode })

  async function ask(peer: string, { userAgent = 150, target = '/login', pass, status }: Asked = {}) {
    const text = `Mozilla/5.0 (X11; Linux x86_64; rv:${userAgent}.0) Firefox/${userAgent}.0`
    const request = makeRequest(makeFields(CHROME, { 'User-Agent': text }), { peer, target, method: 'POST', pass })
    const { decision, ended } = await count(request)
    // Our own answer is no answer of the application.
    const isOurs = decision.enforced && decision.action !== 'allow'
    if (status !== 'flying') ended?.(isOurs ? undefined : status)
    return { decision, action: decision.action, rule: decision.reasons[0]?.id.slice(7), ended }
  }

  /** Counts how many of `times` requests are allowed, and names the rule that decides the last. */
  async function sendMany(times: number, choosePeer: (at: number) => string, asked: (at: number) => Asked) {
    let allowed = 0
    let last = ''
    for (let at = 0; at < times; at++) {
      const { action, rule = '' } = await ask(choosePeer(at), asked(at))
      if (action === 'allow') allowed++
      last = `${action} ${rule}`
    }
    return { allowed, last }
  }
  return { ask, sent: sendMany, wait, counts }
}

const LOGINS: Rule = {
  id: 'logins',
  match: { path: ['/login'] },
  limit: { key: 'client', max: 3, window: '1h', count: 'failure' },
  action: 'throttle',
}
const loginsWith = (limit: object): Rule => ({ ...LOGINS, limit: { ...LOGINS.limit, ...limit } as Rule['limit'] })
const GUARD: Partial<Policy> = { limits: ['login-guard'] }
const home = () => '8.1.0.1'

t.test('failures count, and nothing else: no success, no answer of ours, none that never came', async (t) => {
  for (const kind of ['sliding', 'fixed', 'bucket'] as const) {
    const { ask, sent, wait } = createGate({ rules: [loginsWith({ kind })] })
    const quiet: readonly AnswerStatus[] = [200, 303, 404, 429, 500, undefined]
    t.equal((await sent(60, home, (at) => ({ status: quiet[at % quiet.length] }))).allowed, 60, kind)
    t.same(await sent(3, home, (at) => ({ status: [401, 403, 422][at] })), { allowed: 3, last: 'allow default' })
    t.same(await sent(9, home, () => ({ status: 200 })), { allowed: 0, last: 'throttle logins' })
    wait(7_200_001)
    t.equal((await ask('8.1.0.1', { status: 200 })).action, 'allow', 'after the window')
  }
})

t.test('statuses: those of the limit, else those of the policy', async (t) => {
  const own = createGate({ rules: [loginsWith({ failures: [200] })], failures: [418] })
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
  const dear = createGate({ rules: [{ ...loginsWith({ max: 6 }), cost: 2 }] })
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
  // These are an office, a school, a carrier, Zscaler, a server, and a network without data.
  for (const peer of ['8.1.0.1', '8.5.0.1', '8.3.0.1', '8.7.0.1', '8.2.0.1', '9.9.9.9']) {
    const { sent } = createGate(GUARD)
    const makeAsked = (at: number): Asked => ({ userAgent: 100 + (at % 60), status: 303 })
    t.equal((await sent(2_000, () => peer, makeAsked)).allowed, 2_000, `${peer}: 2,000 logins`)
  }
  for (const peer of ['8.3.0.1', '8.5.0.1', '8.7.0.1']) {
    const { sent } = createGate(GUARD)
    // One in six is mistyped, as at an office in the morning.
    const makeAsked = (at: number): Asked => ({ userAgent: at % 60, status: at % 6 === 0 ? 401 : 303 })
    t.equal((await sent(600, () => peer, makeAsked)).allowed, 600, `${peer}: 100 failures of 60 browsers`)
  }
  const { sent } = createGate(GUARD)
  for (const target of ['/session/renew', '/sessions/17/keep-alive', '/auth/v1/token/refresh', '/auth/logout'])
    t.equal((await sent(3_600, home, () => ({ target, status: 401 }))).allowed, 3_600, `${target} in a loop`)
  t.equal((await sent(1, home, () => ({ status: 200 }))).allowed, 1, 'and who did that signs in')
})

t.test('login-guard: a guesser is challenged, again with a pass, and changes addresses in vain', async (t) => {
  const { sent } = createGate(GUARD)
  const makeFailure = (more: Asked = {}) => ({ status: 401, ...more }) as const
  t.same(await sent(40, home, () => makeFailure()), { allowed: 10, last: 'challenge login-guard' })
  const pass: InspectedPass = { id: 'p', level: 2, age: 1 }
  t.same(await sent(200, home, () => makeFailure({ pass })), { allowed: 20, last: 'challenge login-guard-pass' })
  const again = await sent(200, home, () => makeFailure({ pass: { ...pass, id: 'q' } }))
  t.same(again, { allowed: 20, last: 'challenge login-guard-pass' }, 'each solution is good for some failures')
  const rows: readonly (readonly [times: number, peer: (at: number) => string, allowed: number, rule: string])[] = [
    [300, () => '8.3.0.1', 200, 'address'],
    [200, (at) => `8.2.0.${at}`, 30, 'network'],
    [400, (at) => `8.2.${at % 200}.1`, 200, 'system'],
  ]
  for (const [times, peer, allowed, rule] of rows) {
    const found = await createGate(GUARD).sent(times, peer, (userAgent) => makeFailure({ userAgent }))
    t.same(found, { allowed, last: `challenge login-guard-${rule}` })
  }
})

t.test('login-guard: WordPress answers a wrong password with 200', async (t) => {
  const { sent } = createGate(GUARD)
  const target = '/wp-login.php'
  t.equal((await sent(60, home, () => ({ target, status: 302 }))).allowed, 60)
  const guessed = await sent(40, home, () => ({ target, status: 200 }))
  t.same(guessed, { allowed: 10, last: 'challenge login-guard-wordpress' })
})

t.test('a strike of a status nobody saw is none', async (t) => {
  const strikes = { count: 1, window: '1h', on: ['status:401'], for: '1h' }
  const { compiled, inspector, counts, counter } = openGate({ strikes })
  const puts: unknown[] = []
  const silent = { find: () => undefined, lift: async () => false, list: async () => [], liftedAt: () => undefined }
  const bans = { ...silent, put: async (ban: unknown) => void puts.push(ban) }
  const about = { strikes: compiled.strikes, mode: 'enforce', counts, now: () => 0, bans } as const
  const striking = withStrikes(counter, { ...about, onFault: (error) => t.fail(String(error)) })
  const { ended } = await striking.count(inspector.decide(makeRequest(makeFields(CHROME), { peer: '8.1.0.1' })))
  ended?.('unseen')
  ended?.(401)
  await new Promise(setImmediate)
  t.equal(puts.length, 1)
})
