import t from 'tap'
import { classify, compilePolicy, DAY_MS, decide, NETWORK_CLASSES } from '../../src/index.ts'
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
import { inspect, rankAction, STANCES } from './preset-scenes.ts'

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
  const whole = inspect(request)
  const stricter = RECORDS.flatMap((record) => {
    const inspections = AGES.map((days) => ({ ...whole, network: classifyRecord(record, days) }))
    return STANCES.flatMap((stance) => {
      const [fresh = 0, ...aged] = inspections.map((inspection) => rankAction(stance, inspection, request))
      return aged.some((later) => later > fresh) ? [`${stance.preset}: ${JSON.stringify(record)}`] : []
    })
  })
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
