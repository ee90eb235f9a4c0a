import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { type NameAnswer, parseAddress } from '@sallyport/core'
import t from 'tap'
import { open } from '../src/open.ts'
import { dnsWithTimeout, whoisWithTimeout } from '../src/with-timeout.ts'
import { madeConfig } from './made-sources.ts'

const NEVER = new Promise<never>(() => {})
const EXAMPLE = { domain: 'example.com', tld: 'com' }

t.test('nobody waits longer than they have, and what comes in time is passed on', async (t) => {
  const silent = whoisWithTimeout({ find: () => NEVER })
  const late = { state: 'failed', domain: 'example.com', reason: 'no answer within 20 ms' }
  t.strictSame(await silent.find(EXAMPLE, 20), late)
  const answer = { state: 'free', domain: 'example.com' } as const
  const prompt = whoisWithTimeout({ find: async () => answer })
  t.strictSame([await prompt.find(EXAMPLE, 1_000), await prompt.find(EXAMPLE)], [answer, answer])
})

t.test('a resolver of much patience is not waited for', async (t) => {
  const dns = dnsWithTimeout({ resolve: () => NEVER, resolvePtr: () => NEVER }, 20)
  const late = { state: 'failed', reason: 'ETIMEOUT' }
  t.strictSame(await dns.resolve('example.com'), late)
  const address = parseAddress('8.8.8.8')
  if (address !== undefined) t.strictSame(await dns.resolvePtr(address), late)
})

t.test(
  'a hostname has four seconds in all: for a resolver, for a registry, and for a question of others',
  async (t) => {
    const registry = createServer((socket) => socket.on('error', () => {}))
    registry.listen(0, '127.0.0.1')
    await once(registry, 'listening')
    t.teardown(() => registry.close())
    let resolved = (_answer: NameAnswer): void => {}
    const resolving = new Promise<NameAnswer>((resolve) => {
      resolved = resolve
    })
    const sallyport = await open(
      {
        ...madeConfig(t.testdir()),
        whois: { servers: { de: `127.0.0.1:${(registry.address() as AddressInfo).port}` } },
        net: { allowPrivate: ['127.0.0.0/8'] },
      },
      {
        dns: {
          resolve: (name) => (name === 'www.example.de' ? resolving : NEVER),
          resolvePtr: () => NEVER,
        },
      },
    )
    t.teardown(() => sallyport.close())
    const { key } = await sallyport.keyring.issue({ plan: 'free' })
    const order: string[] = []
    const call = async (method: string, path: string, body?: object) => {
      const answer = await sallyport.api({
        ...{ peer: '8.1.0.1', method, path, target: path, scheme: 'http', httpVersion: '1.1' },
        fields: ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json'],
        query: new URLSearchParams(),
        json: async () => body,
      })
      order.push(path)
      return { status: answer?.status, json: JSON.parse(String(answer?.body)) }
    }
    const unresolved = call('POST', '/v1/ip/lookup', { target: 'slow.example.de' })
    const looking = call('POST', '/v1/ip/lookup', { target: 'https://www.example.de/' })
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    // The registry is asked now, for four seconds; the lookup has three left.
    const asked = once(registry, 'connection')
    const asking = call('GET', '/v1/whois/example.de')
    await asked
    const address = parseAddress('8.8.8.8')
    if (address !== undefined) resolved({ state: 'found', addresses: [address] })
    const { status, json } = await looking
    t.equal(status, 200)
    t.match(json.target, { hostname: 'www.example.de', ip: '8.8.8.8' })
    t.ok(json.degraded.includes('whois'))
    t.notOk('whois' in json)
    await new Promise((resolve) => setTimeout(resolve, 200))
    t.notOk(order.includes('/v1/whois/example.de'), 'who asked later still waits')
    t.match(await unresolved, { status: 400, json: { error: 'unresolved_target' } })
    t.match(await asking, { status: 503 })
  },
)
