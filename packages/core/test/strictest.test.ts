import t from 'tap'
import { limited } from '../src/counting/limited.ts'
import { type Action, compilePolicy, type Decision, strictest } from '../src/index.ts'
import type { Counting } from '../src/values/counting.ts'
import { agentInspector, makeRequest } from './agents.ts'
import { createVerifier, signedFields } from './signed-requests.ts'

function decision(action: Action, enforced = true, counting?: Counting): Decision {
  const known = { action, enforced, reasons: [], inspection: {} }
  return { ...known, ...(counting !== undefined && { counting }) } as unknown as Decision
}

function counted(mode: Counting['mode'], ...ids: readonly string[]): Counting {
  const about = { action: 'throttle', onTrial: false }
  const rules = ids.map((id) => ({ cost: 1, rule: { id, countedAs: id, reason: { id, text: '' }, ...about } }))
  return { mode, rules } as Counting
}

t.test('an enforced refusal goes first, then the stricter action, then an enforced one', async (t) => {
  const enforced = [decision('block'), decision('throttle')]
  const tried = [decision('block', false), decision('throttle', false)]
  const order = [...enforced, ...tried, decision('flag'), decision('flag', false), decision('allow')]
  for (const [at, one] of order.entries()) {
    for (const other of order.slice(at)) {
      t.equal(strictest([one, other]), one)
      t.equal(strictest([other, one]), one)
    }
  }
  t.equal(strictest([decision('allow'), order[0] as Decision, decision('flag')]), order[0])
})

t.test('a request that goes on is counted by the limits of all, each once, a refused one by its own', async (t) => {
  const one = decision('allow', true, counted('monitor', 'a', 'b'))
  const other = decision('flag', true, counted('enforce', 'b', 'c'))
  const both = strictest([one, other])
  t.match(both, { action: 'flag', counting: { mode: 'enforce' } })
  const found = both.counting?.rules.map(({ rule }) => rule.id)
  t.same(found, ['a', 'b', 'c'])
  t.equal(strictest([one, decision('flag')]).counting?.mode, 'monitor')
  t.equal(strictest([one, decision('block')]).counting, undefined)
})

t.test('a block of a policy in monitor mode is not carried out by the limits of another', async (t) => {
  const found = strictest([decision('block', false), decision('allow', true, counted('enforce', 'c'))])
  const use = { rule: 'c', action: 'throttle', onTrial: false, used: 1, max: 1, resetMs: 1 } as const
  const { rules } = counted('enforce', 'c')
  t.match(limited(found, [{ ...use, exceeded: false }], rules, false), { action: 'block', enforced: false })
  t.match(limited(found, [{ ...use, exceeded: true }], rules, false), { action: 'throttle', enforced: true })
})

t.test('a nonce is used up once, however many policies decide about its request', async (t) => {
  const policy = compilePolicy({ preset: 'observe', rules: [] })
  const inspector = agentInspector({ policy, signatures: createVerifier().verifier })
  const request = makeRequest(signedFields({ nonce: 'once' }))
  const outcomes = [inspector.decide(request), inspector.decide(request, { policy }), inspector.decide({ ...request })]
  const found = outcomes.map(({ inspection }) => inspection.agent.identity?.verified ?? false)
  t.same(found, [true, true, false])
})
