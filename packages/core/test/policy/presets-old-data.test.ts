import t from 'tap'
import { ACTIONS, classify, compilePolicy, DAY_MS, decide, NETWORK_CLASSES, PRESET_NAMES } from '../../src/index.ts'
import type { NetworkRecord } from '../../src/ports/index.ts'
import {
  createFakeClock,
  createFakeNetworks,
  makeAddress,
  makeHit,
  makeSnapshot,
  makeStatus,
  makeSystem,
} from '../../src/testing/fakes.ts'
import { CHROME, makeFields, makeRequest } from '../agents.ts'
import { inspect, POLICIES } from './preset-scenes.ts'

const ADDRESS = makeAddress('8.1.1.1')
const AGES = [0, 60, 180, 365, 730, 3_000]

/** What is known of an address, by every rule that an old source can weaken. */
const RECORDS: readonly Partial<NetworkRecord>[] = NETWORK_CLASSES.flatMap((networkClass) => [
  { range: makeHit({ networkClass }) },
  { range: makeHit({ networkClass, single: true }) },
  { range: makeHit({ networkClass, rule: 'density', narrow: true }) },
  { system: makeSystem({ asn: 64_500, networkClass, type: 'isp', basis: 'operator' }) },
  { system: makeSystem({ asn: 64_500, networkClass, type: 'hosting', basis: 'name' }) },
])

function classifyRecord(record: Partial<NetworkRecord>, days: number) {
  const clock = createFakeClock('2026-11-21T00:00:00Z')
  const lastTrue = new Date(clock.now() - days * DAY_MS).toISOString()
  const ids = ['made', 'operators', 'organisation-names', 'rented-systems'] as const
  const sources = ids.map((id) => makeStatus({ id, ages: 'range', lastTrue }))
  const list = { id: 'made', ages: 'range', lastTrue } as const
  const networks = createFakeNetworks([['8.0.0.0/8', record]])
  const restsOn = { tor: list, vpn: list, proxies: list, systems: list }
  return classify(ADDRESS, makeSnapshot({ networks, clock, sources, proxiesLoaded: true, restsOn }))
}

t.test('no preset is stricter with a person because data is old', async (t) => {
  const request = makeRequest(makeFields(CHROME), { peer: '8.1.1.1' })
  const { fields, target } = request
  const whole = inspect(request)
  const action = (policy: (typeof POLICIES)[number], record: Partial<NetworkRecord>, days: number) => {
    const network = classifyRecord(record, days)
    const asked = { mode: 'enforce', request: { fields, target } } as const
    return ACTIONS.indexOf(decide(policy, { ...whole, network }, asked).action)
  }
  const stricter = POLICIES.flatMap((policy, at) =>
    RECORDS.flatMap((record) => {
      const [fresh = 0, ...aged] = AGES.map((days) => action(policy, record, days))
      return aged.some((later) => later > fresh) ? [`${PRESET_NAMES[at]}: ${JSON.stringify(record)}`] : []
    }),
  )
  t.same(stricter, [])
})

t.test('a bound from above looks at the network as if its data were new, one from below at what is left', async (t) => {
  const network = classifyRecord({ range: makeHit({ networkClass: 'vpn' }) }, 730)
  t.match(network, { verdict: { confidence: 0.58 }, ageless: 0.88 })
  const decides = (networkConfidence: object) => {
    const rules = [{ id: 'one', match: { networkConfidence }, action: 'block' as const }]
    const policy = compilePolicy({ preset: 'observe', rules })
    return decide(policy, { ...inspect(makeRequest(makeFields(CHROME))), network }, { mode: 'enforce' }).action
  }
  t.same([decides({ atMost: 0.6 }), decides({ atMost: 0.9 })], ['allow', 'block'])
  t.same([decides({ atLeast: 0.6 }), decides({ atLeast: 0.5 })], ['allow', 'block'])
})
