import { setTimeout as delay } from 'node:timers/promises'
import { formatHostOrPrefix, type InspectionRequest, type Prefix, parseHostOrPrefix } from '@sallyport/core'
import t from 'tap'
import { open, openOverrides } from '../../src/open/index.ts'
import { madeConfig } from '../open/made-sources.ts'

/** Fields against which no preset has anything. */
const FIELDS = ['Host', 'a.example', 'User-Agent', 'Lynx/2.9.2', 'Accept-Language', 'en']

function requestFrom(peer: string): InspectionRequest {
  return { peer, method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields: FIELDS }
}

function place(text: string): Prefix {
  const parsed = parseHostOrPrefix(text)
  if (parsed === undefined) throw new TypeError(text)
  return parsed
}

t.test('an override set elsewhere is in force in a running process, and so is its end', async (t) => {
  const config = madeConfig(t.testdir())
  const sallyport = await open({ ...config, policy: { preset: 'low-friction' } })
  t.teardown(() => sallyport.close())
  const decide = () => sallyport.decide(requestFrom('8.1.0.1'))
  t.match(decide(), { action: 'allow' })
  const elsewhere = await openOverrides(config)
  t.teardown(() => elsewhere.close())
  await elsewhere.overrides.set(place('8.1.0.1'), { networkClass: 'residential_proxy', note: 'seen selling' })
  while (decide().action === 'allow') await delay(10)
  t.match(decide(), {
    action: 'flag',
    reasons: [{}, { id: 'network:residential_proxy', text: /set by the operator/, source: 'operator-overrides' }],
    inspection: { network: { verdict: { method: 'ip_state', confidence: 1 }, asn: 7922 } },
  })
  t.match(await sallyport.lookup('8.1.0.1'), { isProxy: true, verdict: { method: 'ip_state' } })
  await elsewhere.overrides.unset(place('8.1.0.1'))
  while (decide().action === 'flag') await delay(10)
  t.match(decide().inspection.network.verdict, { classification: 'residential_clean', method: 'asn' })
})

t.test('a prefix counts for each of its addresses that nothing longer is set for', async (t) => {
  const sallyport = await open({ ...madeConfig(t.testdir()), policy: { preset: 'low-friction' } })
  t.teardown(() => sallyport.close())
  const { overrides } = sallyport
  await overrides.set(place('8.1.0.0/24'), { networkClass: 'tor' })
  await overrides.set(place('8.1.0.9'), { networkClass: 'mobile' })
  const readClass = (peer: string) => sallyport.inspect(requestFrom(peer)).network.verdict.classification
  t.same(['8.1.0.1', '8.1.0.9', '8.1.1.1'].map(readClass), ['tor', 'mobile', 'residential_clean'])
  await overrides.unset(place('8.1.0.0/24'))
  t.same(['8.1.0.1', '8.1.0.9'].map(readClass), ['residential_clean', 'mobile'])
})

t.test('set, listed and unset; a reserved address stays what it is', async (t) => {
  const { overrides, close } = await openOverrides(madeConfig(t.testdir()))
  t.teardown(close)
  t.same(await overrides.list(), [])
  const set = await overrides.set(place('8.2.0.1'), { networkClass: 'vpn', provider: 'Tunnels', ttlMs: 60_000 })
  t.equal((set.expiresAt ?? 0) - set.setAt, 60_000)
  t.same(
    (await overrides.list()).map((one) => formatHostOrPrefix(one.prefix)),
    ['8.2.0.1'],
  )
  await overrides.unset(place('8.2.0.1'))
  await t.rejects(overrides.unset(place('8.2.0.1')), { code: 'unknown_observation' })
  await t.rejects(overrides.set(place('10.0.0.1'), { networkClass: 'vpn' }), {
    code: 'invalid_request',
    message: /10\.0\.0\.1 is reserved \(private\)/,
  })
  await t.rejects(overrides.set(place('10.1.0.0/16'), { networkClass: 'vpn' }), {
    message: /10\.1\.0\.0\/16 is reserved/,
  })
})

t.test('reverse names are asked only where they are switched on', async (t) => {
  const sallyport = await open({
    ...madeConfig(t.testdir()),
    dns: { servers: ['127.0.0.1:9'], timeoutMs: 10, reverseNames: true },
  })
  t.equal(sallyport.config.dns.reverseNames, true)
  t.equal(
    sallyport.inspect(requestFrom('8.2.0.1')).network.verdict.classification,
    'hosting',
    'the answer is not waited for',
  )
  await sallyport.close()
  const plain = await open(madeConfig(t.testdir({})))
  t.teardown(() => plain.close())
  t.equal(plain.config.dns.reverseNames, false)
})
