import t from 'tap'
import { DAY_MS, eventRisk, explainEvent, labelEventReason, type NetworkFinding } from '../../src/index.ts'
import { findTravel, type LoginPlace, placeLogin } from '../../src/logins/travel.ts'
import { judgeLogin, rememberLogin, type Sighting, type UserMemory } from '../../src/logins/user-memory.ts'
import { NOTHING_KNOWN } from '../../src/testing/index.ts'

const START = 1_800_000_000_000
const HOME: Sighting = { at: START, network: 'AS1', country: 'DE', browser: 'firefox/linux' }

const BERLIN: LoginPlace = {
  ...{ at: START, latitude: 52.5, longitude: 13.4, accuracy: 50, country: 'DE', city: 'Berlin', network: 'AS1 Home' },
  ...{ confidence: 0.9, isPublished: false },
}
const IN_JAPAN = { latitude: 35.7, longitude: 139.7, country: 'JP', city: 'Tokyo', network: 'AS2 Net' }
const TOKYO = { ...BERLIN, at: START + 3_600_000, ...IN_JAPAN }

function buildMemory(...sightings: readonly Sighting[]): UserMemory | undefined {
  return sightings.reduce<UserMemory | undefined>((memory, one) => rememberLogin(memory, one), undefined)
}

t.test('a login is known by its network and its browser together', async (t) => {
  const memory = buildMemory(HOME)
  const facts = (change: Partial<Sighting>) => judgeLogin(memory, { ...HOME, ...change }).facts
  t.match(facts({}), { known: true, novel: false, dormant: false, travel: false })
  t.match(facts({ network: 'AS2' }), { known: false, novel: true })
  t.match(facts({ browser: 'chromium/windows' }), { known: false, novel: true })
  t.match(facts({ country: 'FR' }), { known: true, novel: true })
  t.match(judgeLogin(undefined, HOME).facts, { known: false, novel: false }, 'a first login is not new to anybody')
})

t.test('what is kept of a user has bounds, and ends', async (t) => {
  let memory: UserMemory | undefined
  for (let at = 0; at < 200; at++) {
    const login = { at: START + at * 1_000, network: `AS${at}`, country: `C${at}`, browser: `b${at}` }
    memory = rememberLogin(memory, login)
  }
  t.same([memory?.networks.length, memory?.countries.length, memory?.browsers.length], [20, 10, 10])
  t.equal(memory?.networks[0]?.[0], 'AS199', 'the newest first')
  const later = { ...HOME, at: START + 91 * DAY_MS }
  const kept = rememberLogin(memory, later).networks
  t.same([kept.length, kept[0]?.[0]], [1, 'AS1'])
  t.equal(judgeLogin(buildMemory(HOME), later).facts.known, false)
  t.equal(judgeLogin(buildMemory(HOME), { ...HOME, at: START + 61 * DAY_MS }).facts.dormant, true)
})

t.test('a clock that jumps forgets nobody and accuses nobody', async (t) => {
  const memory = buildMemory({ ...HOME, place: BERLIN }, { ...HOME, at: START - 30 * DAY_MS })
  t.match(judgeLogin(memory, { ...HOME, at: START - 40 * DAY_MS }).facts, { known: true, dormant: false })
  t.same(memory?.networks, [['AS1', 20_803, 20_833]])
  t.equal(findTravel(TOKYO, BERLIN), undefined, 'an earlier login after a later one')
})

t.test('travel is what no flight explains, with both places, networks and confidences', async (t) => {
  const next = { ...HOME, network: 'AS2', place: TOKYO }
  const { facts, travel } = judgeLogin(buildMemory({ ...HOME, place: BERLIN }), next)
  t.equal(facts.travel, true)
  t.match(travel, { minutes: 60, confidence: 0.81 })
  const places = { source: 'dbip-city', date: '2026-11-01' }
  const [reason] = explainEvent({ judged: { facts, travel, fresh: [] }, mail: {}, places })
  t.match(reason, { id: 'account:travel', ...places })
  t.match(reason?.text, 'DE (AS1 Home, confidence 0.9), and 60 minutes later Tokyo, JP (AS2 Net, confidence 0.9)')
  const to = (change: Partial<LoginPlace>) => findTravel(BERLIN, { ...TOKYO, ...change })
  t.equal(to({ at: START + 12 * 3_600_000 }), undefined, 'a flight of twelve hours')
  t.equal(to({ network: BERLIN.network }), undefined, 'one network')
  t.equal(to({ country: 'DE' }), undefined, 'within a country, by a database of cities')
  // The operators themselves say where these are.
  t.ok(findTravel({ ...BERLIN, isPublished: true }, { ...TOKYO, country: 'DE', isPublished: true }))
  t.equal(findTravel({ ...BERLIN, mayRoam: true }, TOKYO), undefined, 'a phone in Tokyo with a SIM card of Berlin')
  t.ok(to({ mayRoam: true }))
  t.equal(to({ accuracy: 9_000 }), undefined, 'a place that may be anywhere')
  t.equal(findTravel(undefined, TOKYO), undefined)
})

t.test('a network that stands elsewhere has no place', async (t) => {
  const verdict = { classification: 'residential_clean', anonymized: false, confidence: 0.9, method: 'asn' } as const
  const network = { ...NOTHING_KNOWN, asn: 1, asName: 'Home', asType: 'isp', asCountry: 'DE', verdict } as const
  const country = { code: 'DE', source: 'x', basis: 'city', confidence: 0.98 } as const
  const geo = { countryCode: 'DE', city: 'Berlin', latitude: 52.5, longitude: 13.4 }
  const placed = (network: NetworkFinding, found: { code: string; confidence: number } = country, more = {}) =>
    placeLogin(START, { network, countryFrom: { ...country, ...found } }, { geo: { ...geo, ...more } })
  t.match(placed(network), { country: 'DE', network: 'AS1 Home', confidence: 0.98 })
  const found = (more: Partial<NetworkFinding['verdict']>) => ({ ...network, verdict: { ...verdict, ...more } })
  t.equal(placed(found({ confidence: 0.6 }))?.mayRoam, undefined, 'a line, where no list of proxies is loaded')
  t.equal(placed(found({ confidence: 0.5 }))?.mayRoam, true, 'a system with lines and SIM cards')
  for (const classification of ['mobile', 'vpn', 'unknown', 'hosting', 'tor'] as const)
    t.equal(placed(found({ classification })), undefined, classification)
  for (const more of [{ confidence: 0.49 }, { anonymized: true }])
    t.equal(placed(found(more)), undefined, JSON.stringify(more))
  const others = [{ machineSigns: 1 }, { asType: 'hosting' }, { asn: undefined }, { asCountry: 'AT' }, { near: 'x' }]
  for (const other of others)
    t.equal(placed({ ...network, ...other } as NetworkFinding), undefined, JSON.stringify(other))
  t.equal(placed(network, { ...country, code: 'FR' }), undefined)
  t.equal(placed(network, { ...country, confidence: 0.6 }), undefined)
  t.equal(placed(network, country, { latitude: undefined }), undefined)
})

t.test('no country has a risk', async (t) => {
  const reasons = explainEvent({ judged: { facts: { known: false }, fresh: ['country'] }, mail: {} })
  t.equal(reasons.map(({ id }) => id).join(), 'account:novel_country')
  t.equal(eventRisk(reasons, 'allow', false), 0)
  t.equal(eventRisk(explainEvent({ mail: { disposable: true }, domain: 'x.example' }), 'allow', false), 0.5)
  t.equal(eventRisk([], 'challenge', true), 0.6)
})

t.test('every reason against an event has words for a table', async (t) => {
  const facts = { known: false, dormant: true } as never
  const place = { country: 'DE', network: 'AS3320', confidence: 0.9 }
  const travel = { from: place, to: place, kilometres: 900, minutes: 5, confidence: 0.8 } as never
  const mail = { disposable: true, alias: true, noMx: true, newDomain: true }
  const reasons = [
    ...explainEvent({ judged: { facts, travel, fresh: ['network', 'country', 'browser'] }, mail, domain: 'x.example' }),
    ...explainEvent({ judged: { facts, fresh: [] }, mail }),
  ]
  t.equal(new Set(reasons.map(({ id }) => id)).size, 10)
  for (const { id } of reasons) t.notMatch(labelEventReason(id), /[_:]/, id)
  t.equal(labelEventReason('policy:two:parts'), 'the rule "two:parts"')
  for (const id of ['account:later', 'other:travel', 'unknown'])
    t.equal(labelEventReason(id), id, 'not known, as it is')
})
