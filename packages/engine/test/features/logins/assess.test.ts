import { setTimeout as delay } from 'node:timers/promises'
import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { NO_REDIS, startRedis } from '#stores/testing'
import type { ConfigInput } from '../../../src/config/service/index.ts'
import { visitUser } from '../../../src/features/logins/index.ts'
import type { AccountEvent } from '../../../src/features/logins/read-event.ts'
import { open, type Sallyport } from '../../../src/open/index.ts'
import type { OpenHooks } from '../../../src/service/hooks.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { requestFrom } from '../../open/requests.ts'

const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0'
const HOME = '8.1.0.1'
const POLICY: ConfigInput['policy'] = { preset: 'observe', limits: ['account-guard'] }
const SECRET = 'a secret of more than thirty-two characters'

/** A request of Node as an adapter leaves it behind. */
function inspected(sallyport: Sallyport, peer: string, userAgent = FIREFOX): object {
  const fields = ['Host', 'shop.example', 'User-Agent', userAgent]
  const decision = sallyport.decide({ ...requestFrom(peer, fields), method: 'POST', target: '/login' })
  return { rawHeaders: Object.assign([...fields], { [Symbol.for('sallyport.observation')]: { decision } }) }
}

async function opened(t: Test, more: ConfigInput = {}, hooks: OpenHooks = {}) {
  const sallyport = await open({ ...madeConfig(t.testdir()), policy: POLICY, ...more }, { onNotice() {}, ...hooks })
  t.teardown(() => sallyport.close())
  const assess = (event: Partial<AccountEvent>, peer = HOME, userAgent = FIREFOX) =>
    sallyport.accounts.assess(inspected(sallyport, peer, userAgent), {
      event: 'login',
      identifier: 'ada@shop.example',
      ...event,
    })
  return { sallyport, assess }
}

/** Returns an address of another system for each number. */
const stranger = (at: number) => `${11 + (at % 80)}.${(at >> 8) & 255}.${at & 255}.9`

t.test('10,000 addresses guess one account through two machines with one Redis', { skip: NO_REDIS }, async (t) => {
  const { url: redis } = await startRedis(t)
  const shared = { redis, challenge: { secret: SECRET }, timeouts: { counting: '5s' } }
  const both = [await opened(t, shared), await opened(t, shared)]
  const owner = { user: '17', outcome: 'success' } as const
  t.equal((await both[0]?.assess(owner))?.action, 'allow', 'the owner logs in once')
  const actions: string[] = []
  for (let at = 0; at < 10_000; at++) {
    const answer = await both[at % 2]?.assess({ user: '17', outcome: 'failure' }, stranger(at))
    actions.push(answer?.action ?? '')
    if (at % 1_000 === 999)
      t.equal((await both[at % 3 === 0 ? 0 : 1]?.assess(owner))?.action, 'allow', 'the owner, meanwhile')
  }
  t.same(actions.slice(0, 10), Array(10).fill('allow'))
  t.same([...new Set(actions.slice(10))], ['challenge'], 'from the eleventh guess on')
  t.equal(
    (await both[1]?.assess({ user: '17', outcome: 'success' }, stranger(77)))?.action,
    'challenge',
    'a right guess',
  )
  t.match(
    await both[0]?.assess({ user: '17' }, stranger(77)),
    { account: { known: false } },
    'and it makes nobody known',
  )
  t.equal((await both[0]?.assess({ identifier: 'bob@shop.example' }, stranger(3)))?.action, 'allow', 'another account')
})

t.test('an answer has its facts, and says why', async (t) => {
  const { assess } = await opened(t)
  t.match(await assess({}), {
    action: 'allow',
    account: { known: false },
    degraded: [],
    reasons: [{}, { id: 'account:unknown' }],
  })
  await assess({ outcome: 'success' })
  t.match(await assess({}), { account: { known: true, novel: false } })
  t.match(await assess({ identifier: ' ADA@shop.example' }), { account: { known: true } }, 'another spelling')
  const abroad = await assess({}, '9.1.2.3', FIREFOX.replace('X11; Linux x86_64', 'Windows NT 10.0'))
  t.match(abroad, { account: { known: false, novel: true } })
  t.match(
    abroad.reasons.map(({ id }) => id),
    ['policy:default', 'account:novel_network', 'account:novel_browser'],
  )
  t.notMatch(JSON.stringify(abroad), /ada/i, 'it names nobody')
})

t.test('an account that is there and one that is not are answered alike', async (t) => {
  const { assess } = await opened(t)
  for (let at = 0; at < 15; at++) {
    const [here, missing] = [
      await assess({ user: '17', identifier: 'ada@shop.example', outcome: 'failure' }, stranger(at)),
      await assess({ identifier: 'nobody@shop.example', outcome: 'unknown_user' }, stranger(at + 1_000)),
    ]
    const shown = ({ action, rule, account, mail, risk }: typeof here) => ({ action, rule, account, mail, risk })
    t.same(shown(missing), shown(here), `guess ${at + 1}`)
  }
})

t.test(
  'a memory that is away degrades the answer, refuses nobody and is reported once',
  { skip: NO_REDIS },
  async (t) => {
    const server = await startRedis(t)
    const faults: unknown[] = []
    const onFault = (error: unknown) => void faults.push(error)
    const shared = { redis: server.url, challenge: { secret: SECRET }, timeouts: { counting: '200ms' } }
    const { assess } = await opened(t, shared, { onFault })
    await assess({ outcome: 'success' })
    server.freeze()
    const began = performance.now()
    for (let at = 0; at < 3; at++) {
      const answer = await assess({ outcome: 'success' })
      t.equal(answer.action, 'allow')
      t.ok(answer.degraded.includes('accounts'))
      t.same(answer.account, {}, 'what is not known is not said')
    }
    t.ok(performance.now() - began < 10_000)
    t.ok(faults.length >= 1 && faults.length <= 4, `${faults.length} reports`)
    server.thaw()
    while ((await assess({})).degraded.includes('accounts')) await delay(50)
    t.match(await assess({}), { account: { known: true } })
  },
)

t.test('monitor mode and rules on trial say what they would have done', async (t) => {
  const { assess } = await opened(t, { mode: 'monitor' })
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, stranger(at))
  t.match(await assess({}, stranger(11)), { action: 'allow', trial: { rule: 'account-guess', action: 'challenge' } })
  const rule = { id: 'try', match: { event: ['login' as const] }, action: 'block' as const, monitor: true }
  const trial = await opened(t, { policy: { rules: [rule] } })
  t.match(await trial.assess({}), { action: 'allow', trial: { rule: 'try', action: 'block' } })
})

t.test('a reload puts other rules in force, and counts go on', async (t) => {
  const { sallyport, assess } = await opened(t)
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, stranger(at))
  await sallyport.reload({ ...sallyport.config, policy: { preset: 'observe', rules: [] } })
  t.equal((await assess({}, stranger(11))).action, 'allow')
  await sallyport.reload({ ...sallyport.config, policy: POLICY })
  t.equal((await assess({}, stranger(11))).action, 'challenge')
})

t.test('an event is in the metrics and the log, and is no request', async (t) => {
  const seen: ObservedRequest[] = []
  const { sallyport, assess } = await opened(t, {}, { observe: (observed) => void seen.push(observed) })
  // A keyed hash has no space, and any three characters by chance.
  await assess({ user: 'number 17', outcome: 'failure' })
  sallyport.drain()
  t.match(seen, [{ answeredBy: 'event', decision: { inspection: { event: { event: 'login', outcome: 'failure' } } } }])
  const text = await sallyport.metrics().metrics()
  t.match(text, 'sallyport_account_events_total{event="login",outcome="failure",action="allow",enforced="true"} 1')
  t.notMatch(text, /sallyport_decisions_total\{/)
  t.notMatch(JSON.stringify(seen), /ada@|number 17/)
})

t.test('an event that is none is refused, and hostile texts are names', async (t) => {
  const { sallyport, assess } = await opened(t)
  const invalid = { code: 'invalid_request' }
  await t.rejects(assess({ event: 'loggin' as 'login' }), invalid)
  await t.rejects(assess({ outcome: 'maybe' as 'success' }), invalid)
  await t.rejects(assess({ identifier: '' }), invalid)
  await t.rejects(assess({ identifier: ['a'] as unknown as string }), invalid)
  await t.rejects(assess({ identifier: undefined }), invalid)
  await t.rejects(assess({ identifier: 'x'.repeat(70_000) }), invalid)
  await t.rejects(sallyport.accounts.assess({ rawHeaders: [] }, { event: 'login', user: '1' }), {
    code: 'invalid_config',
    message: /inspection\(\)/,
  })
  for (const identifier of ['\ufdfa'.repeat(60_000), '\u0000', '__proto__', 'а'.repeat(500), "' OR 1=1 --", '\ud800']) {
    t.equal((await assess({ identifier, outcome: 'unknown_user' })).action, 'allow')
  }
})

t.test('events that are judged are remembered before a service closes, and later ones are refused', async (t) => {
  const made = { ...madeConfig(t.testdir()), policy: POLICY }
  const { sallyport, assess } = await opened(t, made)
  await assess({})
  const last = Array.from({ length: 20 }, (_, at) => assess({ identifier: `user-${at}`, outcome: 'success' }))
  await sallyport.close()
  t.strictSame(
    (await Promise.all(last)).flatMap(({ degraded }) => degraded).filter((word) => word === 'accounts'),
    [],
  )
  await t.rejects(assess({ outcome: 'failure' }), { code: 'service_unavailable' })
  await t.test('another service knows them', async (t) => {
    const again = await opened(t, made)
    for (let at = 0; at < 20; at++) {
      t.match(await again.assess({ identifier: `user-${at}` }), { account: { known: true } })
    }
  })
  await t.test('one that closes before its first event opens nothing', async (t) => {
    const never = await opened(t)
    await never.sallyport.close()
    await t.rejects(never.assess({}), { code: 'service_unavailable' })
  })
})

t.test('a domain is new for a week after its first sign-up', async (t) => {
  const clock = { now: Date.now() }
  const { assess } = await opened(t, {}, { clock: { now: () => clock.now } })
  const signup = (outcome?: 'success') => assess({ event: 'signup', identifier: 'ada@fresh.example', outcome })
  t.match(await signup(), { mail: { newDomain: true } })
  await signup('success')
  clock.now += 8 * 86_400_000
  t.match(await signup(), { mail: { newDomain: false } })
  t.match(await assess({ event: 'signup', identifier: 'ada@gmail.com' }), { mail: { newDomain: false, alias: false } })
})

t.test('an application of another language describes the visitor', async (t) => {
  const { sallyport } = await opened(t)
  const { assessDescribed } = sallyport.accounts
  const visitor = { address: HOME, headers: { 'User-Agent': FIREFOX, Cookie: ['a=1', 'b=2'] } }
  const body = { event: 'login', user: '17', identifier: 'ada', outcome: 'success', visitor }
  t.match(await assessDescribed(body), { action: 'allow', account: { known: false } })
  t.match(await assessDescribed({ ...body, outcome: undefined }), { account: { known: true } })
  for (const bad of [
    undefined,
    [],
    'x',
    { ...body, visitor: undefined },
    { ...body, visitor: { address: 'x' } },
    { ...body, event: 'x' },
    { ...body, visitor: { ...visitor, headers: [], path: 1 } },
    { ...body, visitor: { ...visitor, headers: { Cookie: { toString: 1 } } } },
    { ...body, visitor: { ...visitor, headers: { Cookie: [['a=1'], null] } } },
  ]) {
    await t.rejects(assessDescribed(bad), { code: 'invalid_request' }, JSON.stringify(bad))
  }
})

t.test('a user is exported and erased by id or identifier', async (t) => {
  const { sallyport, assess } = await opened(t)
  await assess({ user: '17', outcome: 'success' })
  await assess({ identifier: 'Bob@shop.example', outcome: 'success' })
  const { config } = sallyport
  t.match(await visitUser(config, '17', 'export'), {
    complete: true,
    places: [{ state: 'read', entries: [{ networks: [['AS7922']] }] }],
  })
  t.match(await visitUser(config, '18', 'export'), { places: [{ entries: [] }] })
  t.match(await visitUser(config, 'bob@shop.example', 'erase'), { places: [{ state: 'erased', erased: 1 }] })
  t.match(await assess({ identifier: 'bob@shop.example' }), { account: { known: false } })
  t.match(await assess({ user: '17' }), { account: { known: true } }, 'another user stays')
  const away = { ...config, redis: 'redis://127.0.0.1:1', challenge: { ...config.challenge, secret: SECRET } }
  t.match(await visitUser(away, '17', 'erase'), { complete: false, places: [{ state: 'unreachable' }] })
})
