import type { WhoisAnswer } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { whoisWithTimeout } from '../../src/service/with-timeout.ts'
import { openTcpServer } from '../net/web-server.ts'
import { openMade } from '../open/opened.ts'
import { callApi } from '../open/requests.ts'

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
  const late = { state: 'failed', domain: 'example.com', reason: 'no response within 20 ms' }
  t.strictSame(await whois.find(EXAMPLE, 20), late)
  const answer = { state: 'free', domain: 'example.com' } as const
  answerPatient(answer)
  t.equal(await patient, answer, 'another caller waits on')
  const prompt = whoisWithTimeout({ find: async () => answer })
  t.strictSame([await prompt.find(EXAMPLE, 1_000), await prompt.find(EXAMPLE)], [answer, answer])
})

t.test('a lookup answers although a resolver or a registry is silent', async (t) => {
  const registry = await openTcpServer(t, () => {})
  const found = { state: 'found', addresses: [makeAddress('8.8.8.8')] } as const
  const dns = {
    resolve: (name: string) => (name === 'www.example.de' ? Promise.resolve(found) : NEVER),
    resolvePtr: () => NEVER,
  }
  const whois = { servers: { de: `127.0.0.1:${registry}` } }
  const sallyport = await openMade(t, { whois, net: { allowPrivate: ['127.0.0.0/8'] } }, { dns })
  const { key } = await sallyport.keyring.issue({ plan: 'free' })
  const [unresolved, answered, asked] = await Promise.all([
    callApi(sallyport, '/v1/ip/lookup', key, { target: 'slow.example.de' }),
    callApi(sallyport, '/v1/ip/lookup', key, { target: 'https://www.example.de/' }),
    callApi(sallyport, '/v1/whois/example.de', key),
  ])
  t.match(unresolved, { status: 400, json: { error: 'unresolved_target' } })
  t.match(answered, { status: 200, json: { target: { hostname: 'www.example.de', ip: '8.8.8.8' }, whois: undefined } })
  t.ok(answered.json.degraded.includes('whois'))
  t.match(asked, { status: 503 })
})
