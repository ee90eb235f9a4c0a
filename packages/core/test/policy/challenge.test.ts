import t from 'tap'
import { parseTrust } from '../../src/address/client.ts'
import { createCounter } from '../../src/counting/counter.ts'
import { createInspector } from '../../src/inspection/inspector.ts'
import { policyFaults } from '../../src/policy/check/faults.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import {
  createFakeClock,
  createFakeCounts,
  createFakeNetworks,
  makeSnapshot,
  makeSystem,
} from '../../src/testing/fakes.ts'
import type { InspectedPass } from '../../src/values/challenge.ts'
import type { Decision } from '../../src/values/decision.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { plainAction } from '../../src/vocabulary.ts'

const ASK: Rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }
const TOR: Rule = { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.4.0.0/16', { system: makeSystem({ asn: 64_504, name: 'Onions', type: 'tor', networkClass: 'tor' }) }],
])

/** The pass of a visitor is in a field of its own, so that a rule is all that is tried here. */
function createGate(rules: readonly Rule[], more: Partial<Policy> = {}, mode: 'enforce' | 'monitor' = 'enforce') {
  const clock = createFakeClock('2026-11-26T00:00:00Z')
  const snapshot = makeSnapshot({ networks: NETWORKS, rangesLoaded: true })
  const inspector = createInspector({
    clock,
    snapshots: { current: () => snapshot },
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules, ...more }),
    mode,
    passOf: ({ fields }): InspectedPass | undefined => {
      const level = Number(fields[fields.indexOf('x-level') + 1]) as InspectedPass['level']
      return fields.includes('x-level') ? { id: 'passpasspas', level, age: 60 } : undefined
    },
  })
  const counter = createCounter({ counts: createFakeCounts(clock), flights: 'test' })
  const ask = async (described: Partial<InspectionRequest> & { readonly level?: number | undefined } = {}) => {
    const { level, fields = [], ...overrides } = described
    const held = level === undefined ? [] : ['x-level', String(level)]
    const request: InspectionRequest = {
      peer: '8.1.0.1',
      method: 'GET',
      target: '/',
      scheme: 'https',
      httpVersion: '1.1',
      ...overrides,
      fields: ['Host', 'example.com', ...fields, ...held],
    }
    return (await counter.count(inspector.decide(request))).decision
  }
  return { ask }
}

function readAction({ action }: Decision): string {
  return action
}

t.test('a rule that asks decides nothing for who holds a pass of its level, and those after it go on', async (t) => {
  const { ask } = createGate([ASK, TOR])
  t.match(await ask(), {
    action: 'challenge',
    enforced: true,
    challenge: { level: 2, passMs: 43_200_000, script: false },
  })
  t.equal(readAction(await ask({ level: 1 })), 'challenge')
  t.equal(readAction(await ask({ level: 2 })), 'allow')
  t.equal(readAction(await ask({ level: 3 })), 'allow')
  t.equal((await ask({ level: 3 })).challenge, undefined)
  t.equal(readAction(await ask({ level: 3, peer: '8.4.0.1' })), 'block', 'a pass lets Tor not in')
  t.equal(readAction(await ask()), 'challenge', 'nothing was remembered of the visitor that held one')
})

t.test('what was decided is kept for who comes with a pass of that level, and for nobody else', async (t) => {
  const { ask } = createGate([ASK, { id: 'shut', match: { path: ['/shut'] }, action: 'block' }])
  const budget = createGate([{ ...ASK, limit: { key: 'pass', max: 3, window: '1h' } }])
  const listReasons = async (level?: 1 | 2 | 3) => (await ask({ level })).reasons
  // The request of a visitor is known again from the second one on.
  for (let seen = 0; seen < 3; seen++) await ask({ level: 2 })
  t.not(await listReasons(2), await listReasons(2), 'a rule about the path is asked each time')
  const alone = createGate([ASK])
  for (let seen = 0; seen < 3; seen++) await alone.ask({ level: 2 })
  const kept = (await alone.ask({ level: 2 })).reasons
  t.equal((await alone.ask({ level: 2 })).reasons, kept)
  for (const [level, action] of [
    [1, 'challenge'],
    [undefined, 'challenge'],
    [3, 'allow'],
    [2, 'allow'],
  ] as const) {
    t.equal(readAction(await alone.ask({ level })), action, `level ${level}`)
  }
  t.equal(readAction(await alone.ask({ level: undefined, target: '/robots.txt' })), 'allow')
  t.equal(readAction(await alone.ask({ level: undefined, target: '/' })), 'challenge')
  const spent: string[] = []
  for (let asked = 0; asked < 5; asked++) spent.push(readAction(await budget.ask({ level: 2 })))
  t.same(spent, ['allow', 'allow', 'allow', 'challenge', 'challenge'], 'each is counted')
})

t.test('trials and monitor mode ask nobody, and say who would have been asked', async (t) => {
  const trial = createGate([{ ...ASK, monitor: true }])
  t.match(await trial.ask(), { action: 'allow', trial: { rule: 'ask', action: 'challenge' }, challenge: undefined })
  t.equal((await trial.ask({ level: 2 })).trial, undefined)
  t.match(await createGate([ASK], {}, 'monitor').ask(), { action: 'challenge', enforced: false })
})

t.test('never asked, whatever the rule', async (t) => {
  const { ask } = createGate([ASK], { allowlist: ['8.1.9.0/24'] })
  for (const target of [
    '/robots.txt',
    '/favicon.ico',
    '/.well-known/security.txt',
    '/.well-known/acme-challenge/x',
    '/robots.txt?a',
  ]) {
    t.equal(readAction(await ask({ target })), 'allow', target)
  }
  for (const target of [
    '/.well-known/../secret',
    '/.well-known/%2e%2e/secret',
    '/.well-known//..;/secret',
    '/robots.txt/x',
    '/a/robots.txt',
  ]) {
    t.equal(readAction(await ask({ target })), 'challenge', target)
  }
  for (const peer of ['127.0.0.1', '10.1.2.3', '::1', '192.168.1.1', '8.1.9.7'])
    t.equal(readAction(await ask({ peer })), 'allow', peer)
  for (const peer of ['64:ff9b::b9dc:650a', '2002:b9dc:650a::1', '2001:0:4136:e378::1', '254.252.239.103'])
    t.equal(readAction(await ask({ peer })), 'challenge', `${peer} may be anybody`)
  const preflight = {
    method: 'OPTIONS',
    fields: ['Origin', 'https://a.example', 'Access-Control-Request-Method', 'POST'],
  }
  t.equal(readAction(await ask(preflight)), 'allow')
  t.equal(readAction(await ask({ method: 'OPTIONS' })), 'challenge')
})

t.test('a mail program is challenged by a rule of the user as anything else is', async (t) => {
  const { ask } = createGate([ASK])
  const mozilla = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101'
  for (const name of ['Thunderbird/128.0', 'Firefox/128.0 Thunderbird/1', 'Firefox/128.0'])
    t.equal(readAction(await ask({ fields: ['User-Agent', `${mozilla} ${name}`] })), 'challenge', name)
})

t.test('a limit that asks does so beyond it, and the budget of a pass asks who holds one', async (t) => {
  const often = createGate([{ ...ASK, limit: { key: 'client', max: 2, window: '1h' } }])
  const some = []
  for (let call = 0; call < 4; call++) some.push(await often.ask())
  t.same(some.map(readAction), ['allow', 'allow', 'challenge', 'challenge'])
  t.match(some[3], { challenge: { level: 2 } })
  t.equal(readAction(await often.ask({ level: 2 })), 'allow')
  const budget = createGate([{ ...ASK, limit: { key: 'pass', max: 2, window: '1h' } }])
  const held = []
  for (let call = 0; call < 4; call++) held.push(await budget.ask({ level: 3, peer: `8.1.0.${call}` }))
  t.same(held.map(readAction), ['allow', 'allow', 'challenge', 'challenge'])
  t.equal(readAction(await budget.ask()), 'allow', 'who has none has no budget')
})

t.test('rules read the pass', async (t) => {
  const { ask } = createGate([
    { id: 'known', match: { pass: { atLeast: 2 } }, action: 'allow' },
    { id: 'none', match: { pass: 'none' }, action: 'block' },
    { id: 'low', match: { pass: { atMost: 1 } }, action: 'flag' },
  ])
  t.equal(readAction(await ask({ level: 2 })), 'allow')
  t.equal(readAction(await ask()), 'block')
  t.equal(readAction(await ask({ level: 1 })), 'flag')
})

t.test('what cannot be meant is a fault with its place', async (t) => {
  const listFaults = (rule: Partial<Rule>) =>
    policyFaults({ preset: 'observe', rules: [{ ...ASK, ...rule }] }).map(({ path }) => path.slice(2).join('.'))
  t.same(listFaults({}), [])
  t.same(listFaults({ action: 'block' }), ['challenge'])
  t.same(listFaults({ challenge: { level: 4 as never } }), ['challenge.level'])
  for (const pass of ['1s', '32d', 'long', 0])
    t.same(listFaults({ challenge: { pass } }), ['challenge.pass'], String(pass))
  t.same(listFaults({ challenge: { script: 'required' } }), ['challenge.script'])
  t.same(listFaults({ match: { pass: { atLeast: 4 } } }), ['match.pass.atLeast'])
  t.same(listFaults({ weight: 1 }), ['weight'])
})

t.test('on the wire of /v1 a question is a flag', async (t) => {
  t.equal(plainAction('challenge'), 'flag')
})
