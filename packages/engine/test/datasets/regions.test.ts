import type { GeoRecord } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { type CitySourceReader, joinCities } from '../../src/datasets/tables/cities.ts'
import { openTables } from './fixtures.ts'

const FEED = [
  '23.0.0.0/24,US,US-NJ,Newark,',
  '23.0.1.0/24,US,US-NY,New York,',
  '23.0.2.0/24,UA,UA-43,Simferopol,',
  '23.0.3.0/24,IN,IN-OR,Cuttack,',
  '23.0.4.0/24,US,,,',
  '23.0.5.0/24,US,TX,Austin,',
  '23.0.6.0/24,US,CA-ON,Toronto,',
  '23.0.7.0/24,US,texas,Austin,',
  '23.0.8.0/24,us,us-tx,Austin,',
  '23.0.9.0/24,JP,40,Tokyo,',
  '23.0.10.0/24,NO,NO-30,Drammen,',
  '23.0.11.0/24,US,Nowhere,,',
  '23.0.12.0/24,PR,,San Juan,',
  '23.1.0.0/16,US,US-NY,,',
  '23.1.2.0/24,US,US-NJ,,',
  '23.1.2.128/25,US,,,',
  '2a00:1::/32,GB,GB-NIR,Belfast,',
].join('\n')

/** Joins the geofeed with a city database that says the same of every address, and is open or not. */
async function joinRegions(record: GeoRecord | undefined, isOpen = true) {
  const { places } = await openTables(t, { 'geofeed-t-mobile-us': FEED })
  const reader = { read: () => record }
  const cities: CitySourceReader = {
    families: [4, 6],
    country: () => record?.countryCode,
    places: async () => reader,
    opened: () => (isOpen ? reader : undefined),
  }
  const status = { id: 'made', title: 'made', state: 'loaded', licence: '', credit: '' } as const
  const { regions } = joinCities([{ status, cities }], { places })
  return (text: string) => regions?.find(makeAddress(text))
}

const NEW_YORK: GeoRecord = { countryCode: 'US', region: 'New York', city: 'New York' }

t.test("the operator's code goes before the name in the city database", async (t) => {
  const find = await joinRegions(NEW_YORK)
  t.same(find('23.0.0.9'), { code: 'US-NJ', source: 'geofeed-t-mobile-us', basis: 'geofeed' })
  t.equal(find('23.0.1.9')?.code, 'US-NY')
  t.equal(find('23.0.2.9')?.code, 'UA-43', 'that no data tells it is said later')
  t.equal(find('23.0.3.9')?.code, 'IN-OD', 'a code that was withdrawn is read as the one in its place')
  t.equal(find('2a00:1::9')?.code, 'GB-NIR')
})

t.test('without a code the city database names the region, unless it disagrees on the country', async (t) => {
  const named = { code: 'US-NY', source: 'made', basis: 'city' }
  const find = await joinRegions(NEW_YORK)
  for (const text of ['23.0.4.9', '23.0.6.9', '23.0.11.9', '23.1.2.200', '9.9.9.9']) t.same(find(text), named, text)
  const abroad = await joinRegions({ countryCode: 'CA', region: 'Ontario' })
  t.equal(abroad('23.0.4.9'), undefined)
  t.equal(abroad('9.9.9.9')?.code, 'CA-ON')
})

t.test('a feed may leave out the country of a code, or write a name; digits alone say nothing', async (t) => {
  const find = await joinRegions(NEW_YORK)
  for (const text of ['23.0.5.9', '23.0.7.9', '23.0.8.9']) t.equal(find(text)?.code, 'US-TX', text)
  t.equal(find('23.0.9.9'), undefined, 'FIPS has other digits for Tokyo than ISO')
  t.equal(find('23.0.10.9'), undefined, 'a code that was cut up, and a database that says another country')
})

t.test('of prefixes within each other the longest says the region, also that it has none', async (t) => {
  const find = await joinRegions({ countryCode: 'US', region: 'Ohio' })
  t.same(
    ['23.1.9.9', '23.1.2.9', '23.1.2.200'].map((text) => find(text)?.code),
    ['US-NY', 'US-NJ', 'US-OH'],
  )
  t.equal(find('::ffff:23.1.2.9')?.code, 'US-NJ', 'an IPv4 address in a mapped form')
})

t.test('a region that is a country too has the code of the region', async (t) => {
  const sanJuan = await joinRegions({ countryCode: 'PR', city: 'San Juan' })
  t.match(sanJuan('9.9.9.9'), { code: 'US-PR', basis: 'city' })
  t.match((await joinRegions(undefined))('23.0.12.9'), { code: 'US-PR', basis: 'geofeed' })
  const rows: readonly (readonly [GeoRecord, string | undefined])[] = [
    [{ countryCode: 'HK', region: 'Central and Western' }, 'CN-HK'],
    [{ countryCode: 'RE' }, 'FR-974'],
    [{ countryCode: 'AX' }, 'FI-01'],
    [{ countryCode: 'TW', region: 'Nowhere' }, undefined],
  ]
  for (const [record, code] of rows) t.equal((await joinRegions(record))('9.9.9.9')?.code, code, JSON.stringify(record))
})

t.test('names across borders lead to the codes of their own country', async (t) => {
  const rows: readonly (readonly [GeoRecord, string | undefined])[] = [
    [{ countryCode: 'CH', region: 'Basel-City' }, 'CH-BS'],
    [{ countryCode: 'DE', region: 'Baden-Wurttemberg' }, 'DE-BW'],
    [{ countryCode: 'FR', region: 'Grand Est' }, 'FR-GES'],
    [{ countryCode: 'GB', region: 'Northern Ireland' }, 'GB-NIR'],
    [{ countryCode: 'IE', region: 'Ulster' }, 'IE-U'],
    [{ countryCode: 'UA', region: 'Crimea' }, 'UA-43'],
    [{ countryCode: 'RU', region: 'Crimea' }, undefined],
    [{ countryCode: 'US', region: 'Nowhere' }, undefined],
    [{ countryCode: 'US' }, undefined],
    [{ region: 'Texas' }, undefined],
    [{}, undefined],
  ]
  for (const [record, code] of rows) t.equal((await joinRegions(record))('9.9.9.9')?.code, code, JSON.stringify(record))
})

t.test('where city files put lines of other regions too, their region is vague', async (t) => {
  const washington = await joinRegions({ countryCode: 'US', region: 'District of Columbia', city: 'Washington D.C.' })
  t.match(washington('9.9.9.9'), { code: 'US-DC', isVague: true })
  const find = await joinRegions(NEW_YORK)
  t.match(find('2a00:9::1'), { code: 'US-NY', isVague: true })
  t.notOk(find('9.9.9.9')?.isVague)
})

t.test('nothing is said while the places are not open, and without any', async (t) => {
  t.equal((await joinRegions(NEW_YORK, false))('9.9.9.9'), undefined)
  t.equal((await joinRegions(NEW_YORK, false))('23.0.0.9')?.code, 'US-NJ', 'geofeeds are always there')
  t.equal((await joinRegions(undefined))('9.9.9.9'), undefined)
  t.equal(joinCities([]).regions, undefined)
})
