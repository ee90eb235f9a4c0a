import t from 'tap'
import { writeMmdb } from '#datasets/testing'
import { madeConfig } from '../../open/made-sources.ts'
import { HOUR, openGuarded } from './guarded.ts'

/** Two operators have lines alone, one has servers, and one is a VPN. */
const SYSTEMS = [
  '8.1.0.0,8.1.255.255,7922,"Comcast Cable Communications, LLC"',
  '8.2.0.0,8.2.255.255,24940,Hetzner Online GmbH',
  '8.3.0.0,8.3.255.255,209103,Proton AG',
  '8.5.0.0,8.5.255.255,12392,VOO S.A.',
]
const PLACES = {
  '8.1.0.0/16': { city: 'Denver', country_code: 'US', latitude: 39.7, longitude: -105 },
  '8.2.0.0/16': { city: 'Nuremberg', country_code: 'DE', latitude: 49.4, longitude: 11.1 },
  '8.3.0.0/16': { city: 'Tokyo', country_code: 'JP', latitude: 35.7, longitude: 139.7 },
  '8.5.0.0/16': { city: 'Herve', country_code: 'BE', latitude: 50.6, longitude: 5.8 },
}
const [DENVER, SERVER, VPN, HERVE] = ['8.1.0.7', '8.2.0.7', '8.3.0.7', '8.5.0.7'] as const

t.test('a login that no flight explains is challenged, with both places, networks and confidences', async (t) => {
  const clock = { now: Date.now() }
  const made = madeConfig(t.testdir(), {
    'asn-csv-v4': `${SYSTEMS.join('\n')}\n`,
    'asn-country-v4':
      '8.1.0.0,8.1.255.255,US\n8.2.0.0,8.2.255.255,DE\n8.3.0.0,8.3.255.255,CH\n8.5.0.0,8.5.255.255,BE\n',
    city: writeMmdb(PLACES, { ipVersion: 4 }),
  })
  const { assess } = await openGuarded(t, made, { clock: { now: () => clock.now } })
  const login = (peer: string, outcome?: 'success') => assess({ outcome }, peer)
  await login(DENVER, 'success')
  clock.now += HOUR
  for (const peer of [SERVER, VPN]) {
    t.match(await login(peer), { action: 'allow', account: { travel: false } }, peer)
  }
  const stranger = await login(HERVE, 'success')
  t.match(stranger, { action: 'challenge', rule: 'account-travel', account: { travel: true } })
  const reason = stranger.reasons.find(({ id }) => id === 'account:travel')
  t.match(reason?.text, /Denver, US \(AS7922 Comcast Cable Communications, LLC, confidence 0\.\d+\)/)
  t.match(reason?.text, /and 60 minutes later Herve, BE \(AS12392 VOO S\.A\., confidence 0\.\d+\), at least \d+ km/)
  t.match(reason?.text, /; confidence 0\.\d+\.$/)
  t.match(await login(DENVER), { action: 'allow', account: { known: true } }, 'nothing has changed for the owner')
  clock.now += 23 * HOUR
  t.match(await login(HERVE), { action: 'allow', account: { travel: false, novel: true } }, 'a flight explains it')
})
