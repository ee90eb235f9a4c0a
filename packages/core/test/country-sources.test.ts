import t from 'tap'
import { parseAddress } from '../src/address/address.ts'
import { parseTrust } from '../src/address/client.ts'
import { isByPlace } from '../src/geo/country-of.ts'
import { locate } from '../src/geo/locate.ts'
import { createInspector } from '../src/inspection/inspector.ts'
import { compilePolicy } from '../src/policy/compile/compile-policy.ts'
import type { Rule } from '../src/policy/policy.ts'
import type { CountryTable, Snapshot } from '../src/ports/index.ts'
import { createFakeClock, createFakeGeo, createFakeNetworks, snapshotOf, systemOf } from '../src/testing/fakes.ts'

const HOME = systemOf({ asn: 64_501, type: 'isp', networkClass: 'residential_clean' })
const RACK = systemOf({ asn: 64_502, type: 'hosting', networkClass: 'hosting' })
const REGISTERED: CountryTable = {
  find: ({ d }) => (d >>> 24 === 9 ? undefined : { code: 'SE', source: 'asn-country-v4', basis: 'registration' }),
}

/** Countries of registration, and no file of cities. */
const CITYLESS: Partial<Snapshot> = {
  networks: createFakeNetworks([
    ['8.1.0.0/16', { system: HOME }],
    ['8.2.0.0/16', { system: RACK }],
    ['9.1.0.0/16', { system: HOME }],
  ]),
  countries: REGISTERED,
  rangesLoaded: true,
}

function deciderOf(rules: readonly Rule[], snapshot: Partial<Snapshot> = CITYLESS) {
  const inspector = createInspector({
    clock: createFakeClock('2026-11-21T00:00:00Z'),
    snapshots: { current: () => snapshotOf(snapshot) },
    trust: parseTrust([], 'x-forwarded-for'),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode: 'enforce',
  })
  return (peer: string) =>
    inspector.decide({ peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] })
}

t.test('without a file of cities the country is that of registration, with its source and worth', async (t) => {
  const decide = deciderOf([])
  const from = { code: 'SE', source: 'asn-country-v4', basis: 'registration' }
  t.match(decide('8.1.0.1').inspection, {
    country: 'SE',
    countryFrom: { ...from, confidence: 0.97 },
    degraded: ['geo'],
  })
  t.match(decide('8.2.0.1').inspection, { countryFrom: { ...from, confidence: 0.75 } }, 'machines move')
  t.match(decide('9.1.0.1').inspection, { countryFrom: undefined, countryUnknown: true })
  t.notOk('country' in decide('10.0.0.1').inspection, 'a reserved address has none')
})

t.test('a rule on a country holds without a file of cities, and so does its negation', async (t) => {
  const abroad: Rule = { id: 'abroad', match: { not: { country: ['SE'] } }, action: 'block', onError: 'flag' }
  const home: Rule = { id: 'home', match: { country: ['SE'] }, action: 'block', onError: 'flag' }
  const unknown: Rule = { id: 'unknown', match: { country: ['unknown'] }, action: 'block' }
  t.equal(deciderOf([home])('8.1.0.1').action, 'block')
  t.equal(deciderOf([abroad])('8.1.0.1').action, 'allow')
  t.equal(deciderOf([home])('9.1.0.1').action, 'allow', 'it was looked up, and nothing was found')
  t.equal(deciderOf([home])('10.0.0.1').action, 'allow', 'a reserved address has no country, whatever is loaded')
  t.equal(deciderOf([unknown])('9.1.0.1').action, 'block')
  const nothing = deciderOf([home], { ...CITYLESS, countries: undefined })
  t.match(nothing('8.1.0.1'), { action: 'flag', reasons: [{ text: /not loaded/ }] })
})

t.test('a lookup has the country where places cannot be looked up, and names what says so', async (t) => {
  const at = async (text: string, more: Partial<Snapshot> = {}) =>
    locate(parseAddress(text) as never, snapshotOf({ ...CITYLESS, ...more }))
  const sweden = { country: 'Sweden', countryCode: 'SE' }
  t.same(await at('8.1.0.1'), { geo: sweden, degraded: true, source: 'asn-country-v4' })
  t.same(await at('9.1.0.1'), { geo: {}, degraded: true })
  const geo = createFakeGeo({ '8.1.0.1': { countryCode: 'NO', city: 'Oslo' }, '8.1.0.2': new Error('corrupt') })
  t.same(await at('8.1.0.1', { geo }), { geo: { country: 'Norway', countryCode: 'NO', city: 'Oslo' }, degraded: false })
  t.same(await at('8.1.0.2', { geo }), { geo: sweden, degraded: true, source: 'asn-country-v4' })
  t.same(await at('8.1.0.3', { geo }), { geo: sweden, degraded: false, source: 'asn-country-v4' }, 'no record there')
})

t.test('a claim rests on places alone', async (t) => {
  const bases = ['geofeed', 'city', 'use', 'registration'] as const
  t.same(
    bases.filter((basis) => isByPlace({ basis })),
    ['geofeed', 'city'],
  )
})
