import { generateKeyPairSync } from 'node:crypto'
import { createSigner } from '@sallyport/core'
import { openSimulated } from '@sallyport/engine'
import t from 'tap'
import { request } from 'undici'
import { startProxy } from './proxy.ts'
import { makeQuietConfig } from './without-data.ts'

/* A server in front asks about requests that agents have signed: the signature is held against the request, not against the check. */
const AGENT = 'https://agent.example'
const signer = createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))

function signed({ host = 'site.example', method = 'GET', target = '/a%2fb?x=%41' } = {}) {
  const fields = ['Host', host, 'Signature-Agent', `"${AGENT}"`]
  const created = Math.floor(Date.now() / 1000)
  const [, input = '', , signature = ''] = signer.sign({
    request: { method, target, scheme: 'https', fields },
    label: 'sig1',
    components: '"@authority" "@method" "@path" "@query" "signature-agent"',
    created,
    expires: created + 60,
    nonce: `${Math.random()}`,
  })
  return { 'Signature-Agent': `"${AGENT}"`, 'Signature-Input': input, Signature: signature }
}

/** Fields of a check of `GET https://site.example/a%2fb?x=%41`, as each server writes them. */
const CHECKS = {
  nginx: { Host: 'site.example', 'X-Original-URI': '/a%2fb?x=%41', 'X-Original-Method': 'GET' },
  caddy: { 'X-Forwarded-Host': 'site.example', 'X-Forwarded-Uri': '/a%2fb?x=%41', 'X-Forwarded-Method': 'GET' },
} as const
const FROM = { 'X-Forwarded-For': '8.8.8.8', 'X-Forwarded-Proto': 'https' }

for (const family of ['nginx', 'caddy'] as const) {
  t.test(`a signature through a check of ${family}`, async (t) => {
    const sallyport = await openSimulated(
      [{ agent: AGENT, document: signer.directory }],
      makeQuietConfig(t, {
        webBotAuth: { agents: [AGENT] },
        policy: { preset: 'observe', rules: [{ id: 'known', match: { identity: [AGENT] }, action: 'flag' }] },
        dns: { servers: ['127.0.0.1:1'], timeoutMs: 10 },
      }),
    )
    t.teardown(() => sallyport.close())
    const proxy = await startProxy(t, sallyport, { forwardAuth: family })
    const readAction = async (fields: Readonly<Record<string, string>>): Promise<unknown> => {
      const headers = { ...CHECKS[family], ...FROM, ...fields }
      const answer = await request(`${proxy.url}/.sallyport/check`, { headers })
      await answer.body.dump()
      return answer.headers['sallyport-action']
    }
    // The keys are read as the service starts, behind its requests.
    while ((await readAction(signed())) !== 'flag');
    t.equal(await readAction({}), 'allow')
    const targets = ['/a/b?x=%41', '/.sallyport/check'].map((target) => ({ target }))
    for (const other of [{ host: 'other.example' }, { method: 'POST' }, ...targets]) {
      t.equal(await readAction(signed(other)), 'allow', JSON.stringify(other))
    }
    // The name of the other family is a client's word.
    const spoofed = family === 'nginx' ? { 'X-Forwarded-Host': 'other.example' } : { Host: 'other.example' }
    t.equal(await readAction({ ...signed({ host: 'other.example' }), ...spoofed }), 'allow')
  })
}
