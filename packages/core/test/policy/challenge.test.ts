import t from 'tap'
import { type Decision, type InspectedPass, plainAction, policyFaults } from '../../src/index.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import { makeRequest } from '../agents.ts'
import { openGate } from './gate.ts'

const ASK: Rule = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } }
const TOR: Rule = { id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }

/** A cookie names the level of a visitor's pass, so that a rule is all that is tried here. */
function createGate(rules: readonly Rule[], more: Partial<Policy> = {}, mode: 'enforce' | 'monitor' = 'enforce') {
  const findPass = ({ fields }: InspectionRequest): InspectedPass | undefined => {
    const level = Number(fields[fields.indexOf('Cookie') + 1]) as InspectedPass['level']
    return fields.includes('Cookie') ? { id: 'passpasspas', level, age: 60 } : undefined
  }
  const gate = openGate({ rules, ...more }, { mode, findPass })
  const ask = async (described: Partial<InspectionRequest> & { readonly level?: number | undefined } = {}) => {
    const { level, fields = [], ...overrides } = described
    const held = level === undefined ? [] : ['Cookie', String(level)]
    const request = makeRequest(['Host', 'example.com', ...fields, ...held], { peer: '8.1.0.1', ...overrides })
    return (await gate.ask(request)).decision
  }
  return { ask }
}

const readAction = ({ action }: Decision): string => action

t.test('a rule that asks decides nothing for who holds a pass of its level, and those after it go on', async (t) => {
  const { ask } = createGate([ASK, TOR])
  const challenge = { level: 2, passMs: 43_200_000, script: false }
  t.match(await ask(), { action: 'challenge', enforced: true, challenge })
  t.equal(readAction(await ask({ level: 1 })), 'challenge')
  t.equal(readAction(await ask({ level: 2 })), 'allow')
  t.equal(readAction(await ask({ level: 3 })), 'allow')
  t.equal((await ask({ level: 3 })).challenge, undefined)
  t.equal(plainAction('challenge'), 'flag', 'on the wire of /v1')
  t.equal(readAction(await ask({ level: 3, peer: '8.4.0.1' })), 'block', 'a pass lets Tor not in')
  t.equal(readAction(await ask()), 'challenge', 'nothing was remembered of the visitor that held one')
})

t.test('what was decided is kept for who comes with a pass of that level, and for nobody else', async (t) => {
  const alone = createGate([ASK])
  // The request of a visitor is known again from the second one on.
  for (let seen = 0; seen < 3; seen++) await alone.ask({ level: 2 })
  const kept = (await alone.ask({ level: 2 })).reasons
  t.equal((await alone.ask({ level: 2 })).reasons, kept)
  for (const level of [1, undefined]) t.equal(readAction(await alone.ask({ level })), 'challenge', `level ${level}`)
  for (const level of [3, 2]) t.equal(readAction(await alone.ask({ level })), 'allow', `level ${level}`)
  t.equal(readAction(await alone.ask({ target: '/robots.txt' })), 'allow')
  t.equal(readAction(await alone.ask({ target: '/' })), 'challenge')
})

t.test('trials and monitor mode ask nobody, and say who would have been asked', async (t) => {
  const trial = createGate([{ ...ASK, monitor: true }])
  t.match(await trial.ask(), { action: 'allow', trial: { rule: 'ask', action: 'challenge' }, challenge: undefined })
  t.equal((await trial.ask({ level: 2 })).trial, undefined)
  t.match(await createGate([ASK], {}, 'monitor').ask(), { action: 'challenge', enforced: false })
})

t.test('never asked, whatever the rule', async (t) => {
  const { ask } = createGate([ASK], { allowlist: ['8.1.9.0/24'] })
  for (const target of ['/favicon.ico', '/.well-known/security.txt', '/.well-known/acme-challenge/x', '/robots.txt?a'])
    t.equal(readAction(await ask({ target })), 'allow', target)
  for (const target of ['/.well-known/%2e%2e/secret', '/.well-known//..;/secret', '/robots.txt/x', '/a/robots.txt'])
    t.equal(readAction(await ask({ target })), 'challenge', target)
  for (const peer of ['127.0.0.1', '10.1.2.3', '::1', '192.168.1.1', '8.1.9.7'])
    t.equal(readAction(await ask({ peer })), 'allow', peer)
  for (const peer of ['64:ff9b::b9dc:650a', '2002:b9dc:650a::1', '2001:0:4136:e378::1', '254.252.239.103'])
    t.equal(readAction(await ask({ peer })), 'challenge', `${peer} may be anybody`)
  const fields = ['Origin', 'https://a.example', 'Access-Control-Request-Method', 'POST']
  t.equal(readAction(await ask({ method: 'OPTIONS', fields })), 'allow')
  t.equal(readAction(await ask({ method: 'OPTIONS' })), 'challenge')
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
