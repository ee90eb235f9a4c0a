import { generateKeyPairSync } from 'node:crypto'
import { createSigner, DIRECTORY_PATH } from '@sallyport/core'
import t from 'tap'
import { parseConfig } from '../../src/config/parse.ts'
import { readPolicy } from '../../src/config/policy-file.ts'
import { openSimulated } from '../../src/open/index.ts'
import { NO_SOURCES } from '../open/made-sources.ts'
import { requestFrom } from '../open/requests.ts'

t.test('an agent whose keys are published is verified, and decided about by the policy of the file', async (t) => {
  const agent = 'https://agent.example'
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const sallyport = await openSimulated([{ agent, document: signer.directory }], {
    dataDir: t.testdir(),
    data: { refresh: false, sources: NO_SOURCES },
    webBotAuth: { agents: [agent] },
    policy: { preset: 'agents-welcome', rules: [{ id: 'known', match: { identity: [agent] }, action: 'block' }] },
    // Nobody answers: the fetch of the real directory fails, and takes no key away.
    dns: { servers: ['127.0.0.1:1'], timeoutMs: 10 },
  })
  t.teardown(() => sallyport.close())
  const fields = ['Host', 'example.com', 'Signature-Agent', `"${agent}"`]
  const request = { ...requestFrom('8.8.8.8', fields), scheme: 'https' } as const
  const created = Math.floor(Date.now() / 1000)
  const components = '"@authority" "signature-agent"'
  const signature = signer.sign({ request, label: 'sig1', components, created, expires: created + 60, nonce: 'x' })
  t.match(sallyport.decide({ ...request, fields: [...fields, ...signature] }), {
    action: 'block',
    reasons: [{ id: 'policy:known' }, {}, { id: 'signature:verified' }],
    inspection: { agent: { class: 'ai_agent', identity: { name: agent, verified: true } } },
  })
  t.equal(DIRECTORY_PATH, '/.well-known/http-message-signatures-directory')
})

t.test('a policy is read from a file, alone or within a configuration', async (t) => {
  const match = { identity: ['*'], time: { from: '09:00', days: ['mon'] }, not: { asn: [2] } } as const
  const rule = { id: 'all', match, action: 'block', monitor: true, onError: 'flag', unknown: 'match', status: 451 }
  const policy = { preset: 'jurisdiction-strict', rules: [rule], default: 'flag', onError: 'block', allowlist: ['::1'] }
  t.same(parseConfig({ policy }).policy, policy)
  t.throws(() => parseConfig({ webBotAuth: { agents: ['chatgpt.com'] } }), { message: /webBotAuth\.agents\.0/ })
  const file = `${t.testdir({ 'p.json': JSON.stringify({ policy }), 'q.json': JSON.stringify(policy) })}/p.json`
  t.same([readPolicy(file), readPolicy(file.replace('/p.', '/q.'))], [policy, policy])
})
