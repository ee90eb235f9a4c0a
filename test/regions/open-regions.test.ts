import { makeAddress } from '@sallyport/core/testing'
import type { ConfigInput } from '@sallyport/engine'
import t from 'tap'
import { DATA_DIR } from '../data-dir.ts'
import { CARRIER, decide, openService, TEXAN, testCities } from './cities.ts'

/* Regions of a service over the embedded data, with the city file where it is installed. */

const TEXAS = { id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'block', status: 451 } as const

function makeConfig(unknown: 'ignore' | 'match' = 'ignore'): ConfigInput {
  return { policy: { preset: 'observe', rules: [{ ...TEXAS, match: { region: ['US-TX'] }, unknown }] } }
}

const OBSERVING: ConfigInput = { policy: { preset: 'observe' } }

testCities(
  'regions are known at once where a rule asks for them, also after a reload',
  OBSERVING,
  async (t, sallyport) => {
    t.equal(decide(sallyport, TEXAN).inspection.region, undefined, 'nothing asked for it')
    await sallyport.reload({ dataDir: DATA_DIR, data: { refresh: false }, ...makeConfig() })
    t.match(decide(sallyport, TEXAN), { action: 'block', status: 451, inspection: { region: { code: 'US-TX' } } })
    const again = await openService(t, makeConfig())
    t.match(decide(again, TEXAN), { action: 'block', status: 451 })
    const { geo } = await again.lookup(TEXAN)
    t.match(geo, { countryCode: 'US', region: 'Texas' })
    t.notOk('regionCode' in geo, '/v1 answers as before')
  },
)

t.test('clients whose place is not known have no region, and the rule says what that means', async (t) => {
  const outside: Readonly<Record<string, string>> = {
    'iCloud Private Relay': '172.224.226.1',
    WARP: '104.28.28.1',
    Tor: '185.220.101.10',
    'T-Mobile': CARRIER,
    Starlink: '98.97.1.1',
    'a resolver of anycast': '8.8.8.8',
    'an internal address': '10.0.0.1',
  }
  for (const unknown of ['ignore', 'match'] as const) {
    const sallyport = await openService(t, makeConfig(unknown))
    for (const [name, peer] of Object.entries(outside)) {
      const { action, inspection } = decide(sallyport, peer)
      t.equal(action, unknown === 'match' ? 'block' : 'allow', `${name}, ${unknown}`)
      t.equal(inspection.region?.code, undefined, name)
    }
  }
})

t.test('without the city file every region is unknown', async (t) => {
  const sources = { 'dbip-city-v4': { enabled: false }, 'dbip-city-v6': { enabled: false } }
  const sallyport = await openService(t, { ...makeConfig('match'), data: { refresh: false, sources } })
  const { action, inspection } = decide(sallyport, TEXAN)
  t.match({ action, inspection }, { action: 'block', inspection: { region: { doubt: 'no_data' } } })
  const found = await sallyport.knowledge.findRegion(makeAddress(TEXAN), inspection.network)
  t.same(found, { doubt: 'no_data' }, 'so does a lookup')
})
