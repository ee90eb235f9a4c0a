import { generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { readKey } from '../src/agent/signature/key.ts'
import { compilePolicy, type Rule } from '../src/index.ts'
import { agentInspector, CHROME, HOME, makeRequest as inspectedRequest, makeFields } from './agents.ts'
import {
  AGENT,
  buildBase,
  createVerifier,
  KEY_ID,
  makeRequest,
  NOW_S,
  type Signing,
  signedFields,
} from './signed-requests.ts'

import { splitWords } from './support.ts'

const movedTo = (host: string, fields = signedFields()): readonly string[] =>
  fields.map((text) => (text === 'example.com' ? host : text))
const FORGED = movedTo('example.org')

function look(signing: Signing = {}) {
  return createVerifier().verifier.look(makeRequest(signedFields(signing)))
}

t.test('a signature is verified by the key of the agent it names, in both forms of the header', async (t) => {
  const crawler = { slug: 'chatgpt-agent' }
  const verified = { outcome: 'verified', agent: AGENT, keyId: KEY_ID, forged: false, crawler }
  t.match(look(), { ...verified, replayable: true }, 'the bare string')
  const dictionary = { agent: `sig1="${AGENT}"`, components: '"@authority" "signature-agent";key="sig1"' }
  t.match(look(dictionary), verified, 'the dictionary')
  const two = `x="https://a.example", y="${AGENT}"`
  t.match(look({ agent: two, components: '"@authority" "signature-agent";key="y"' }), verified)
  t.match(look({ components: '"@authority" "@method" "@path" "signature-agent"' }), { ...verified, replayable: false })
  t.match(look({ components: '"@target-uri" "signature-agent"' }), { ...verified, replayable: false })
  t.match(look({ components: '"@authority" "@scheme" "@query" "@request-target" "signature-agent" "host"' }), verified)
  const agent = `other="https://a.example", sig1="${AGENT}"`
  for (const members of ['"signature-agent";key="other" "signature-agent";key="sig1"', '"signature-agent";key="sig1"'])
    t.match(look({ agent, components: `"@authority" ${members}` }), { outcome: 'verified', agent: AGENT }, members)
})

t.test('every accepted algorithm, and none other', async (t) => {
  const ec = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })
  const small = generateKeyPairSync('rsa', { modulusLength: 1024 }).privateKey.export({ format: 'jwk' })
  const ed = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
  const { verifier } = createVerifier({}, [ec, rsa, ed])
  const outcome = (signing: Signing) => verifier.look(makeRequest(signedFields(signing)))?.outcome
  t.equal(outcome({ key: ec, alg: 'ecdsa-p256-sha256' }), 'verified')
  t.equal(outcome({ key: rsa, alg: 'rsa-pss-sha512' }), 'verified')
  t.equal(outcome({ key: ed, alg: 'ed25519' }), 'verified')
  t.equal(outcome({ key: ed }), 'verified', 'the key says which')
  t.equal(outcome({ key: ed, alg: 'rsa-pss-sha512' }), 'invalid', 'another than the key’s')
  t.equal(outcome({ key: ed, alg: 'hmac-sha256' }), 'invalid')
  t.equal(readKey(small), undefined, 'a short key is no key')
  t.equal(readKey({ ...rsa, e: rsa.n }), undefined, 'nor one with an exponent that takes milliseconds')
})

t.test('a missing part makes a signature invalid, and nobody an impostor', async (t) => {
  const unusable = splitWords(`
    "http://chatgpt.com" "https://127.0.0.1" "https://[::1]" "https://localhost" "https://chatgpt.com:8443"
    "https://chatgpt.com/path" "https://a:b@chatgpt.com" "https://${'a'.repeat(600)}.com" "${AGENT}";type=nothing
  `)
  const rows: readonly (readonly [signing: Signing, why: RegExp])[] = [
    [{ created: undefined }, /created or expires/],
    [{ expires: undefined }, /created or expires/],
    [{ keyId: undefined }, /keyid is missing/],
    [{ created: NOW_S + 31 }, /future/],
    [{ expires: NOW_S }, /expired/],
    [{ expires: NOW_S + 86_400 }, /more than a day/],
    [{ components: '"signature-agent"' }, /neither @authority nor @target-uri/],
    [{ components: '"@authority"' }, /does not cover Signature-Agent/],
    [{ agent: `a="${AGENT}"` }, /no member "sig1"/],
    ...unusable.map((agent) => [{ agent }, /not a usable https URL/] as const),
    [{ agent: '(' }, /Signature-Agent is malformed/],
  ]
  for (const [signing, why] of rows)
    t.match(look(signing), { outcome: 'invalid', forged: false, detail: why }, JSON.stringify(signing).slice(0, 90))
  t.equal(look({ tag: 'agent-payer-auth' }), undefined, 'a signature between others is none of ours')
  t.match(look({ created: NOW_S + 29 }), { outcome: 'verified' }, 'clocks differ')
})

t.test('the key is found by agent and thumbprint together', async (t) => {
  const { verifier } = createVerifier({ agents: ['https://other.example'] })
  const fields = signedFields({ agent: '"https://other.example"' })
  t.match(verifier.look(makeRequest(fields)), { outcome: 'unverified', agent: 'https://other.example', forged: false })
  t.match(look({ agent: '"https://unknown.example"' }), { outcome: 'unverified', detail: /is not a trusted agent/ })
  t.match(look({ keyId: 'another' }), { outcome: 'unverified', detail: /has no such key/ })
})

t.test('a wrong signature by a known key is a forgery, unless a proxy may have changed the request', async (t) => {
  const { verifier } = createVerifier()
  const fields = signedFields()
  const elsewhere = movedTo('example.org', fields)
  t.match(verifier.look(makeRequest(elsewhere)), { outcome: 'invalid', forged: true, agent: AGENT })
  t.match(verifier.look(makeRequest([...elsewhere, 'Via', '1.1 x'])), { outcome: 'invalid', forged: false })
  const behind = [...elsewhere, 'X-Forwarded-Host', 'EXAMPLE.com:443', 'X-Forwarded-Proto', 'https']
  // A proxy may pass on what the client wrote there.
  const refused = { outcome: 'invalid', forged: false, detail: /webBotAuth\.authorityHeader/ }
  t.match(verifier.look({ ...makeRequest(behind), trusted: true }), refused)
  const twoHosts = makeRequest([...fields, 'Host', 'example.com'])
  t.match(verifier.look(twoHosts), { outcome: 'unverified' })
  t.match(verifier.lookAtDescribed(fields), { outcome: 'verified' })
  const withPath = signedFields({ components: '"@authority" "@path" "signature-agent"' })
  t.match(verifier.lookAtDescribed(withPath), { outcome: 'unverified' })
})

t.test('a component that is there twice, unknown or with parameters we do not know verifies nothing', async (t) => {
  for (const components of [
    '"@authority" "@authority" "signature-agent"',
    '"@authority" "@nothing" "signature-agent"',
    '"@authority" "missing" "signature-agent"',
    '"@authority" "Host" "signature-agent"',
    '"@authority";req "signature-agent"',
    '"@authority" "signature-agent";bs',
    '"@authority" "signature-agent" "host";key="a"',
  ])
    t.match(look({ components }), { outcome: 'unverified', forged: false }, components)
})

t.test('fields that nobody should send are refused, not followed', async (t) => {
  const { verifier } = createVerifier()
  const good = signedFields()
  const input = good[5] ?? ''
  const value = good[7] ?? ''
  const many = (count: number) => Array.from({ length: count }, (_, at) => input.replace('sig1', `s${at}`)).join(', ')
  const outcome = (...fields: readonly string[]) =>
    verifier.look(makeRequest(['Host', 'example.com', ...fields]))?.outcome
  t.same([outcome('Signature', value), outcome('Signature-Input', input)], ['invalid', 'invalid'])
  for (const [signature, sent] of [
    [value, `${input};pad="${'a'.repeat(9000)}"`],
    [value, many(5)],
    ['sig1=1', input],
    [value, 'sig1=1'],
    [value, `sig1=${'('.repeat(3000)}`],
    ['__proto__=:AA==:', '__proto__=("@authority")'],
    ['sig1=:\u0000:', 'sig1=("@authority")'],
  ] as const)
    t.equal(outcome('Signature', signature, 'Signature-Input', sent), 'invalid', sent.slice(0, 80))
  const twice = [...good.slice(0, 4), 'Signature-Input', `sig1=("x");tag="t", ${input}`]
  // The last of one label is the one that counts.
  t.match(verifier.look(makeRequest([...twice, 'Signature', value])), { outcome: 'verified' })
  t.match(verifier.look(makeRequest([...twice, 'Signature', `${value}, sig1=:AA==:`])), { outcome: 'invalid' })
})

t.test('a label of somebody else spoils no good signature, and the one that proves most is reported', async (t) => {
  const { verifier } = createVerifier()
  const good = signedFields()
  const bad = signedFields({ label: 'sig2', expires: NOW_S - 1 })
  const [input = '', value = ''] = [good[5], good[7]]
  const strays: readonly (readonly [input: string, value: string])[] = [
    [`x=1, ${input}`, value],
    [`${bad[5]}, ${input}`, `${bad[7]}, ${value}`],
    [`${input}, x=("@authority");tag="another"`, value],
    [`${input}, x=("@authority");tag="web-bot-auth"`, `${value}, x=1`],
    [`${['a', 'b', 'c', 'd', 'e'].map((key) => `${key}=();tag="t"`).join(', ')}, ${input}`, value],
  ]
  for (const [inputs, values] of strays) {
    const fields = [...good.slice(0, 4), 'Signature-Input', inputs, 'Signature', values]
    t.match(verifier.look(makeRequest(fields)), { outcome: 'verified' }, inputs.slice(0, 60))
  }
  const old = 'keyId="https://a.example/key",headers="date",signature="AA=="'
  t.match(verifier.look(makeRequest([...good, 'Signature', old])), { outcome: 'verified' }, 'of another protocol')
  t.equal(verifier.look(makeRequest(['Host', 'example.com', 'Signature', old])), undefined, 'which is no reason')
  const foreign = ['Host', 'example.com', 'Signature-Input', 'x=("@authority");tag="another"', 'Signature', 'x=1']
  t.equal(verifier.look(makeRequest(foreign)), undefined)
})

t.test('query parameters and strict forms are RFC 9421’s', async (t) => {
  const target =
    '/path?param=value&var=this%20is%20a%20big%0Amultiline%20value&bar=with+plus+whitespace&fa%C3%A7ade%22%3A%20=something&tw=1&tw=2'
  const readLine = (component: string, fields: readonly string[] = []) => {
    const request = { ...makeRequest(['Host', 'example.com', ...fields]), target }
    const signed = ['Signature-Input', `s=(${component})`, 'Signature', 's=:AA==:']
    return buildBase(signed, request)?.split('\n')[0]
  }
  for (const [component, value] of [
    ['"@query-param";name="param"', 'value'],
    ['"@query-param";name="var"', 'this%20is%20a%20big%0Amultiline%20value'],
    ['"@query-param";name="bar"', 'with%20plus%20whitespace'],
    ['"@query-param";name="fa%C3%A7ade%22%3A%20"', 'something'],
  ] as const)
    t.equal(readLine(component), `${component}: ${value}`)
  for (const name of ['tw', 'missing']) t.equal(readLine(`"@query-param";name="${name}"`), undefined, name)
  t.equal(readLine('"priority";sf', ['Priority', 'u=1,   i=?1;a=1;b=2']), '"priority";sf: u=1, i;a=1;b=2')
  t.equal(readLine('"sec-ch-ua";sf', ['Sec-CH-UA', '"a";v="1","b"']), '"sec-ch-ua";sf: "a";v="1", "b"')
  t.equal(readLine('"x-own";sf', ['X-Own', 'a=1']), undefined, 'nobody knows the form of an unknown field')
  t.match(look({ components: '"@authority" "@query-param";name="q" "signature-agent";sf' }), { outcome: 'verified' })
})

t.test('the allowlist and reserved addresses come before any signature', async (t) => {
  const { verifier } = createVerifier()
  const rules: readonly Rule[] = [{ id: 'all', match: {}, action: 'block' }]
  const policy = compilePolicy({ preset: 'low-friction', rules, allowlist: [HOME] })
  const friendly = agentInspector({ policy, signatures: verifier })
  for (const [outcome, fields] of Object.entries({ verified: signedFields(), invalid: FORGED })) {
    const decision = friendly.decide(inspectedRequest(fields))
    t.match(decision, { action: 'allow', reasons: [{ id: 'policy:allowlist' }] })
    t.ok(decision.inspection.agent.reasons.some(({ id }) => id === `signature:${outcome}`))
    t.not(decision.inspection.agent.class, 'impostor')
  }
  const inside = { peer: '10.0.0.1' }
  const { decide } = agentInspector({ signatures: verifier })
  const proxied = decide(inspectedRequest([...FORGED, 'User-Agent', 'curl/8'], inside))
  t.match(proxied, { action: 'allow', inspection: { agent: { class: 'human', basis: 'none' } } })
  t.match(decide(inspectedRequest(signedFields(), inside)).inspection.agent, { class: 'ai_agent', basis: 'signature' })
})

t.test('the signature is judged before the headers are', async (t) => {
  const { verifier } = createVerifier()
  const { decide } = agentInspector({ signatures: verifier })
  const wrong = makeFields(CHROME, { 'sec-ch-ua-platform': '"Linux"', Host: undefined })
  const decision = decide(inspectedRequest([...signedFields(), ...wrong]))
  t.match(decision, { action: 'allow', reasons: [{ id: 'policy:verified' }, {}, { id: 'signature:verified' }] })
  const identity = { type: 'signature', name: AGENT, verified: true }
  const ai = { name: 'ChatGPT agent', vendor: 'OpenAI' }
  t.match(decision.inspection.agent, { class: 'ai_agent', basis: 'signature', ai, identity })
  t.match(decide(inspectedRequest(FORGED)), { action: 'block', inspection: { agent: { class: 'impostor' } } })
  const stale = decide(inspectedRequest([...signedFields({ expires: NOW_S - 1 }), 'User-Agent', 'curl/8']))
  const reasons = [{ id: 'signature:invalid' }, {}]
  t.match(stale.inspection.agent, { class: 'unverified_bot', basis: 'automation', reasons })
  const unknown = decide(inspectedRequest([...signedFields({ agent: '"https://a.example"' }), ...wrong.slice(2)]))
  const named = { name: 'https://a.example', verified: false }
  t.match(unknown.inspection.agent, { basis: 'contradiction', identity: named })
})

t.test('the authority is the Host, or what a trusted proxy writes into the one header that is named', async (t) => {
  const verified = { outcome: 'verified' } as const
  const fields = signedFields()
  const elsewhere = movedTo('shop.example')
  const own = createVerifier().verifier
  t.match(own.look({ ...makeRequest(fields), trusted: true }), verified)
  t.match(own.look({ ...makeRequest([...fields, 'X-Forwarded-Host', 'other.example']), trusted: true }), verified)
  for (const header of ['X-Forwarded-Host', 'X-Host', 'Forwarded', 'X-Original-Host', 'X-Public-Host']) {
    const value = header === 'Forwarded' ? 'host=example.com' : 'example.com'
    const found = own.look({ ...makeRequest([...elsewhere, header, value]), trusted: true })
    t.match(found, { outcome: 'invalid' }, `made for another site, with ${header}`)
  }

  const named = createVerifier({ authorityHeader: 'X-Public-Host' }).verifier
  const behind = [...elsewhere, 'x-public-host', 'EXAMPLE.com:443']
  t.match(named.look({ ...makeRequest(behind), trusted: true }), verified)
  t.match(named.look(makeRequest(behind)), { outcome: 'invalid' }, 'from a trusted peer alone')
  const other = makeRequest([...elsewhere, 'X-Forwarded-Host', 'example.com'])
  t.match(named.look({ ...other, trusted: true }), { outcome: 'invalid', forged: true })
  t.match(named.look({ ...makeRequest([...behind, 'X-Public-Host', 'x']), trusted: true }), { outcome: 'unverified' })
  t.match(named.look({ ...makeRequest(fields), trusted: true }), verified, 'where it is missing the Host counts')
})
