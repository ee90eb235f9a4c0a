import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { visitUser } from '../../../src/features/logins/index.ts'
import { madeConfig } from '../../open/made-sources.ts'
import { FIREFOX, GUARD, HOME, openGuarded, SECRET, stranger } from './guarded.ts'

t.test('an answer has its facts, and says why', async (t) => {
  const { assess } = await openGuarded(t)
  const reasons = [{}, { id: 'account:unknown' }]
  t.match(await assess({}), { action: 'allow', account: { known: false }, degraded: [], reasons })
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

t.test('an account that is there and one that is not are answered alike, after the same questions', async (t) => {
  const seen: ObservedRequest[] = []
  const { sallyport, assess } = await openGuarded(t, {}, { observe: (observed) => void seen.push(observed) })
  for (let at = 0; at < 15; at++) {
    const [here, missing] = [
      await assess({ user: '17', outcome: 'failure' }, stranger(at)),
      await assess({ identifier: 'nobody@shop.example', outcome: 'unknown_user' }, stranger(at + 1_000)),
    ]
    const shown = ({ action, rule, account, mail, risk }: typeof here) => ({ action, rule, account, mail, risk })
    t.same(shown(missing), shown(here), `guess ${at + 1}`)
  }
  const eve = { user: '18', identifier: 'eve@shop.example' }
  await assess({ ...eve, outcome: 'success' })
  for (const event of ['login', 'reset', 'mfa'] as const) {
    await assess({ ...eve, event, outcome: 'failure' }, stranger(51))
    await assess({ event, identifier: 'nobody@b.example', outcome: 'unknown_user' }, stranger(52))
  }
  sallyport.drain()
  const counted = seen.slice(-6).map(({ decision }) => decision?.limits?.map(({ rule }) => rule))
  for (const at of [0, 2, 4]) t.same(counted[at], counted[at + 1], 'the same counts')
  t.ok((counted[0]?.length ?? 0) >= 8)
})

t.test('monitor mode and rules on trial say what they would have done', async (t) => {
  const { assess } = await openGuarded(t, { mode: 'monitor' })
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, stranger(at))
  t.match(await assess({}, stranger(11)), { action: 'allow', trial: { rule: 'account-guess', action: 'challenge' } })
  const rule = { id: 'try', match: { event: ['login' as const] }, action: 'block' as const, monitor: true }
  const trial = await openGuarded(t, { policy: { rules: [rule] } })
  t.match(await trial.assess({}), { action: 'allow', trial: { rule: 'try', action: 'block' } })
})

t.test('a reload puts other rules in force, and counts go on', async (t) => {
  const { sallyport, assess } = await openGuarded(t)
  for (let at = 0; at < 10; at++) await assess({ outcome: 'failure' }, stranger(at))
  await sallyport.reload({ ...sallyport.config, policy: { preset: 'observe', rules: [] } })
  t.equal((await assess({}, stranger(11))).action, 'allow')
  await sallyport.reload({ ...sallyport.config, policy: GUARD })
  t.equal((await assess({}, stranger(11))).action, 'challenge')
})

t.test('an event is in the metrics and the log, and is no request', async (t) => {
  const seen: ObservedRequest[] = []
  const { sallyport, assess } = await openGuarded(t, {}, { observe: (observed) => void seen.push(observed) })
  // A keyed hash has no space, and any three characters by chance.
  await assess({ user: 'number 17', outcome: 'failure' })
  sallyport.drain()
  t.match(seen, [{ answeredBy: 'event', decision: { inspection: { event: { event: 'login', outcome: 'failure' } } } }])
  const text = await sallyport.metrics().metrics()
  t.match(text, 'sallyport_account_events_total{event="login",outcome="failure",action="allow",enforced="true"} 1')
  t.notMatch(text, /sallyport_decisions_total\{/)
  t.notMatch(JSON.stringify(seen), /ada@|number 17/)
})

t.test('events that are judged are remembered before a service closes, and later ones are refused', async (t) => {
  const made = madeConfig(t.testdir())
  const { sallyport, assess } = await openGuarded(t, made)
  await assess({})
  const last = Array.from({ length: 20 }, (_, at) => assess({ identifier: `user-${at}`, outcome: 'success' }))
  await sallyport.close()
  for (const { degraded } of await Promise.all(last)) t.notOk(degraded.includes('accounts'))
  await t.rejects(assess({ outcome: 'failure' }), { code: 'service_unavailable' })
  await t.test('another service knows them', async (t) => {
    const again = await openGuarded(t, made)
    for (let at = 0; at < 20; at++) {
      t.match(await again.assess({ identifier: `user-${at}` }), { account: { known: true } })
    }
  })
  await t.test('one that closes before its first event opens nothing', async (t) => {
    const never = await openGuarded(t)
    await never.sallyport.close()
    await t.rejects(never.assess({}), { code: 'service_unavailable' })
  })
})

t.test('a domain is new for a week after its first sign-up', async (t) => {
  const clock = { now: Date.now() }
  const { assess } = await openGuarded(t, {}, { clock: { now: () => clock.now } })
  const signup = (identifier: string, outcome?: 'success') => assess({ event: 'signup', identifier, outcome })
  t.match(await signup('Eve <eve@fresh.example>'), { mail: { newDomain: true } }, 'an address behind a name')
  await signup('ada@fresh.example', 'success')
  clock.now += 8 * 86_400_000
  t.match(await signup('ada@fresh.example'), { mail: { newDomain: false } })
  t.match(await signup('ada@gmail.com'), { mail: { newDomain: false, alias: false } })
})

t.test('an application of another language describes the visitor', async (t) => {
  const { sallyport } = await openGuarded(t)
  const { assessDescribed } = sallyport.accounts
  const visitor = { address: HOME, headers: { 'User-Agent': FIREFOX, Cookie: ['a=1', 'b=2'] } }
  const body = { event: 'login', user: '17', identifier: 'ada', outcome: 'success', visitor }
  t.match(await assessDescribed(body), { action: 'allow', account: { known: false } })
  t.match(await assessDescribed({ ...body, outcome: undefined }), { account: { known: true } })
  for (const bad of [
    undefined,
    [],
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
  const { sallyport, assess } = await openGuarded(t)
  const bob = 'bob@shop.example'
  await assess({ user: '17', outcome: 'success' })
  await assess({ identifier: 'Bob@shop.example', outcome: 'success' })
  const { config } = sallyport
  const places = [{ state: 'read', entries: [{ networks: [['AS7922']] }] }]
  t.match(await visitUser(config, '17', 'export'), { complete: true, places })
  t.match(await visitUser(config, '18', 'export'), { places: [{ entries: [] }] })
  t.match(await visitUser(config, bob, 'erase'), { places: [{ state: 'erased', erased: 1 }] })
  t.match(await assess({ identifier: bob }), { account: { known: false } })
  t.match(await assess({ user: '17' }), { account: { known: true } }, 'another user stays')
  const away = { ...config, redis: 'redis://127.0.0.1:1', challenge: { ...config.challenge, secret: SECRET } }
  t.match(await visitUser(away, '17', 'erase'), { complete: false, places: [{ state: 'unreachable' }] })
})
