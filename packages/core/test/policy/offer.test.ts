import t from 'tap'
import { parseTrust } from '../../src/address/client.ts'
import { createCounter } from '../../src/counting/counter.ts'
import { createInspector } from '../../src/inspection/inspector.ts'
import { strictest } from '../../src/inspection/strictest.ts'
import { policyFaults } from '../../src/policy/check/faults.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Rule } from '../../src/policy/policy.ts'
import { writeRobots } from '../../src/robots/robots-text.ts'
import { createFakeClock, createFakeCounts, makeSnapshots } from '../../src/testing/fakes.ts'
import { isStricter, plainAction } from '../../src/vocabulary.ts'

const OFFER = { price: 'USD 0.01', licence: 'https://a.example/l.xml' }
const paid: Rule = { id: 'paid', match: { path: ['/a/**'] }, action: 'offer', offer: OFFER }
const TERMS = { network: 'eip155:8453', asset: '0xA', amount: '10000', payTo: '0xB' }

function createGate(rules: readonly Rule[], mode: 'enforce' | 'monitor' = 'enforce') {
  const inspector = createInspector({
    clock: createFakeClock('2026-11-26T00:00:00Z'),
    snapshots: makeSnapshots({}),
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode,
  })
  return (target: string) =>
    inspector.decide({ peer: '8.3.0.9', method: 'GET', target, scheme: 'https', httpVersion: '1.1', fields: [] })
}

t.test('a rule offers, and decides before the rules after it', async (t) => {
  const block: Rule = { id: 'rest', match: {}, action: 'block' }
  const decide = createGate([paid, block])
  t.match(decide('/a/b'), { action: 'offer', enforced: true, offer: OFFER, reasons: [{ id: 'policy:paid' }] })
  t.equal(decide('/b').action, 'block')
  t.match(createGate([paid], 'monitor')('/a/b'), { action: 'offer', enforced: false })
  t.match(createGate([{ ...paid, monitor: true }])('/a/b'), {
    action: 'allow',
    trial: { rule: 'paid', action: 'offer' },
  })
  t.ok(isStricter('offer', 'challenge') && isStricter('throttle', 'offer'))
  t.equal(plainAction('offer'), 'block', 'for /v1, whose callers cannot pay')
  t.equal(strictest([decide('/a/b'), createGate([])('/a/b')]).action, 'offer')
})

t.test('a rule with a limit offers beyond it', async (t) => {
  const decide = createGate([{ ...paid, limit: { key: 'client', max: 1, window: '1m' } }])
  const counter = createCounter({ counts: createFakeCounts(createFakeClock('2026-11-26T00:00:00Z')), flights: 'test' })
  t.match((await counter.count(decide('/a/b'))).decision, { action: 'allow', offer: undefined })
  t.match((await counter.count(decide('/a/b'))).decision, { action: 'offer', enforced: true, offer: OFFER })
  const few: Rule = { id: 'few', match: {}, action: 'throttle', limit: { key: 'client', max: 1, window: '1m' } }
  const throttling = createGate([few, paid])
  t.match((await counter.count(throttling('/a/b'))).decision, { action: 'offer', offer: OFFER }, 'within another limit')
  t.match((await counter.count(throttling('/a/b'))).decision, { action: 'throttle', offer: undefined }, 'beyond it')
})

t.test('what a rule cannot offer is said', async (t) => {
  const listFaults = (more: object) =>
    policyFaults({ preset: 'observe', rules: [{ ...paid, ...more }] }).map(
      ({ path, message }) => `${path.join('.')}: ${message}`,
    )
  const offer = (more: object) => listFaults({ offer: { ...OFFER, ...more } })
  t.same(listFaults({}), [])
  for (const price of ['USD 1', 'EUR 0.00000001', 'JPY 100']) t.same(offer({ price }), [], price)
  for (const price of [
    '',
    '0.01',
    'USD 0',
    'USD 0.00',
    'usd 1',
    'USD  1',
    'USD -1',
    'USD 1e3',
    'USD 1,5',
    'USD 1\r\nx: y',
  ])
    t.match(offer({ price }), [/^rules\.0\.offer\.price: .* is not a price such as USD 0\.01$/], price)
  for (const licence of ['javascript:1', '/l.xml', 'https://a.example/<l>', 'https://a.example/ x'])
    t.match(offer({ licence }), [/^rules\.0\.offer\.licence: .* is not an http URL$/], licence)
  t.same(offer({ x402: [TERMS] }), [])
  t.match(offer({ x402: [] }), [/the list of payments is empty/])
  t.match(offer({ x402: [TERMS, { ...TERMS, network: 'base', amount: '0.01' }] }), [
    /^rules\.0\.offer\.x402\.1\.network: "base" is not a CAIP-2 network/,
    /^rules\.0\.offer\.x402\.1\.amount: "0\.01" is not an amount in the smallest unit/,
  ])
  t.match(listFaults({ offer: undefined }), [/needs a price/])
  t.match(listFaults({ action: 'block' }), [/applies only to the action offer/])
  t.match(listFaults({ match: { event: ['login'] } }), [/events cannot have a price/])
})

t.test('robots.txt refuses nothing that is offered', async (t) => {
  const policy = compilePolicy({
    preset: 'observe',
    rules: [{ ...paid, match: { path: ['/a/**'], purpose: ['training'] } }],
  })
  const { text, unspoken } = writeRobots({ parts: [{ policy, mode: 'enforce' }] })
  t.notMatch(text, /Disallow: \/a/)
  t.same(unspoken, [])
})
