import t from 'tap'
import { parseTrust } from '../../src/address/client.ts'
import { createInspector } from '../../src/inspection/inspector.ts'
import { PRIVATE_RELAY } from '../../src/network/private-relay.ts'
import { compilePolicy } from '../../src/policy/compile/compile-policy.ts'
import type { Policy, Rule } from '../../src/policy/policy.ts'
import type { Snapshot } from '../../src/ports/index.ts'
import {
  createFakeClock,
  createFakeCountries,
  createFakeNetworks,
  makeHit,
  makeSnapshot,
  makeSystem,
} from '../../src/testing/fakes.ts'
import type { Decision } from '../../src/values/decision.ts'
import type { InspectionRequest } from '../../src/values/request.ts'
import type { Mode } from '../../src/vocabulary.ts'

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, name: 'Home', type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, name: 'Racks', type: 'hosting', networkClass: 'hosting' }) }],
  [
    '8.3.0.0/16',
    { system: makeSystem({ asn: 64_503, name: 'Tunnels', type: 'vpn', networkClass: 'vpn', brand: 'Tunnels' }) },
  ],
  ['8.4.0.0/16', { system: makeSystem({ asn: 64_504, name: 'Onions', type: 'tor', networkClass: 'tor' }) }],
])

const SNAPSHOT = makeSnapshot({
  networks: NETWORKS,
  countries: createFakeCountries({ '8.1.1.1': 'DE', '8.2.1.1': 'FR' }),
  rangesLoaded: true,
})

function inspectorFor(policy: Policy, mode: Mode = 'enforce', snapshot: Snapshot = SNAPSHOT) {
  return createInspector({
    clock: createFakeClock('2026-11-21T00:00:00Z'),
    snapshots: { current: () => snapshot },
    trust: parseTrust([]),
    policy: compilePolicy(policy),
    mode,
  })
}

function requestFrom(peer: string, overrides: Partial<InspectionRequest> = {}): InspectionRequest {
  return {
    peer,
    method: 'GET',
    target: '/',
    scheme: 'http',
    httpVersion: '1.1',
    fields: ['Host', 'example.com', 'User-Agent', 'Lynx/2.9', 'Accept', 'text/html', 'Accept-Language', 'en'],
    ...overrides,
  }
}

function decideWith(rules: readonly Rule[], request: InspectionRequest, mode?: Mode): Decision {
  return inspectorFor({ preset: 'observe', rules }, mode).decide(request)
}

t.test('the first rule that matches decides, the user’s before the preset’s', async (t) => {
  const rules: readonly Rule[] = [
    { id: 'friends', match: { asn: [64_503] }, action: 'allow' },
    { id: 'no-tunnels', match: { networkClass: ['vpn'] }, action: 'block' },
  ]
  const inspector = inspectorFor({ preset: 'low-friction', rules })
  t.match(inspector.decide(requestFrom('8.3.1.1')), {
    action: 'allow',
    enforced: true,
    reasons: [{ id: 'policy:friends' }, {}],
  })
  t.match(inspector.decide(requestFrom('8.4.1.1')), { action: 'flag', reasons: [{ id: 'policy:anonymised' }, {}] })
})

t.test('each member of a match is asked, and all of them must hold', async (t) => {
  const rule = (match: Rule['match']): readonly Rule[] => [{ id: 'rule', match, action: 'block' }]
  const rows: readonly (readonly [match: Rule['match'], request: InspectionRequest, blocked: boolean])[] = [
    [{}, requestFrom('8.1.1.1'), true],
    [{ networkClass: ['tor', 'hosting'] }, requestFrom('8.2.1.1'), true],
    [{ networkClass: ['tor'] }, requestFrom('8.2.1.1'), false],
    [{ asn: [64_502] }, requestFrom('8.2.1.1'), true],
    [{ asn: [64_502] }, requestFrom('8.9.9.9'), false],
    [{ provider: ['tunnels'] }, requestFrom('8.3.1.1'), true],
    [{ provider: ['Relay', 'TUNNELS'] }, requestFrom('8.3.1.1'), true],
    [{ provider: ['Relay'] }, requestFrom('8.3.1.1'), false],
    [{ provider: ['Tunnels'] }, requestFrom('8.1.1.1'), false],
    [{ country: ['FR'] }, requestFrom('8.2.1.1'), true],
    [{ country: ['FR'] }, requestFrom('8.1.1.1'), false],
    [{ country: ['FR'] }, requestFrom('8.4.1.1'), false],
    [{ method: ['post'] }, requestFrom('8.1.1.1', { method: 'POST' }), true],
    [{ method: ['POST'] }, requestFrom('8.1.1.1'), false],
    [{ path: ['/admin/**'] }, requestFrom('8.1.1.1', { target: '/admin/users?id=1' }), true],
    [{ path: ['/admin/**'], country: ['FR'] }, requestFrom('8.1.1.1', { target: '/admin' }), false],
    [{ path: ['/admin/**'], country: ['DE'] }, requestFrom('8.1.1.1', { target: '/admin' }), true],
  ]
  for (const [match, request, blocked] of rows) {
    t.equal(decideWith(rule(match), request).action, blocked ? 'block' : 'allow', JSON.stringify(match))
  }
})

t.test('the private relay is exempted by name while other VPNs are not', async (t) => {
  const relay = makeHit({ networkClass: 'vpn', provider: PRIVATE_RELAY })
  const snapshot = makeSnapshot({
    networks: createFakeNetworks([
      ['8.5.0.0/16', { range: relay }],
      ['8.6.0.0/16', { range: makeHit({ networkClass: 'vpn', provider: 'Tunnels' }) }],
    ]),
  })
  const rules: readonly Rule[] = [
    { id: 'relay', match: { provider: [PRIVATE_RELAY] }, action: 'allow' },
    { id: 'no-vpn', match: { networkClass: ['vpn'] }, action: 'block' },
  ]
  const inspector = inspectorFor({ preset: 'low-friction', rules }, 'enforce', snapshot)
  t.equal(inspector.decide(requestFrom('8.5.0.1')).action, 'allow')
  t.equal(inspector.decide(requestFrom('8.6.0.1')).action, 'block')
})

t.test('no spelling of bytes escapes a block', async (t) => {
  const odd: readonly Rule[] = [{ id: 'odd', match: { path: ['/@caf%C3%A9'] }, action: 'block' }]
  for (const target of ['/@caf%C3%A9', '/%40caf%c3%a9', '/@caf\u00c3\u00a9']) {
    t.equal(decideWith(odd, requestFrom('8.1.1.1', { target })).action, 'block', target)
  }
})

t.test('a policy with a word it cannot mean is refused by name', async (t) => {
  const rows: readonly (readonly [rules: unknown, message: RegExp])[] = [
    [[{ id: 'a', match: { networkClass: ['tunnel'] }, action: 'block' }], /"a".*networkClass.*tunnel/],
    [[{ id: 'a', match: { country: ['Germany'] }, action: 'block' }], /country.*Germany/],
    [[{ id: 'a', match: { country: ['UK'] }, action: 'block' }], /country.*UK/],
    [[{ id: 'a', match: { asn: [-1] }, action: 'block' }], /asn.*-1/],
    [[{ id: 'a', match: { provider: [' '] }, action: 'block' }], /provider/],
    [[{ id: 'a', match: { path: ['admin'] }, action: 'block' }], /path.*admin/],
    [[{ id: 'a', match: { crawler: ['Googlebot'] }, action: 'flag' }], /crawler: "Googlebot" is unknown/],
    [[{ id: 'a', match: { crawlerOutcome: ['maybe'] }, action: 'flag' }], /crawlerOutcome: "maybe" is unknown/],
    [[{ id: 'a', match: { operator: ['google'] }, action: 'flag' }], /operator: "google" is unknown/],
    [[{ id: 'a', match: {}, action: 'deny' }], /action.*deny/],
    [
      [
        { id: 'a', match: {}, action: 'flag' },
        { id: 'a', match: {}, action: 'flag' },
      ],
      /"a" is used twice/,
    ],
  ]
  for (const [rules, message] of rows) {
    t.throws(() => compilePolicy({ preset: 'observe', rules: rules as readonly Rule[] }), {
      code: 'invalid_policy',
      message,
    })
  }
  t.throws(() => compilePolicy({ preset: 'strict' as 'observe', rules: [] }), {
    code: 'invalid_policy',
    message: /strict.*observe/,
  })
})
