import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { request as requestByNode } from 'node:http'
import { signer } from '@sallyport/core/signing'
import { openSimulated } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { startProxyBefore } from './proxy.ts'
import { makeQuietConfig } from './without-data.ts'

/* A program of our users signs its requests, and our gate lets that program alone through. */
const AGENT = 'https://bot.example'
const VISITOR = { 'x-forwarded-for': '8.8.8.8' }
const { privateKey } = generateKeyPairSync('ed25519')

/** Opens a gate before an origin that answers every request with its method and body. */
async function openGate(t: Test): Promise<string> {
  const keys = [createPublicKey(privateKey).export({ format: 'jwk' })]
  const sallyport = await openSimulated(
    [{ agent: AGENT, document: { keys } }],
    makeQuietConfig(t, {
      webBotAuth: { agents: [AGENT] },
      dns: { servers: ['127.0.0.1:1'], timeoutMs: 10 },
      policy: {
        preset: 'observe',
        rules: [{ id: 'ours', match: { identity: [AGENT] }, action: 'allow' }],
        default: 'block',
      },
    }),
  )
  t.teardown(() => sallyport.close())
  const proxy = await startProxyBefore(t, sallyport, (req, res) => {
    res.write(`${req.method} `)
    req.pipe(res)
  })
  return proxy.url
}

t.test('a gate accepts signed requests of fetch, undici and node:http', async (t) => {
  const url = `${await openGate(t)}/a?b=c`
  const bot = signer({ key: privateKey, agent: AGENT })
  const post = () => new Request(url, { method: 'POST', headers: VISITOR, body: 'text' })
  t.equal((await fetch(post())).status, 403, 'nobody signed it')
  const sent = await bot.sign(post())
  const copy = Object.fromEntries(sent.headers)
  const answer = await fetch(sent)
  t.same([answer.status, await answer.text()], [200, 'POST text'])
  const replayed = await fetch(url, { method: 'POST', headers: copy, body: 'text' })
  t.equal(replayed.status, 403, 'its nonce is used up')

  const parts = { method: 'PUT', url, headers: VISITOR } as const
  const byUndici = await request(url, { ...parts, headers: { ...VISITOR, ...bot.signFields(parts) }, body: 'x' })
  t.same([byUndici.statusCode, await byUndici.body.text()], [200, 'PUT x'])

  const outgoing = requestByNode(url, { headers: { ...VISITOR, ...bot.signFields({ url, headers: VISITOR }) } }).end()
  const [incoming] = await once(outgoing, 'response')
  incoming.resume()
  t.equal(incoming.statusCode, 200)

  const other = signer({ key: generateKeyPairSync('ed25519').privateKey, agent: AGENT })
  t.equal((await fetch(await other.sign(post()))).status, 403, "another key is not the agent's")
})

t.test('a refused program that signs when it is asked gets in with its second request', async (t) => {
  const url = `${await openGate(t)}/`
  const bot = signer({ key: privateKey, agent: AGENT, when: 'asked' })
  const visit = async () => fetch(await bot.sign(new Request(url, { headers: VISITOR })))
  const first = await visit()
  t.equal(first.status, 403)
  t.ok(bot.asks(url, first.headers.get('accept-signature')))
  t.same([(await visit()).status, (await visit()).status], [200, 200])
})
