import { type GeoRecord, locate } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { joinCities } from '../../src/datasets/tables/cities.ts'
import { madeCity } from './city-fixtures.ts'
import { openTables } from './fixtures.ts'

const T_MOBILE = [
  'cidr,country,region,city,postal',
  '23.0.0.0/24,US,US-CA,San José,95101',
  '23.0.0.0/22,US,US-NV,Reno,',
  '23.0.4.0/24,,,,',
  '23.0.5.0/24,XX,,Nowhere,',
  '2a00:1::/32,US,US-ZZ,Springfield,',
].join('\n')

async function reader(record?: GeoRecord) {
  const { places } = await openTables(t, { 'geofeed-t-mobile-us': T_MOBILE })
  const cities = joinCities(record === undefined ? [] : madeCity(record), { places })
  return {
    read: async (text: string) => cities.geo?.read(makeAddress(text)),
    country: (text: string) => cities.countries?.find(makeAddress(text))?.code,
    located: (text: string) =>
      locate(makeAddress(text), { ...cities, rangesLoaded: true, proxiesLoaded: false, sources: [] }),
  }
}

t.test("an operator's places go before the city database, and are named", async (t) => {
  const coordinates = { latitude: 52, longitude: 13, timezone: 'Europe/Berlin' }
  const berlin = { countryCode: 'DE', region: 'Berlin', city: 'Berlin', ...coordinates }
  const { read, country, located } = await reader(berlin)
  const source = 'geofeed-t-mobile-us'
  const sanJose = { countryCode: 'US', region: 'California', city: 'San José', postalCode: '95101' }
  t.same(await read('23.0.0.9'), { source, ...sanJose }, 'the smaller prefix, and no coordinates of another place')
  t.same(await read('23.0.1.9'), { source, countryCode: 'US', region: 'Nevada', city: 'Reno' })
  t.same(await read('2a00:1::9'), { source, countryCode: 'US', city: 'Springfield' }, 'without a region that is none')
  for (const text of ['23.0.4.9', '23.0.5.9', '23.9.0.1']) t.same(await read(text), berlin, text)
  t.same(['23.0.0.9', '23.9.0.1'].map(country), ['US', 'DE'])
  t.same(await located('23.0.0.9'), { geo: { country: 'United States', ...sanJose }, degraded: false, source })
  t.notOk('source' in (await located('23.9.0.1')))
})

t.test('a city database completes what it has of the same place', async (t) => {
  const added = { latitude: 39.5, longitude: -119.8, timezone: 'America/Los_Angeles' }
  const inReno = { countryCode: 'US', region: 'Nevada', city: 'reno', ...added }
  t.match(await (await reader(inReno)).read('23.0.1.9'), { city: 'Reno', ...added })
  const inElko = await reader({ ...inReno, city: 'Elko' })
  t.match(await inElko.read('23.0.1.9'), { city: 'Reno', timezone: added.timezone, latitude: undefined })
})

t.test('without a city database the places of geofeeds are what there is', async (t) => {
  const { read, country, located } = await reader()
  t.match(await read('23.0.0.9'), { city: 'San José' })
  await t.rejects(read('23.9.0.1'), { code: 'missing_data' })
  t.equal(country('23.9.0.1'), undefined)
  t.match(await located('23.9.0.1'), { degraded: true })
  const { places } = await openTables(t, { 'tor-bulk-exit': '23.0.0.1' })
  t.equal(places, undefined)
  t.same(joinCities([]), {})
})

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
  t.same([at('2a00:1:ffff::1')?.code, at('2a00:2::8')?.code], ['US', 'SE'])
})

t.test("an operator's places go first, then a file of cities, then the tables", async (t) => {
  const tables = await openTables(t, FILES)
  const cities = madeCity(undefined, {
    families: [4],
    country: ({ d }) => (d >>> 8 === 0x170001 ? 'CZ' : undefined),
    places: () => Promise.reject(new Error('not asked')),
  })
  const { countries, geo } = joinCities(cities, tables)
  const at = (text: string) => countries?.find(makeAddress(text))
  t.same(at('23.0.1.9'), { code: 'NL', source: 'geofeed-aws', basis: 'geofeed' })
  t.same(at('23.0.1.200'), { code: 'CZ', source: 'made', basis: 'city' })
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

/** Lines of a geofeed, each with its region beside a city database that says New York. */
const FEED: Readonly<Record<string, string | undefined>> = {
  '23.0.0.0/24,US,US-NJ,Newark,': 'US-NJ',
  '23.0.1.0/24,US,US-NY,New York,': 'US-NY',
  '23.0.2.0/24,UA,UA-43,Simferopol,': 'UA-43',
  // A code that was withdrawn is read as the one in its place.
  '23.0.3.0/24,IN,IN-OR,Cuttack,': 'IN-OD',
  '23.0.4.0/24,US,,,': 'US-NY',
  '23.0.5.0/24,US,TX,Austin,': 'US-TX',
  '23.0.6.0/24,US,CA-ON,Toronto,': 'US-NY',
  '23.0.7.0/24,US,texas,Austin,': 'US-TX',
  '23.0.8.0/24,us,us-tx,Austin,': 'US-TX',
  // FIPS has other digits for Tokyo than ISO.
  '23.0.9.0/24,JP,40,Tokyo,': undefined,
  '23.0.10.0/24,NO,NO-30,Drammen,': undefined,
  '23.0.11.0/24,US,Nowhere,,': 'US-NY',
  '23.0.12.0/24,PR,,San Juan,': 'US-PR',
  // The longest of nested prefixes counts, also if it has no region.
  '23.1.0.0/16,US,US-NJ,,': 'US-NJ',
  '23.1.2.0/24,US,US-TX,,': 'US-TX',
  '23.1.2.128/25,US,,,': 'US-NY',
  '2a00:1::/32,GB,GB-NIR,Belfast,': 'GB-NIR',
}

/** Joins the geofeed with a city database that says the same of every address, and is open or not. */
async function joinRegions(record: GeoRecord | undefined, isOpen = true) {
  const { places } = await openTables(t, { 'geofeed-t-mobile-us': Object.keys(FEED).join('\n') })
  const { regions } = joinCities(madeCity(record, isOpen ? {} : { opened: () => undefined }), { places })
  return (text: string) => regions?.find(makeAddress(text))
}

const NEW_YORK: GeoRecord = { countryCode: 'US', region: 'New York', city: 'New York' }

t.test("an operator's code says the region, else the city database where both agree on the country", async (t) => {
  const find = await joinRegions(NEW_YORK)
  for (const [line, code] of Object.entries(FEED)) t.equal(find(line.split('/')[0] ?? '')?.code, code, line)
  t.same(find('23.0.0.9'), { code: 'US-NJ', source: 'geofeed-t-mobile-us', basis: 'geofeed' })
  for (const text of ['23.0.4.9', '9.9.9.9']) t.same(find(text), { code: 'US-NY', source: 'made', basis: 'city' })
  t.equal(find('::ffff:23.1.2.9')?.code, 'US-TX', 'an IPv4 address in a mapped form')
  const abroad = await joinRegions({ countryCode: 'CA', region: 'Ontario' })
  t.same([abroad('23.0.4.9'), abroad('9.9.9.9')?.code], [undefined, 'CA-ON'])
  t.match(find('2a00:9::1'), { code: 'US-NY', isVague: true }, 'city files put lines of other regions there too')
})

t.test('a region that is a country too has the code of the region', async (t) => {
  const rows: readonly (readonly [GeoRecord, string | undefined])[] = [
    [{ countryCode: 'PR', city: 'San Juan' }, 'US-PR'],
    [{ countryCode: 'HK', region: 'Central and Western' }, 'CN-HK'],
    [{ countryCode: 'RE' }, 'FR-974'],
    [{ countryCode: 'AX' }, 'FI-01'],
    [{ countryCode: 'TW', region: 'Nowhere' }, undefined],
    [{ countryCode: 'CH', region: 'Basel-City' }, 'CH-BS'],
    [{ countryCode: 'US' }, undefined],
    [{ region: 'Texas' }, undefined],
  ]
  for (const [record, code] of rows) t.equal((await joinRegions(record))('9.9.9.9')?.code, code, JSON.stringify(record))
})

t.test('nothing is said while the places are not open, and without any', async (t) => {
  t.equal((await joinRegions(NEW_YORK, false))('9.9.9.9'), undefined)
  t.equal((await joinRegions(NEW_YORK, false))('23.0.0.9')?.code, 'US-NJ', 'geofeeds are always there')
  t.equal((await joinRegions(undefined))('9.9.9.9'), undefined)
  t.equal(joinCities([]).regions, undefined)
})
