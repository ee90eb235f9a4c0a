import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { parseAddress } from '@sallyport/core'
import { createFakeDns } from '@sallyport/core/testing'
import t from 'tap'
import { dnsInTime, whoisInTime } from '../src/in-time.ts'
import { open } from '../src/open.ts'
import { madeConfig } from './made-sources.ts'

const NEVER = new Promise<never>(() => {})
const EXAMPLE = { domain: 'example.com', tld: 'com' }

t.test('nobody waits longer than they have, and what comes in time is passed on', async (t) => {
  const silent = whoisInTime({ find: () => NEVER })
  const late = { state: 'failed', domain: 'example.com', reason: 'not told within 20 ms' }
  t.strictSame(await silent.find(EXAMPLE, 20), late)
  const answer = { state: 'free', domain: 'example.com' } as const
  const prompt = whoisInTime({ find: async () => answer })
  t.strictSame([await prompt.find(EXAMPLE, 1_000), await prompt.find(EXAMPLE)], [answer, answer])
})

t.test('a resolver of much patience is not waited for', async (t) => {
  const dns = dnsInTime({ resolve: () => NEVER, resolvePtr: () => NEVER }, 20)
  const late = { state: 'failed', reason: 'ETIMEOUT' }
  t.strictSame(await dns.resolve('example.com'), late)
  const address = parseAddress('8.8.8.8')
  if (address !== undefined) t.strictSame(await dns.resolvePtr(address), late)
})

t.test('a registry that is silent costs a hostname its four seconds and nothing else', async (t) => {
  const registry = createServer((socket) => socket.on('error', () => {}))
  registry.listen(0, '127.0.0.1')
  await once(registry, 'listening')
  t.teardown(() => registry.close())
  const address = parseAddress('8.8.8.8')
  const sallyport = await open(
    {
      ...madeConfig(t.testdir()),
      whois: { servers: { de: `127.0.0.1:${(registry.address() as AddressInfo).port}` } },
      net: { allowPrivate: ['127.0.0.0/8'] },
    },
    { dns: createFakeDns(address === undefined ? {} : { 'www.example.de': { state: 'found', addresses: [address] } }) },
  )
  t.teardown(() => sallyport.close())
  const { key } = await sallyport.keyring.issue({ plan: 'free' })
  const call = async () => {
    const answer = await sallyport.api({
      peer: '8.1.0.1',
      method: 'POST',
      target: '/v1/ip/lookup',
      scheme: 'http',
      httpVersion: '1.1',
      fields: ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json'],
      path: '/v1/ip/lookup',
      query: new URLSearchParams(),
      json: async () => ({ target: 'https://www.example.de/' }),
    })
    return { status: answer?.status, json: JSON.parse(String(answer?.body)) }
  }
  for (const { status, json } of await Promise.all([call(), call()])) {
    t.equal(status, 200)
    t.match(json.target, { hostname: 'www.example.de', ip: '8.8.8.8' })
    t.ok(json.degraded.includes('whois'))
    t.notOk('whois' in json)
  }
})
