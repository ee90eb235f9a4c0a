import t from 'tap'
import { verdictOf } from '../src/inspection/verdict.ts'
import type { Snapshot } from '../src/ports.ts'
import { createFakeClock, createFakeCountries, createFakeNetworks, snapshotOf, systemOf } from '../src/testing/fakes.ts'
import { agentInspector, CHROME, fieldsOf, HOME, NOW, PROXY, RACK, requestOf } from './agents.ts'

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: systemOf({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: systemOf({ asn: 64_502, type: 'hosting', networkClass: 'hosting' }) }],
])
const LOADED = snapshotOf({ networks: NETWORKS, countries: createFakeCountries({ [HOME]: 'DE' }), rangesLoaded: true })

t.test('a verdict tells the decision in short', async (t) => {
  const { judge, decide } = agentInspector({ snapshots: { current: () => LOADED } })
  for (const request of [requestOf(fieldsOf(CHROME)), requestOf(['User-Agent', 'curl/8.5.0'], { peer: RACK })]) {
    // The first time, the second, and as one that is remembered.
    for (let again = 0; again < 4; again++) {
      const verdict = judge(request)
      const { action, enforced, networkClass, asn, country } = verdict
      const decision = verdict.decision()
      t.same(decision, decide(request))
      t.match(decision, { action, enforced })
      t.equal(networkClass, decision.inspection.network.verdict.classification)
      t.equal(asn, `AS${decision.inspection.network.asn}`)
      t.equal(country, decision.inspection.country)
      t.equal(verdict.decision(), decision, 'the same one each time')
      t.ok(
        Object.isFrozen(decision) &&
          Object.isFrozen(decision.inspection) &&
          Object.isFrozen(decision.inspection.request),
      )
    }
  }
  const unknown = judge(requestOf([], { peer: '' }))
  t.same([unknown.networkClass, unknown.asn, unknown.country], ['unknown', undefined, undefined])
})

t.test('a decision that is asked for late says what was true when it was made', async (t) => {
  const clock = createFakeClock(NOW)
  let current: Snapshot = LOADED
  const { judge, decide } = agentInspector({ clock, snapshots: { current: () => current } })
  const plain = requestOf([...fieldsOf(CHROME), 'X-Forwarded-For', HOME], {
    peer: PROXY,
    target: '/a?b',
    method: 'HEAD',
  })
  for (let again = 0; again < 3; again++) judge(plain)
  const now = JSON.stringify(decide(plain))
  const verdict = judge(plain)
  clock.advance(90_000)
  const program = { ...CHROME, 'User-Agent': 'curl/8.5.0' }
  const other = judge(requestOf([...fieldsOf(program), 'X-Forwarded-For', HOME], { peer: PROXY }))
  t.equal(other.decision().inspection.agent.class, 'unverified_bot', 'the same visitor shows something else')
  current = snapshotOf({})
  judge(plain)
  t.equal(JSON.stringify(verdict.decision()), now)
})

t.test('a fault is a verdict like any other', async (t) => {
  const faults: unknown[] = []
  const { judge } = agentInspector({
    snapshots: {
      current() {
        throw new Error('a bug')
      },
    },
    onFault: (error) => faults.push(error),
  })
  const verdict = judge(requestOf([]))
  t.match(verdict, {
    action: 'allow',
    enforced: true,
    networkClass: 'unknown',
    asn: undefined,
    country: undefined,
    trial: undefined,
  })
  t.match(verdict.decision().reasons, [{ id: 'inspection_failed' }])
  t.equal(faults.length, 1)
})

t.test('the verdict of a decision that is there has its attestation', async (t) => {
  const { decide } = agentInspector()
  const decision = decide(requestOf(fieldsOf(CHROME)))
  t.notOk('attestation' in verdictOf(decision))
  const attestation = { id: 7, claim: 'DE', action: 'allow', reason: 'match' } as const
  const attested = { ...decision, attestation }
  t.equal(verdictOf(attested).attestation, attestation)
  t.equal(verdictOf(attested).decision(), attested)
})

t.test('a decision that is asked for late is about the request as it was judged', async (t) => {
  const { judge } = agentInspector({ snapshots: { current: () => LOADED } })
  for (let again = 0; again < 4; again++) {
    const request = { ...requestOf(fieldsOf(CHROME)), target: '/before' }
    const verdict = judge(request)
    Object.assign(request, { target: '/after', method: 'PUT', peer: RACK })
    t.match(verdict.decision().inspection, { peer: HOME, request: { path: '/before', method: 'GET' } })
  }
})
