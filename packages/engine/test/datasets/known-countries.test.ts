import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { type CitySourceReader, joinCities } from '../../src/datasets/tables/cities.ts'
import { openTables } from './fixtures.ts'

const FILES = {
  'asn-country-v4': '23.0.0.0,23.0.1.255,DE\n23.0.2.0,23.0.2.255,ZZ\n23.0.3.0,23.0.3.255,FR',
  'asn-country-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,US\n2a00:2::8,2a00:2::f,SE',
  'user-country-v4': '23.0.1.0,23.0.2.255,PL',
  'geofeed-aws': '23.0.1.0/25,NL,NL-NH,Amsterdam,\n',
}

t.test('of two tables of countries that of use counts, and each names itself', async (t) => {
  const { countries } = await openTables(t, FILES)
  const at = (text: string) => countries?.find(makeAddress(text))
  t.same(at('23.0.0.255'), { code: 'DE', source: 'asn-country-v4', basis: 'registration' })
  t.same(at('23.0.1.0'), { code: 'PL', source: 'user-country-v4', basis: 'use' })
  t.equal(at('23.0.2.9')?.code, 'PL', 'where the registries say nothing')
  t.equal(at('23.0.3.255')?.code, 'FR')
  t.same(['22.255.255.255', '23.0.4.0', '255.255.255.255', '2a00:2::7', '2a00:2::10'].map(at), Array(5).fill(undefined))
  t.same(
    ['2a00:1::', '2a00:1:ffff::1', '2a00:2::8'].map((text) => at(text)?.code),
    ['US', 'US', 'SE'],
  )
  t.equal(at('23.0.0.1'), at('23.0.0.2'), 'one object')
  t.ok(Object.isFrozen(at('23.0.0.1')))
})

t.test("an operator's places go first, then a file of cities, then the tables", async (t) => {
  const tables = await openTables(t, FILES)
  const cities: CitySourceReader = {
    families: [4],
    country: ({ d }) => (d >>> 8 === 0x170001 ? 'CZ' : undefined),
    places: () => Promise.reject(new Error('not asked')),
    opened: () => undefined,
  }
  const status = { id: 'dbip-city-v4', title: '', state: 'loaded', licence: '', credit: '' } as const
  const { countries, geo } = joinCities([{ status, cities }], tables)
  const at = (text: string) => countries?.find(makeAddress(text))
  t.same(at('23.0.1.9'), { code: 'NL', source: 'geofeed-aws', basis: 'geofeed' })
  t.same(at('23.0.1.200'), { code: 'CZ', source: 'dbip-city-v4', basis: 'city' })
  t.match(at('23.0.0.1'), { code: 'DE', basis: 'registration' }, 'no record of it there')
  t.match(at('2a00:1::1'), { code: 'US', basis: 'registration' }, 'a family that no file of cities has')
  t.same(geo?.families, [4])
  t.same(joinCities([], tables).geo?.families, [], 'places of operators alone are no file of cities')
  t.notOk('geo' in joinCities([], { countries: tables.countries }))
})

t.test('a list of places names no class, and the collection of all geofeeds no place', async (t) => {
  const { networks, places } = await openTables(t, { 'geofeed-aws': FILES['geofeed-aws'] })
  t.equal(networks?.find(makeAddress('23.0.1.9')), undefined)
  t.match(places?.find(makeAddress('23.0.1.9')), { countryCode: 'NL', city: 'Amsterdam', source: 'geofeed-aws' })
  const all = await openTables(t, { geofeeds: FILES['geofeed-aws'] })
  t.equal(all.places, undefined)
})
