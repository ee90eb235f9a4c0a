import { makeAddress } from '@sallyport/core/testing'
import { open, type Sallyport } from '@sallyport/engine'
import t from 'tap'
import { DATA_DIR } from '../data-dir.ts'

/* Regions of a service over the embedded data, with the city file where it is installed. */

const TEXAS = { id: 'texas', match: { region: ['US-TX'] }, unknown: 'ignore', action: 'block', status: 451 } as const
/** The city file puts this line of Frontier in Carrollton, Texas. */
const TEXAN = '47.184.10.20'

const config = (rules: readonly object[], more: object = {}) => ({
  dataDir: DATA_DIR,
  data: { refresh: false },
  policy: { preset: 'observe' as const, rules: [...rules] as never[] },
  ...more,
})

function decide(sallyport: Pick<Sallyport, 'decide'>, peer: string) {
  return sallyport.decide({ peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: [] })
}

t.test('regions are known from the first request on where a rule asks for them, also after a reload', async (t) => {
  const sallyport = await open(config([]), { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  const hasCities = sallyport.sources().some(({ id, state }) => id === 'dbip-city-v4' && state === 'loaded')
  if (!hasCities) return t.pass('no city file is installed')
  t.equal(decide(sallyport, TEXAN).inspection.region, undefined, 'nothing asked for it')
  await sallyport.reload(config([TEXAS]))
  t.match(decide(sallyport, TEXAN), { action: 'block', status: 451, inspection: { region: { code: 'US-TX' } } })
  const again = await open(config([TEXAS]), { onNotice: () => {} })
  t.teardown(() => again.close())
  t.match(decide(again, TEXAN), { action: 'block', status: 451 })
  t.match((await again.lookup(TEXAN)).geo, { countryCode: 'US', region: 'Texas' })
  t.notOk('regionCode' in (await again.lookup(TEXAN)).geo, '/v1 answers as before')
})

t.test(
  'relays, WARP, Tor, carriers, satellites and anycast are unknown, and the rule says what that means',
  async (t) => {
    const outside: Readonly<Record<string, string>> = {
      'iCloud Private Relay': '172.224.226.1',
      WARP: '104.28.28.1',
      Tor: '185.220.101.10',
      'T-Mobile': '172.56.1.1',
      Starlink: '98.97.1.1',
      'a resolver of anycast': '8.8.8.8',
      'an internal address': '10.0.0.1',
    }
    for (const unknown of ['ignore', 'match'] as const) {
      const sallyport = await open(config([{ ...TEXAS, unknown }]), { onNotice: () => {} })
      t.teardown(() => sallyport.close())
      for (const [name, peer] of Object.entries(outside)) {
        const { action, inspection } = decide(sallyport, peer)
        t.equal(action, unknown === 'match' ? 'block' : 'allow', `${name}, ${unknown}`)
        t.equal(inspection.region?.code, undefined, name)
      }
    }
  },
)

t.test('without the city file every region is unknown', async (t) => {
  const sources = { 'dbip-city-v4': { enabled: false }, 'dbip-city-v6': { enabled: false } }
  const rules = [{ ...TEXAS, unknown: 'match' }]
  const sallyport = await open(config(rules, { data: { refresh: false, sources } }), { onNotice: () => {} })
  t.teardown(() => sallyport.close())
  t.match(decide(sallyport, TEXAN), { action: 'block', inspection: { region: { doubt: 'no_data' } } })
  const { network } = decide(sallyport, TEXAN).inspection
  t.same(await sallyport.knowledge.findRegion(makeAddress(TEXAN), network), { doubt: 'no_data' }, 'so does a lookup')
})
