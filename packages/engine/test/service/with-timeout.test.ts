import { createServer } from 'node:net'
import type { WhoisAnswer } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { listening } from '#stores/testing'
import { open } from '../../src/open/open.ts'
import { dnsWithTimeout, whoisWithTimeout } from '../../src/service/with-timeout.ts'
import { madeConfig } from '../open/made-sources.ts'

const NEVER = new Promise<never>(() => {})
const EXAMPLE = { domain: 'example.com', tld: 'com' }

t.test('a WHOIS answer is waited for within the caller’s own time', async (t) => {
  let answerWith = (_answer: WhoisAnswer): void => {}
  const whois = whoisWithTimeout({
    find: () =>
      new Promise((resolve) => {
        answerWith = resolve
      }),
  })
  const patient = whois.find(EXAMPLE, 600_000)
  const answerPatient = answerWith
  t.strictSame(await whois.find(EXAMPLE, 20), {
    state: 'failed',
    domain: 'example.com',
    reason: 'no response within 20 ms',
  })
  const answer = { state: 'free', domain: 'example.com' } as const
  answerPatient(answer)
  t.equal(await patient, answer, 'another caller waits on')
  const prompt = whoisWithTimeout({ find: async () => answer })
  t.strictSame([await prompt.find(EXAMPLE, 1_000), await prompt.find(EXAMPLE)], [answer, answer])
})

t.test('a DNS answer is waited for within the bound', async (t) => {
  const dns = dnsWithTimeout({ resolve: () => NEVER, resolvePtr: () => NEVER }, 20)
  const late = { state: 'failed', reason: 'ETIMEOUT' }
  t.strictSame(await dns.resolve('example.com'), late)
  t.strictSame(await dns.resolvePtr(makeAddress('8.8.8.8')), late)
})

t.test('a lookup answers although a resolver or a registry is silent', async (t) => {
  const registry = createServer((socket) => socket.on('error', () => {}))
  const sallyport = await open(
    {
      ...madeConfig(t.testdir()),
      whois: { servers: { de: `127.0.0.1:${await listening(t, registry)}` } },
      net: { allowPrivate: ['127.0.0.0/8'] },
    },
    {
      dns: {
        resolve: (name) =>
          name === 'www.example.de' ? Promise.resolve({ state: 'found', addresses: [makeAddress('8.8.8.8')] }) : NEVER,
        resolvePtr: () => NEVER,
      },
    },
  )
  t.teardown(() => sallyport.close())
  const { key } = await sallyport.keyring.issue({ plan: 'free' })
  const call = async (method: string, path: string, body?: object) => {
    const answer = await sallyport.api({
      peer: '8.1.0.1',
      method,
      path,
      target: path,
      scheme: 'http',
      httpVersion: '1.1',
      fields: ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json'],
      query: new URLSearchParams(),
      json: async () => body,
    })
    return { status: answer?.status, json: JSON.parse(String(answer?.body)) }
  }
  const [unresolved, found, asked] = await Promise.all([
    call('POST', '/v1/ip/lookup', { target: 'slow.example.de' }),
    call('POST', '/v1/ip/lookup', { target: 'https://www.example.de/' }),
    call('GET', '/v1/whois/example.de'),
  ])
  t.match(unresolved, { status: 400, json: { error: 'unresolved_target' } })
  t.match(found, { status: 200, json: { target: { hostname: 'www.example.de', ip: '8.8.8.8' } } })
  t.ok(found.json.degraded.includes('whois'))
  t.notOk('whois' in found.json)
  t.match(asked, { status: 503 })
})
