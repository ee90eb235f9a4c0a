import { REGIONS } from '@sallyport/data/regions'
import { iso31662 } from 'iso-3166'
import t from 'tap'
import { findRegion, isCountry, isGateway } from '../../src/index.ts'
import {
  currentRegion,
  isDisputed,
  isRegion,
  listHolders,
  listRegions,
  nameRegion,
  retiredCodes,
} from '../../src/region/codes.ts'

t.test('a region is held by those that ISO or the table names', async (t) => {
  for (const [code = '', ...holders] of [
    ['FR-13', 'FR-PAC'],
    ['IT-TO', 'IT-21'],
    ['GB-LND', 'GB-ENG', 'GB-EAW', 'GB-GBN', 'GB-UKM'],
    ['GB-BFS', 'GB-NIR', 'GB-UKM'],
    ['GB-EDH', 'GB-SCT', 'GB-GBN', 'GB-UKM'],
    ['US-TX'],
    ['CH-BS'],
  ] as const)
    t.same(listHolders(code), [code, ...holders], code)
})

t.test('codes of today are regions, and withdrawn ones are read as those in their place', async (t) => {
  for (const code of ['US-TX', 'NO-32', 'IN-OD', 'UA-43', 'KZ-71']) t.ok(isRegion(code), code)
  for (const code of ['US', 'US-XX', 'us-tx', 'FR-A', 'NO-30', 'IN-OR', '', 'toString']) t.notOk(isRegion(code), code)
  t.same(['FR-A', 'us-tx', 'GB-EN', 'IN-OR'].map(currentRegion), ['FR-GES', 'US-TX', 'GB-ENG', 'IN-OD'])
  t.same(['NO-30', 'US-XX', ''].map(currentRegion), [undefined, undefined, undefined], 'one that was cut up is none')
  t.equal(nameRegion('US-TX'), 'Texas')
})

t.test('names of city files become codes of ISO', async (t) => {
  for (const [country, name, code] of [
    ['DE', 'Bavaria', 'DE-BY'],
    ['DE', 'Land Berlin', undefined],
    ['DE', 'Berlin', 'DE-BE'],
    ['CH', 'Basel-City', 'CH-BS'],
    ['FR', "Provence-Alpes-Cote d'Azur", 'FR-PAC'],
    ['RU', 'Moscow', 'RU-MOW'],
    ['RU', 'Moscow Oblast', 'RU-MOS'],
    ['UA', 'Crimea', 'UA-43'],
    ['RU', 'Crimea', undefined],
    ['US', 'new  york', 'US-NY'],
    ['AR', 'Buenos Aires F.D.', 'AR-C'],
    ['US', '', undefined],
    ['XX', 'Texas', undefined],
    ['US', '__proto__', undefined],
  ] as const)
    t.equal(findRegion(country, name), code, `${country} ${name}`)
  t.ok(isGateway('US-DC', 'Washington D.C.'))
  t.notOk(isGateway('US-NY', 'New York'))
})

t.test('ISO names of first-level regions are found, but for the few that two regions share', async (t) => {
  const first = iso31662.filter(({ code, parent }) => isRegion(code) && !parent.includes('-'))
  t.ok(first.length > 3_000)
  const wrong = first.filter(({ code, name }) => ![code, undefined].includes(findRegion(code.slice(0, 2), name)))
  t.ok(wrong.length < 40, wrong.map(({ code, name }) => `${code} ${name}`).join('; '))
})

t.test('every row of the table has a code of today', async (t) => {
  const { retired, twins, names, gateways, disputed, sanctions } = REGIONS
  const split = (country: string, list: string) => list.split('; ').map((row) => [country, ...row.split('=')] as const)
  const said = (rows: Readonly<Record<string, string>>) => Object.entries(rows).flatMap((row) => split(...row))
  for (const [country, name, code = ''] of [...said(names.codes), ...said(gateways.codes)])
    t.ok(isRegion(`${country}-${code}`), `${country} ${name} ${code}`)
  for (const [country, old, now = ''] of said(retired.codes)) {
    t.notOk(isRegion(`${country}-${old}`))
    for (const code of now.split(' ')) t.ok(isRegion(`${country}-${code}`), `${country}-${old}: ${code}`)
  }
  for (const [country, code, twin = ''] of said(twins.codes))
    t.ok(isRegion(`${country}-${code}`) && isCountry(twin), `${country}-${code}: ${twin}`)
  for (const { regions } of [...disputed, ...sanctions])
    for (const code of regions) t.ok(isRegion(code) || code.endsWith('-*'), code)
  for (const { id, regions } of sanctions) t.ok(regions.every(isDisputed), id)
  const wide = 'UA-43 UA-40 UA-14 UA-09 UA-65 UA-23'
  const found = sanctions.map(({ id, date, regions }) => `${id} ${date}: ${regions.join(' ')}`)
  t.same(found, ['us 2022-02: UA-43 UA-40 UA-14 UA-09', `eu 2022-10: ${wide}`, `uk 2023-06: ${wide}`])
})

t.test('the table has the regions of the package iso-3166 with their names, and newer ones', async (t) => {
  const current = iso31662.filter(({ code }) => !retiredCodes().has(code))
  const differs = current.filter(({ code, name, parent }) => {
    const isHeld = !parent.includes('-') || listHolders(code).includes(parent)
    return nameRegion(code) !== name || !isRegion(code) || !isHeld
  })
  t.same(differs, [])
  const known = new Set(iso31662.map(({ code }) => code))
  const newer = listRegions().filter((code) => !known.has(code))
  t.same(newer, ['NO-31', 'NO-32', 'NO-33', 'NO-39', 'NO-40', 'NO-55', 'NO-56'])
})
