import { setTimeout as delay } from 'node:timers/promises'
import { type Prefix, parseHostOrPrefix } from '@sallyport/core'
import t from 'tap'
import { openOverrides } from '../../src/open/index.ts'
import { openNameServer } from '../net/name-server.ts'
import { madeConfig } from '../open/made-sources.ts'
import { openService } from '../open/opened.ts'
import { requestFrom } from '../open/requests.ts'

/** Fields against which no preset has anything. */
const FIELDS = ['Host', 'a.example', 'User-Agent', 'Lynx/2.9.2', 'Accept-Language', 'en']

t.test('an override set elsewhere is in force in a running process, and so is its end', async (t) => {
  const config = madeConfig(t.testdir())
  const sallyport = await openService(t, { ...config, policy: { preset: 'low-friction' } })
  const decide = () => sallyport.decide(requestFrom('8.1.0.1', FIELDS))
  t.match(decide(), { action: 'allow' })
  const elsewhere = await openOverrides(config)
  t.teardown(() => elsewhere.close())
  const prefix = parseHostOrPrefix('8.1.0.1') as Prefix
  await elsewhere.overrides.set(prefix, { networkClass: 'residential_proxy', note: 'seen selling' })
  while (decide().action === 'allow') await delay(10)
  t.match(decide(), {
    action: 'flag',
    reasons: [{}, { id: 'network:residential_proxy', text: /set by the operator/, source: 'operator-overrides' }],
    inspection: { network: { verdict: { method: 'ip_state', confidence: 1 }, asn: 7922 } },
  })
  t.match(await sallyport.lookup('8.1.0.1'), { isProxy: true, verdict: { method: 'ip_state' } })
  await elsewhere.overrides.unset(prefix)
  while (decide().action === 'flag') await delay(10)
  t.match(decide().inspection.network.verdict, { classification: 'residential_clean', method: 'asn' })
})

t.test('reverse names are asked only where they are switched on, and not waited for', async (t) => {
  const made = madeConfig(t.testdir())
  const { address, asked } = await openNameServer(t, () => 'silent')
  for (const reverseNames of [false, true]) {
    const sallyport = await openService(t, { ...made, dns: { servers: [address], timeoutMs: 10, reverseNames } })
    const visitor = requestFrom(reverseNames ? '8.2.0.2' : '8.2.0.1')
    t.match(sallyport.inspect(visitor).network.verdict, { classification: 'hosting' })
  }
  while (asked.length === 0) await delay(10)
  t.same(new Set(asked), new Set(['PTR 2.0.2.8.in-addr.arpa']))
})
