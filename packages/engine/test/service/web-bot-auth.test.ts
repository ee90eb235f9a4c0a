import { generateKeyPairSync } from 'node:crypto'
import { createSigner, DIRECTORY_PATH, type Match } from '@sallyport/core'
import t from 'tap'
import { parseConfig } from '../../src/config/parse.ts'
import { readPolicy } from '../../src/config/policy-file.ts'
import { openSimulated } from '../../src/open/index.ts'

const NO_DATA = Object.fromEntries(
  ['asn-csv-v4', 'asn-csv-v6', 'asn-country-v4', 'asn-country-v6', 'dbip-city-v4', 'dbip-city-v6'].map((id) => [
    id,
    { enabled: false },
  ]),
)

t.test('an agent whose keys are published is verified, and decided about by the policy of the file', async (t) => {
  const agent = 'https://agent.example'
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const sallyport = await openSimulated([{ agent, document: signer.directory }], {
    dataDir: t.testdir(),
    data: { refresh: false, sources: NO_DATA },
    webBotAuth: { agents: [agent] },
    policy: { preset: 'agents-welcome', rules: [{ id: 'known', match: { identity: [agent] }, action: 'block' }] },
    // Nobody answers: the fetch of the real directory fails, and takes no key away.
    dns: { servers: ['127.0.0.1:1'], timeoutMs: 10 },
  })
  t.teardown(() => sallyport.close())
  const fields = ['Host', 'example.com', 'Signature-Agent', `"${agent}"`]
  const request = { peer: '8.8.8.8', method: 'GET', target: '/', scheme: 'https', httpVersion: '1.1', fields } as const
  const created = Math.floor(Date.now() / 1000)
  const signature = signer.sign({
    request,
    label: 'sig1',
    components: '"@authority" "signature-agent"',
    created,
    expires: created + 60,
    nonce: 'x',
  })
  t.match(sallyport.decide({ ...request, fields: [...fields, ...signature] }), {
    action: 'block',
    reasons: [{ id: 'policy:known' }, {}, { id: 'signature:verified' }],
    inspection: { agent: { class: 'ai_agent', identity: { name: agent, verified: true } } },
  })
  t.equal(DIRECTORY_PATH, '/.well-known/http-message-signatures-directory')
})

t.test('every word of the policy language is one of the configuration', async (t) => {
  const match: { readonly [Word in keyof Match]-?: NonNullable<Match[Word]> } = {
    path: ['/a'],
    method: ['GET'],
    class: ['human'],
    operator: ['OpenAI'],
    vendor: ['OpenAI'],
    purpose: ['agent'],
    identity: ['*'],
    networkClass: ['vpn'],
    provider: ['x'],
    country: ['DE', 'unknown'],
    region: ['US-TX', 'sanctions:eu'],
    asn: [1],
    confidence: { atLeast: 0.5, atMost: 1 },
    networkConfidence: { atMost: 0.5 },
    botProbability: { atLeast: 0.9 },
    behaviour: { differentPages: { atLeast: 100 } },
    header: { present: ['a'], absent: ['b'] },
    basis: ['signature'],
    time: { from: '09:00', to: '17:00', days: ['mon'], zone: 'Europe/Berlin' },
    headless: true,
    crawler: ['gptbot'],
    crawlerOutcome: ['verified'],
    user: ['17'],
    plan: ['free'],
    address: ['198.51.100.0/24'],
    userAgent: ['*Scrapy*', '/^x/i'],
    host: ['a.example'],
    query: { a: ['1'] },
    cookie: { a: [''] },
    headerValue: { accept: ['*'] },
    referer: ['*'],
    contentType: ['text/*'],
    language: ['de'],
    httpVersion: ['2'],
    ja4: ['program'],
    mcp: { method: ['tools/call'], name: ['search'] },
    weight: { atLeast: 7 },
    load: { atLeast: 0.8, atMost: 2 },
    pass: 'none',
    share: 0.05,
    robots: ['disallowed'],
    event: ['login'],
    mail: { disposable: true, noMx: false },
    account: { known: false },
    not: { cookie: { b: ['2'] }, asn: [2] },
  }
  const rule = { id: 'all', match, action: 'block', monitor: true, onError: 'flag', unknown: 'match', status: 451 }
  const policy = { preset: 'jurisdiction-strict', rules: [rule], default: 'flag', onError: 'block', allowlist: ['::1'] }
  t.same(parseConfig({ policy }).policy, policy)
  const refused = (wrong: object) => () => parseConfig({ policy: { rules: [{ ...rule, match: wrong }] } })
  t.throws(refused({ visitor: ['x'] }), { code: 'invalid_config', message: /policy\.rules\.0\.match\.visitor/ })
  t.throws(refused({ confidence: { atLeast: 2 } }), { message: /policy\.rules\.0\.match\.confidence\.atLeast/ })
  t.throws(refused({ mail: { throwaway: true } }), { message: /policy\.rules\.0\.match\.mail/ })
  t.throws(refused({ time: { days: ['Sunday'] } }), { message: /policy\.rules\.0\.match\.time\.days\.0/ })
  t.throws(() => parseConfig({ webBotAuth: { agents: ['chatgpt.com'] } }), { message: /webBotAuth\.agents\.0/ })
  const file = `${t.testdir({ 'p.json': JSON.stringify({ policy }), 'q.json': JSON.stringify(policy) })}/p.json`
  t.same([readPolicy(file), readPolicy(file.replace('/p.', '/q.'))], [policy, policy])
})
