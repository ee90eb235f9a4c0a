import { locate } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { type CitySourceReader, joinCities, type PlaceReader } from '../../src/datasets/tables/cities.ts'
import { openTables } from './fixtures.ts'

const T_MOBILE = [
  'cidr,country,region,city,postal',
  '23.0.0.0/24,US,US-CA,San José,95101',
  '23.0.0.0/22,US,US-NV,Reno,',
  '23.0.4.0/24,,,,',
  '23.0.5.0/24,XX,,Nowhere,',
  '2a00:1::/32,US,US-ZZ,Springfield,',
].join('\n')

/** A city database that says the same of every address. */
function makeDatabase(record: ReturnType<PlaceReader['read']>): Parameters<typeof joinCities>[0] {
  const places = async () => ({ read: () => record })
  const cities: CitySourceReader = {
    families: [4, 6],
    country: () => record?.countryCode,
    places,
    opened: () => ({ read: () => record }),
  }
  const status = { id: 'made', title: 'made', state: 'loaded', licence: '', credit: '' } as const
  return [{ status, cities }]
}

async function reader(record?: ReturnType<PlaceReader['read']>) {
  const { places } = await openTables(t, { 'geofeed-t-mobile-us': T_MOBILE })
  const cities = joinCities(record === undefined ? [] : makeDatabase(record), { places })
  return {
    read: async (text: string) => cities.geo?.read(makeAddress(text)),
    country: (text: string) => cities.countries?.find(makeAddress(text))?.code,
    located: (text: string) =>
      locate(makeAddress(text), { ...cities, rangesLoaded: true, proxiesLoaded: false, sources: [] }),
  }
}

t.test("an operator's places go before the city database, and are named", async (t) => {
  const berlin = {
    countryCode: 'DE',
    region: 'Berlin',
    city: 'Berlin',
    latitude: 52,
    longitude: 13,
    timezone: 'Europe/Berlin',
  }
  const { read, country, located } = await reader(berlin)
  const source = 'geofeed-t-mobile-us'
  const sanJose = { countryCode: 'US', region: 'California', city: 'San José', postalCode: '95101' }
  t.same(await read('23.0.0.9'), { source, ...sanJose }, 'the smaller prefix, and no coordinates of another place')
  t.same(await read('23.0.1.9'), { source, countryCode: 'US', region: 'Nevada', city: 'Reno' })
  t.same(
    await read('2a00:1::9'),
    { source, countryCode: 'US', city: 'Springfield' },
    'a region that is none is left out',
  )
  for (const text of ['23.0.4.9', '23.0.5.9', '23.9.0.1']) t.same(await read(text), berlin, text)
  t.same(['23.0.0.9', '23.9.0.1'].map(country), ['US', 'DE'])
  t.same(await located('23.0.0.9'), { geo: { country: 'United States', ...sanJose }, degraded: false, source })
  t.notOk('source' in (await located('23.9.0.1')))
})

t.test('a city database completes what it has of the same place', async (t) => {
  const inReno = {
    countryCode: 'US',
    region: 'Nevada',
    city: 'reno',
    latitude: 39.5,
    longitude: -119.8,
    timezone: 'America/Los_Angeles',
  }
  t.match(await (await reader(inReno)).read('23.0.1.9'), {
    city: 'Reno',
    latitude: 39.5,
    timezone: 'America/Los_Angeles',
  })
  const inElko = await reader({ ...inReno, city: 'Elko' })
  t.match(await inElko.read('23.0.1.9'), { city: 'Reno', timezone: 'America/Los_Angeles' })
  t.equal((await inElko.read('23.0.1.9'))?.latitude, undefined, 'those are Elko’s')
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
