import t from 'tap'
import { type CompiledPolicy, compilePolicy, type InspectionRequest, type Rule } from '../src/index.ts'
import { createRequestFingerprints, hasFingerprint } from '../src/inspection/visits.ts'
import type { Observation, Snapshot } from '../src/ports/index.ts'
import {
  createFakeClock,
  createFakeCountries,
  createFakeNetworks,
  makeHit,
  makeSnapshot,
  makeSnapshots,
  makeStatus,
  makeSystem,
} from '../src/testing/fakes.ts'
import { createRandom } from '../src/testing/random.ts'
import { agentInspector, CHROME, FIREFOX_TEXT, HOME, makeFields, makeRequest, NOW, PROXY, RACK } from './agents.ts'

const NETWORKS = createFakeNetworks([
  ['8.1.0.0/16', { system: makeSystem({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' }) }],
  ['8.2.0.0/16', { system: makeSystem({ asn: 64_502, type: 'hosting', networkClass: 'hosting' }) }],
])

const OBSERVED = { networkClass: 'vpn', origin: 'operator', provider: '', setAt: 0, note: '' } as const

/** Rules that ask about the visitor, about the request, and about both, in force and on trial. */
const RULES: readonly Rule[] = [
  { id: 'admin-from-racks', match: { path: ['/admin/**'], networkClass: ['hosting'] }, action: 'block' },
  { id: 'trial', match: { path: ['/login'], basis: ['none'] }, action: 'block', monitor: true },
  { id: 'writes', match: { method: ['POST'], class: ['unverified_bot'] }, action: 'block' },
  { id: 'marked', match: { header: { present: ['x-marked'] } }, action: 'flag' },
  { id: 'nowhere', match: { country: ['unknown'], path: ['/'] }, action: 'flag', onError: 'block' },
  { id: 'programs', match: { class: ['unverified_bot'] }, action: 'flag' },
  { id: 'trial-of-all', match: {}, action: 'flag', monitor: true },
]
const POLICY = compilePolicy({ preset: 'low-friction', rules: RULES, allowlist: ['8.1.9.9'] })
/** Rules that ask about the visitor alone. */
const SUBJECTS = compilePolicy({ preset: 'low-friction', rules: RULES.slice(-2, -1), allowlist: ['8.1.9.9'] })

for (const [rules, policy] of Object.entries({ 'rules of all kinds': POLICY, 'rules about visitors': SUBJECTS })) {
  t.test(`with ${rules}, an inspector that remembers decides as one that has never seen anybody`, async (t) => {
    const { wrong, flagged } = decideAll(policy)
    t.equal(wrong, 0)
    t.ok(flagged > 1000, `${flagged} of them flagged or blocked`)
  })
}

function decideAll(policy: CompiledPolicy) {
  const clock = createFakeClock(NOW)
  const dice = createRandom(20_261_121)
  const observations = new Map<string, Observation>()
  const base: Partial<Snapshot> = {
    networks: NETWORKS,
    countries: createFakeCountries({ [HOME]: 'DE' }),
    rangesLoaded: true,
    observations: { find: ({ d }) => observations.get(String(d)) },
  }
  let current = makeSnapshot(base)
  const lasting = agentInspector({ clock, policy, snapshots: { current: () => current } })
  // Another snapshot each time, so that nothing it remembers is of use.
  const forgetful = agentInspector({ clock, policy, snapshots: { current: () => ({ ...current }) } })
  const pick = <Item>(items: readonly Item[]): Item => items[dice(items.length)] as Item

  function anyFields(): readonly string[] {
    const fields = makeFields(CHROME).slice()
    const userAgent = fields.indexOf('User-Agent') + 1
    fields[userAgent] = pick([fields[userAgent] as string, FIREFOX_TEXT, 'curl/8.5.0', 'HeadlessChrome/150'])
    if (dice(2) === 0) fields[2 * dice(fields.length / 2)] = 'X-Other'
    if (dice(3) === 0) fields[fields.indexOf('sec-ch-ua')] = 'X-Hints'
    if (dice(3) === 0) fields.push(pick(['Cookie', 'X-Marked', 'Via']), pick(['a=1', 'b=2']))
    return fields
  }

  const shown = Array.from({ length: 12 }, anyFields)
  const hops = [[], [], [HOME], [RACK], ['8.1.9.9'], [''], ['x'], [HOME, PROXY], [PROXY], [`${RACK}, ${HOME}`]]

  function anyRequest(): InspectionRequest {
    const forwarded = pick(hops).flatMap((hop) => [pick(['X-Forwarded-For', 'x-forwarded-for']), hop])
    return makeRequest([...pick(shown), ...forwarded], {
      peer: pick([HOME, RACK, PROXY, PROXY, PROXY, '']),
      method: pick(['GET', 'GET', 'POST']),
      target: pick(['/', '/login', '/admin/users', '/a/../admin/x']),
      scheme: pick(['https', 'http']),
      httpVersion: pick(['1.1', '1.1', '1.0', '2.0']),
    })
  }

  let wrong = 0
  let flagged = 0
  for (let round = 0; round < 12_000; round++) {
    const request = anyRequest()
    if (dice(80) === 0) {
      if (observations.size === 0) observations.set(String((8 << 24) | (1 << 16) | (1 << 8) | 1), OBSERVED)
      else observations.clear()
    }
    if (dice(200) === 0) {
      const { countries, ...unplaced } = base
      current = makeSnapshot(pick([base, unplaced, { ...base, rangesLoaded: false }]))
    }
    if (dice(400) === 0) clock.advance(3_600_000 * dice(30))
    const decision = lasting.decide(request)
    if (decision.action !== 'allow') flagged++
    if (JSON.stringify(decision) !== JSON.stringify(forgetful.decide(request))) wrong++
  }
  return { wrong, flagged }
}

t.test('visitors are forgotten with the data, and at midnight', async (t) => {
  const clock = createFakeClock(NOW)
  const listed = makeHit({ networkClass: 'vpn', date: '2026-11-20' })
  const networks = createFakeNetworks([['8.1.0.0/16', { range: listed }]])
  const sources = [makeStatus({ id: 'made', ages: 'range', lastTrue: '2026-11-20' })]
  let current = makeSnapshot({ networks, clock, sources, rangesLoaded: true })
  const { decide } = agentInspector({ clock, snapshots: { current: () => current } })
  const request = makeRequest(makeFields(CHROME))
  const { network } = decide(request).inspection
  for (let again = 0; again < 3; again++) t.equal(decide(request).inspection.network.sourceDate, '2026-11-20')
  clock.advance(300 * 86_400_000)
  t.ok(decide(request).inspection.network.verdict.confidence < network.verdict.confidence, 'a list grows old')
  current = makeSnapshot({ networks: NETWORKS, clock, rangesLoaded: true })
  t.equal(decide(request).inspection.network.asn, 64_501)
})

t.test('a flood of others drives no regular visitor out of memory, and those that take turns have room', async (t) => {
  const { inspect } = agentInspector()
  const from = (hop: string) =>
    inspect(makeRequest([...makeFields(CHROME), 'X-Forwarded-For', hop], { peer: PROXY })).client
  for (let again = 0; again < 3; again++) from(HOME)
  const known = from(HOME)
  for (let other = 0; other < 20_000; other++) from(`9.${other & 255}.${other >> 8}.7`)
  t.equal(from(HOME), known)
  const round = () => Array.from({ length: 2_000 }, (_, visitor) => from(`12.${visitor & 255}.${visitor >> 8}.7`))
  round()
  const second = round()
  const again = round().filter((client, visitor) => client === second[visitor])
  t.ok(again.length > 1_900, `${again.length} of 2,000`)
})

t.test('an observation that runs out while a visitor is looked up is not remembered', async (t) => {
  for (let most = 1; most < 8; most++) {
    let asked = 0
    const observations = { find: () => (++asked <= most ? OBSERVED : undefined) }
    const { inspect } = agentInspector({ snapshots: makeSnapshots({ networks: NETWORKS, observations }) })
    const request = makeRequest(makeFields(CHROME))
    while (asked <= most) inspect(request)
    t.equal(inspect(request).network.verdict.classification, 'residential_clean', `after ${most} times`)
  }
})

t.test('the client depends on the header, wherever it was before', async (t) => {
  const { decide } = agentInspector({ policy: SUBJECTS })
  const makeClient = (...last: readonly string[]) =>
    decide(makeRequest([...makeFields(CHROME), ...last], { peer: PROXY })).inspection.client.address
  for (let again = 0; again < 4; again++) t.equal(makeClient('X-Other', '1', 'X-Forwarded-For', HOME), HOME)
  t.equal(makeClient('X-Forwarded-For', RACK, 'X-Other', '1'), RACK)
  t.equal(makeClient('X-Other', HOME, 'X-Forwarded-For', RACK), RACK, 'another header has the address of who is known')
  t.equal(makeClient('X-Forwarded-For', HOME, 'X-Forwarded-For', RACK), RACK, 'the header came twice')
  t.equal(makeClient('X-Other', '1', 'X-Forwarded-For', HOME), HOME)
})

t.test('a fingerprint keeps no cookie, and requests that differ in cookies have one fingerprint', async (t) => {
  const request = makeRequest(makeFields(CHROME, { Cookie: 'session=secret', Authorization: 'Bearer secret' }))
  const fingerprint = createRequestFingerprints().of(request, '')
  t.notMatch(JSON.stringify(fingerprint), /secret/)
  t.match(JSON.stringify(fingerprint), /Cookie.*Authorization/)
  const other = makeRequest(makeFields(CHROME, { Cookie: 'session=other', Authorization: 'Bearer other' }))
  t.ok(fingerprint !== undefined && hasFingerprint(other, fingerprint))
  const long = makeRequest(makeFields(CHROME, { Accept: 'x'.repeat(2000) }))
  t.equal(createRequestFingerprints().of(long, ''), undefined, 'nor a request that is long')
})
