import t from 'tap'
import { clientKey, compilePolicy, policyFaults, policyWarnings, type Rule, tightest } from '../../src/index.ts'
import { LIMIT_PRESETS } from '../../src/policy/presets/limit-presets.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { CHROME, makeFields, makeRequest } from '../agents.ts'
import { openGate } from './gate.ts'

function from(peer: string, target = '/', overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return makeRequest(makeFields(CHROME), { peer, target, ...overrides })
}

function limitRule(more: Partial<Rule> & Pick<Rule, 'limit'>): Rule {
  return { id: 'few', match: {}, action: 'throttle', ...more }
}

t.test('within its limit a rule decides nothing, and the rules after it do', async (t) => {
  const few = limitRule({ match: { path: ['/login'] }, limit: { key: 'client', max: 1, window: '1m' } })
  const { ask, inspector } = openGate({
    rules: [few, { id: 'racks', match: { networkClass: ['hosting'] }, action: 'block' }],
  })
  const login = async () => (await ask(from('8.2.0.1', '/login'))).decision
  t.match(await login(), { action: 'block', reasons: [{ id: 'policy:racks' }] })
  const text = /exceeded: 1 in 1m by client/
  const limits = [{ used: 1, max: 1, exceeded: true }]
  t.match(await login(), { action: 'throttle', reasons: [{ id: 'policy:few', text }], limits })
  t.equal((await ask(from('8.9.0.1', '/elsewhere'))).decision.limits, undefined)
  t.equal(inspector.decide(from('8.9.0.1', '/login')).action, 'allow', 'deciding counts nothing')
})

t.test('then: allow opens within, only for what is proven and where all readings agree', async (t) => {
  const open = { id: 'open', action: 'block', then: 'allow', limit: { key: 'client', max: 1, window: '1m' } } as const
  const after: Rule = { id: 'all', match: {}, action: 'block' }
  const { ask } = openGate({ rules: [{ ...open, match: { path: ['/open'] } }, after] })
  const first = (await ask(from('8.9.0.1', '/open'))).decision
  t.same([first.action, first.reasons[0]?.id], ['allow', 'policy:open'])
  t.same((await ask(from('8.9.0.1', '/open'))).decision.reasons[0]?.id, 'policy:open')
  t.same((await ask(from('8.9.0.1', '/open'))).decision.action, 'block')
  t.equal((await ask(from('8.9.0.2', '/a/..%2fopen'))).decision.reasons[0]?.id, 'policy:all')
  const claimed = openGate({ rules: [{ ...open, match: { crawler: ['gptbot'] } }, after] })
  const gpt = makeRequest(['Host', 'a', 'User-Agent', 'GPTBot/1.2'], { peer: '8.9.0.1' })
  t.equal((await claimed.ask(gpt)).decision.reasons[0]?.id, 'policy:all')
})

t.test('keys of counts: each alone, combinations, and requests without such a value', async (t) => {
  const gpt = (peer: string) => makeRequest(['Host', 'a', 'User-Agent', 'GPTBot/1.2'], { peer })
  for (const [key, request, ...keys] of [
    ['client', from('8.2.0.1'), '8.2.0.1 5'],
    ['client', from('2001:db9:1:2:3::4'), '2001:db9:1:2::/64 5', '2001:db9:1::/48 80'],
    ['client', from(''), 'no-address 5'],
    ['prefix', from('8.2.0.77'), '8.2.0.0/24 5'],
    ['prefix', from('2001:db9:1:2:3::4'), '2001:db9:1::/48 5'],
    ['asn', from('8.2.0.1'), 'AS64502 5'],
    // Unknown is nobody, and a claim uses up nobody else's.
    ['asn', from('8.9.0.1')],
    ['country', from('8.9.0.1')],
    ['class', from('8.9.0.1'), 'human 5'],
    ['operator', gpt('8.2.0.1'), 'OpenAI? 8.2.0.1 5'],
    ['crawler', gpt('8.2.0.1'), 'gptbot? 8.2.0.1 5'],
    ['identity', gpt('8.2.0.1')],
    ['user', from('8.2.0.1')],
    ['user', from('8.2.0.1', '/', { user: 'ada' }), 'ada 5'],
    [['asn', 'client'], from('8.2.0.1'), 'AS64502 8.2.0.1 5'],
    [['class', 'client'], from('2001:db9::1'), 'human 2001:db9::/64 5', 'human 2001:db9::/48 80'],
  ] as const) {
    const { ask, counts } = openGate({ rules: [limitRule({ limit: { key, max: 5, window: '1m' } })] })
    await ask(request)
    const taken = counts.taken.map(({ key, max }) => `${key.replace('few sliding/60000 ', '')} ${max}`)
    t.same(taken, keys, `${key} of ${request.peer}`)
  }
})

t.test('the key of a client: an IPv4 address, or a network of IPv6 within its /48', async (t) => {
  t.same(clientKey('::ffff:192.0.2.1'), { narrow: '192.0.2.1' })
  const full = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff'
  t.same(clientKey(full), { narrow: 'ffff:ffff:ffff:ffff::/64', wide: 'ffff:ffff:ffff::/48' })
  for (const text of ['64:ff9b::c000:201', '64:ff9b:1::c000:201'])
    t.same(clientKey(text), { narrow: `${text}/128` }, 'one of IPv4 behind a translator, with all of it in a /64')
  t.same(clientKey('64:ff9b::1:0:0'), { narrow: '64:ff9b::/64', wide: '64:ff9b::/48' })
  for (const text of ['', ':', 'a:b']) t.same(clientKey(text), { narrow: 'no-address' }, 'one for all')
})

t.test('in flight: of all together, of each key, and left when the answer has ended', async (t) => {
  const rule: Rule = { id: 'export', match: { path: ['/export'] }, concurrent: 2, action: 'block' }
  const { ask, counts } = openGate({ rules: [rule] })
  const all = []
  for (const peer of ['8.9.0.1', '8.9.0.2', '8.9.0.3']) all.push(await ask(from(peer, '/export')))
  t.match(all, [{ decision: { action: 'allow' } }, {}, { decision: { action: 'block' }, ended: undefined }])
  all[0]?.ended?.(200)
  t.same(counts.left, ['export flights '])
  t.equal((await ask(from('8.9.0.3', '/export'))).decision.action, 'allow')
  const each = openGate({ rules: [{ ...rule, concurrent: { key: 'client', max: 1 } }] })
  for (const [peer, action] of Object.entries({ '8.9.0.1': 'allow', '8.9.0.2': 'allow', '::ffff:8.9.0.1': 'block' }))
    t.equal((await each.ask(from(peer, '/export'))).decision.action, action, peer)
})

t.test('what a page elsewhere has the browser send can be blocked before it is counted', async (t) => {
  const { 'Sec-Fetch-User': _user, 'Upgrade-Insecure-Requests': _upgrade, ...chrome } = CHROME
  const image = { 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'no-cors', 'Sec-Fetch-Dest': 'image' }
  const embedded = makeRequest(makeFields({ ...chrome, ...image }), { peer: '8.9.0.1' })
  const link = makeRequest(makeFields({ ...CHROME, 'Sec-Fetch-Site': 'cross-site' }), { peer: '8.9.0.1' })
  // This rule is in policy.md.
  const match = {
    headerValue: { 'sec-fetch-site': ['cross-site'] },
    not: { headerValue: { 'sec-fetch-dest': ['document'] } },
  }
  const few = limitRule({ limit: { key: 'client', max: 2, window: '1m' } })
  const { ask } = openGate({ rules: [{ id: 'embedded', match, action: 'block' }, few] })
  const actions: string[] = []
  for (const request of [embedded, embedded, embedded, link, from('8.9.0.1'), from('8.9.0.1')])
    actions.push((await ask(request)).decision.action)
  t.same(actions, ['block', 'block', 'block', 'allow', 'allow', 'throttle'])
})

t.test('a cost by number, by method and by path', async (t) => {
  const costs = async (cost: Rule['cost']) => {
    const { ask, counts } = openGate({ rules: [limitRule({ limit: { key: 'client', max: 9, window: '1m' }, cost })] })
    await ask(from('8.9.0.1', '/search'))
    await ask(from('8.9.0.1', '/', { method: 'POST' }))
    await ask(from('8.9.0.1'))
    return counts.taken.map(({ cost }) => cost)
  }
  t.same(await costs(3), [3, 3, 3])
  t.same(await costs({ '/search': 5, POST: 2 }), [5, 2, 1])
  t.same(await costs(undefined), [1, 1, 1])
})

t.test('several rules count one request, the tightest shows, and trials do nothing', async (t) => {
  const rules: readonly Rule[] = [
    limitRule({ id: 'wide', limit: { key: 'class', max: 100, window: '1h' } }),
    limitRule({ id: 'tried', limit: { key: 'client', max: 1, window: '1m' }, monitor: true, action: 'block' }),
    limitRule({ id: 'tight', limit: { key: 'client', max: 3, window: '1m' }, action: 'flag' }),
  ]
  const { ask } = openGate({ rules })
  await ask(from('8.9.0.1'))
  const second = (await ask(from('8.9.0.1'))).decision
  t.equal(second.action, 'allow')
  t.same(second.trial, { rule: 'tried', action: 'block' })
  t.equal(tightest(second.limits ?? [])?.rule, 'tight')
  await ask(from('8.9.0.1'))
  const fourth = (await ask(from('8.9.0.1'))).decision
  t.same([fourth.action, fourth.trial?.rule], ['flag', 'tried'])
  t.same([second.trials, fourth.trials], [[second.trial], [fourth.trial]])
  const once = limitRule({ limit: { key: 'client', max: 1, window: '1m' } })
  const monitoring = openGate({ rules: [once] }, { mode: 'monitor' })
  await monitoring.ask(from('8.9.0.1'))
  const beyond = (await monitoring.ask(from('8.9.0.1'))).decision
  t.same([beyond.action, beyond.enforced], ['throttle', false])
})

t.test('faults of counting rules are said, each with its place', async (t) => {
  const limit = { key: 'client', max: 5, window: '1m' } as const
  for (const [given, expected] of [
    [{ limit: { ...limit, window: 0 } }, 'limit.window: 0 is not a duration'],
    [{ limit: { ...limit, window: '0s' } }, 'limit.window: "0s" is not a duration'],
    [{ limit: { ...limit, max: 0 } }, 'limit.max: 0 is not a whole number'],
    [{ limit: { ...limit, key: 'clients' as 'client' } }, 'limit.key: "clients" is unknown; did you mean "client"?'],
    [{ limit: { ...limit, key: [] } }, 'limit.key: the list of keys to count by is empty'],
    [{ limit: { ...limit, key: ['asn', 'asn'] } }, 'limit.key: lists a key twice'],
    [{ limit: { ...limit, kind: 'slide' as 'sliding' } }, 'limit.kind: "slide" is unknown'],
    [{ limit: { ...limit, count: 'failures' as 'failure' } }, 'limit.count: "failures" is unknown'],
    [{ limit: { ...limit, failures: [401] } }, 'limit.failures: applies only to a limit with count: failure'],
    [{ limit: { ...limit, count: 'failure', failures: [] } }, 'limit.failures: the list of failure statuses is empty'],
    [{ limit: { ...limit, count: 'failure', failures: [401, 99] } }, 'limit.failures.1: 99 is not a status'],
    [{ limit: { ...limit, burst: 5 } }, 'limit.burst: applies only to a limit with kind: bucket'],
    [{ limit, action: 'allow' }, 'action: a limit cannot allow'],
    [{ limit, cost: -1 }, 'cost: -1 is not a cost'],
    [{ limit, cost: { search: 2 } }, 'cost.search: "search" is not a method in capitals or a path'],
    [{ concurrent: 0 }, 'concurrent: 0 is not a whole number'],
    [{ action: 'throttle' }, 'action: throttle needs a limit'],
    [{ then: 'allow', action: 'block' }, 'then: has no effect without a limit'],
    [{ limit, then: 'allow', onError: 'block' }, 'onError: then: allow excludes onError'],
  ] as const) {
    const rule: Rule = { id: 'r', match: {}, action: 'throttle', ...given }
    const [fault] = policyFaults({ preset: 'observe', rules: [rule] })
    t.match(`${fault?.path.slice(2).join('.')}: ${fault?.message}`, expected)
  }
  const strikes = { count: 3, window: '1m', on: ['blocked', 'status:404', 'status:200', 'gone'], for: '0s' }
  const places = policyFaults({ preset: 'observe', rules: [], strikes }).map(({ path }) => path.join('.'))
  t.same(places, ['strikes.for', 'strikes.on.2', 'strikes.on.3'])
  t.throws(() => compilePolicy({ preset: 'observe', rules: [], limits: ['none' as 'login-guard'] }), /no-such|unknown/)
  const byUser = limitRule({ limit: { ...limit, key: 'user' } })
  t.match(policyWarnings({ preset: 'observe', rules: [byUser] })[0]?.message, 'the rule counts by user')
})

t.test('a rule with the id of a rule of its preset has counts of its own, and its own reason', async (t) => {
  const { ask } = openGate({
    limits: ['login-guard'],
    rules: [{ id: 'login-guard', match: {}, action: 'block', limit: { key: 'client', max: 20, window: '1h' } }],
  })
  const login = from('8.2.0.1', '/login', { method: 'POST' })
  const fail = async () => {
    const { decision, ended } = await ask(login)
    ended?.(401)
    return decision
  }
  for (let call = 0; call < 10; call++) t.equal((await fail()).action, 'allow', `call ${call}`)
  t.match(await fail(), { action: 'challenge', reasons: [{ text: /10 failures in 1h by browser/ }] })
})

t.test('the presets of limits are policies without a fault, and do what their names say', async (t) => {
  for (const [name, rules] of Object.entries(LIMIT_PRESETS))
    t.same(policyFaults({ preset: 'observe', rules }), [], name)
  const { ask } = openGate({ limits: ['polite-crawlers', 'login-guard', 'api-fair-use'] })
  const countPassed = async (request: InspectionRequest, calls: number) => {
    let allowed = 0
    for (let call = 0; call < calls; call++) if ((await ask(request)).decision.action === 'allow') allowed++
    return allowed
  }
  t.equal(await countPassed(makeRequest(['Host', 'a', 'User-Agent', 'GPTBot/1.2'], { peer: '8.9.0.1' }), 40), 10)
})
