import t from 'tap'
import { findSystemType, isAnycast } from '../src/asn/types.ts'
import { compilePolicy, isByPlace, locate, parseAddress, type Rule } from '../src/index.ts'
import type { CountryTable, Snapshot } from '../src/ports/index.ts'
import { createFakeGeo, createFakeNetworks, makeSnapshot, makeSnapshots, makeSystem } from '../src/testing/fakes.ts'
import { agentInspector, makeRequest } from './agents.ts'

const HOME = makeSystem({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' })
const RACK = makeSystem({ asn: 64_502, type: 'hosting', networkClass: 'hosting' })
const REGISTERED: CountryTable = {
  find: ({ d }) => (d >>> 24 === 9 ? undefined : { code: 'SE', source: 'asn-country-v4', basis: 'registration' }),
}

const CITYLESS: Partial<Snapshot> = {
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: HOME }],
    ['8.2.0.0/16', { system: RACK }],
    ['9.1.0.0/16', { system: HOME }],
  ]),
  countries: REGISTERED,
  rangesLoaded: true,
}

function createDecider(rules: readonly Rule[], snapshot: Partial<Snapshot> = CITYLESS) {
  const policy = compilePolicy({ preset: 'observe', rules })
  const { decide } = agentInspector({ snapshots: makeSnapshots(snapshot), policy })
  return (peer: string) => decide(makeRequest([], { peer }))
}

t.test('without a file of cities the country is that of registration, with its source and worth', async (t) => {
  const decide = createDecider([])
  const from = { code: 'SE', source: 'asn-country-v4', basis: 'registration' }
  const found = { country: 'SE', countryFrom: { ...from, confidence: 0.97 }, degraded: ['geo'] }
  t.match(decide('8.1.0.1').inspection, found)
  t.match(decide('8.2.0.1').inspection, { countryFrom: { ...from, confidence: 0.75 } }, 'machines move')
  t.match(decide('9.1.0.1').inspection, { countryFrom: undefined, countryUnknown: true })
  t.notOk('country' in decide('10.0.0.1').inspection, 'a reserved address has none')
  const claimable = (['geofeed', 'city', 'use', 'registration'] as const).filter((basis) => isByPlace({ basis }))
  t.same(claimable, ['geofeed', 'city'])
})

t.test('a rule on a country holds without a file of cities, and so does its negation', async (t) => {
  const abroad: Rule = { id: 'abroad', match: { not: { country: ['SE'] } }, action: 'block', onError: 'flag' }
  const home: Rule = { id: 'home', match: { country: ['SE'] }, action: 'block', onError: 'flag' }
  const unknown: Rule = { id: 'unknown', match: { country: ['unknown'] }, action: 'block' }
  t.equal(createDecider([home])('8.1.0.1').action, 'block')
  t.equal(createDecider([abroad])('8.1.0.1').action, 'allow')
  t.equal(createDecider([home])('9.1.0.1').action, 'allow', 'it was looked up, and nothing was found')
  t.equal(createDecider([home])('10.0.0.1').action, 'allow', 'a reserved address has no country, whatever is loaded')
  t.equal(createDecider([unknown])('9.1.0.1').action, 'block')
  const nothing = createDecider([home], { ...CITYLESS, countries: undefined })
  t.match(nothing('8.1.0.1'), { action: 'flag', reasons: [{ text: /not loaded/ }] })
})

t.test('a lookup has the country where places cannot be looked up, and names what says so', async (t) => {
  const at = async (text: string, more: Partial<Snapshot> = {}) =>
    locate(parseAddress(text) as never, makeSnapshot({ ...CITYLESS, ...more }))
  const sweden = { country: 'Sweden', countryCode: 'SE' }
  t.same(await at('8.1.0.1'), { geo: sweden, degraded: true, source: 'asn-country-v4' })
  t.same(await at('9.1.0.1'), { geo: {}, degraded: true })
  const geo = createFakeGeo({ '8.1.0.1': { countryCode: 'NO', city: 'Oslo' }, '8.1.0.2': new Error('corrupt') })
  t.same(await at('8.1.0.1', { geo }), { geo: { country: 'Norway', countryCode: 'NO', city: 'Oslo' }, degraded: false })
  t.same(await at('8.1.0.2', { geo }), { geo: sweden, degraded: true, source: 'asn-country-v4' })
  t.same(await at('8.1.0.3', { geo }), { geo: sweden, degraded: false, source: 'asn-country-v4' }, 'no record there')
})

t.test('an address that is at many places at once is in no city, unless its operator says where', async (t) => {
  const sydney = { countryCode: 'AU', city: 'Sydney', region: 'New South Wales', latitude: -33.9, longitude: 151.2 }
  const networks = createFakeNetworks([
    ['104.16.0.0/13', { system: makeSystem({ asn: 13_335, type: 'hosting', networkClass: 'datacenter' }) }],
    ['8.0.0.0/8', { system: makeSystem({ asn: 15_169, type: 'hosting', networkClass: 'datacenter' }) }],
  ])
  const readPlace = async (text: string, place: object = sydney) => {
    const read = async () => place
    const address = parseAddress(text)
    const snapshot = makeSnapshot({ networks, geo: { families: [4, 6], read } })
    return address && (await locate(address, snapshot)).geo
  }
  for (const text of ['104.16.1.1', '8.8.8.8', '8.8.4.200', '2620:fe::9'])
    t.same(await readPlace(text), { country: 'Australia', countryCode: 'AU' }, text)
  t.match(await readPlace('8.34.1.1'), sydney, 'a machine of the same company')
  t.match(await readPlace('104.16.1.1', { ...sydney, source: 'cloudflare-warp' }), { city: 'Sydney' })
})

t.test('services on machines of their own are known as such, whatever their names say', async (t) => {
  // These are GitHub, Apple, Anthropic, Quad9 and Meta; then F, K and M root servers, CleanBrowsing and Control D.
  const inOnePlace = [36_459, 714, 6_185, 399_358, 19_281, 32_934]
  const everywhere = [3_557, 25_152, 7_500, 205_157, 398_962]
  for (const asn of [...inOnePlace, ...everywhere])
    t.equal(findSystemType(asn, 'Plain Words Inc').networkClass, 'datacenter', `AS${asn}`)
  t.ok(everywhere.every(isAnycast), 'and none of them is in one city')
  t.same(findSystemType(714, 'Apple Inc.').type, 'unknown', 'and none of the types')
})
