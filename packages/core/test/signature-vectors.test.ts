import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { serializeItem } from 'structured-headers'
import t from 'tap'
import { signatureHeaders } from 'web-bot-auth'
import { signerFromJWK } from 'web-bot-auth/crypto'
import { readCard } from '../src/agent/signature/directory.ts'
import { isSignedBy, readKey } from '../src/agent/signature/key.ts'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import { readAgents, readSignatures, type SentSignature } from '../src/agent/signature/message.ts'
import { signatureBase } from '../src/agent/signature/signature-base.ts'
import { createSigner } from '../src/agent/signature/signer.ts'
import { AGENT, createVerifier, makeRequest, TEST_ED25519 } from './signed-requests.ts'

const SHARED = process.env['SALLYPORT_SHARED_DATA'] ?? join(import.meta.dirname, '../../../../../shared/data')
const VECTORS = join(SHARED, 'web-bot-auth')
const skip = existsSync(VECTORS) ? false : `no vectors at ${VECTORS}`

function vectors<Vector>(file: string): readonly Vector[] {
  return JSON.parse(readFileSync(join(VECTORS, file), 'utf8')) as readonly Vector[]
}

interface SignedVector {
  readonly key: object
  readonly target_url: string
  readonly signature: string
  readonly signature_input: string
  readonly signature_agent?: string | undefined
}

t.test('signed requests of both drafts', { skip }, async (t) => {
  const signed = ['architecture-v1.json', 'architecture-v2-ed25519.json'].flatMap((file) => vectors<SignedVector>(file))
  t.ok(signed.length >= 6)
  for (const { key, target_url, signature, signature_input, signature_agent } of signed) {
    const url = new URL(target_url)
    const fields = ['Host', url.host, 'Signature', signature, 'Signature-Input', signature_input]
    if (signature_agent !== undefined) fields.push('Signature-Agent', signature_agent)
    const request = { ...makeRequest(fields), target: url.pathname }
    const sent = readSignatures(fields)
    const agentKey = readKey(key)
    if (!('signatures' in sent) || agentKey === undefined) throw new Error('not readable')
    const [first] = sent.signatures as readonly [SentSignature]
    t.equal(first.parameters.get('keyid'), agentKey.id)
    t.equal(isSignedBy(agentKey, signatureBase(first, request) ?? '', first.signature), true, signature_input)
    const other = signatureBase(first, { ...request, fields: fields.with(1, 'example.org') }) ?? ''
    t.equal(isSignedBy(agentKey, other, first.signature), false)
    if (agentKey.algorithm !== 'ed25519') continue
    const { label, components, parameters } = first
    const made = createSigner(key).sign({
      request: {
        ...request,
        fields: fields.filter(
          (_, at) => !fields[at - (at % 2)]?.startsWith('Signature') || fields[at - (at % 2)] === 'Signature-Agent',
        ),
      },
      label,
      components: components.map((component) => serializeItem(component)).join(' '),
      created: Number(parameters.get('created')),
      expires: Number(parameters.get('expires')),
      nonce: String(parameters.get('nonce')),
    })
    t.same(made, ['Signature-Input', signature_input, 'Signature', signature], 'and we make the same')
  }
})

t.test('thumbprints', { skip }, async (t) => {
  for (const { jwk, thumbprint } of vectors<{ jwk: string; thumbprint: string }>('jwk-thumbprint.json')) {
    t.equal(readKey(JSON.parse(jwk))?.id, thumbprint)
  }
})

t.test('Signature-Agent and the cards', { skip }, async (t) => {
  interface AgentVector {
    readonly header: string
    readonly entries: readonly { readonly label: string; readonly uri: string; readonly type: string }[]
  }
  for (const { header, entries } of vectors<AgentVector>('signature-agent-v1.json')) {
    const agents = readAgents(['Signature-Agent', header])
    if (agents?.form !== 'dictionary') throw new Error(header)
    t.same(
      [...agents.members].map(([label, { uri, type }]) => ({ label, uri, type })),
      entries,
    )
    for (const { uri, type } of entries) t.ok(findKeySource({ uri, type }, new Set()), uri)
  }
  interface CardVector {
    readonly name: string
    readonly url: string
    readonly valid: boolean
    readonly card: object
  }
  for (const { name, url, valid, card } of vectors<CardVector>('signature-agent-card-v1.json')) {
    const source: KeySource = { url, identifier: url, form: 'card' }
    t.equal(readCard(card, source) !== undefined, valid, name)
  }
})

t.test("another signer's signature is verified", async (t) => {
  const signer = await signerFromJWK({ ...TEST_ED25519, kid: 'x' })
  const headers = { host: 'example.com', 'signature-agent': `"${AGENT}"` }
  const { verifier, clock } = createVerifier()
  const created = new Date(clock.now() - 1000)
  const expires = new Date(clock.now() + 60_000)
  const message = { method: 'GET', url: 'https://example.com/path?q=1', headers }
  const made = await signatureHeaders(message, signer, { created, expires })
  const fields = [
    'Host',
    'example.com',
    'Signature-Agent',
    headers['signature-agent'],
    'Signature',
    made.Signature,
    'Signature-Input',
    made['Signature-Input'],
  ]
  t.match(verifier.look(makeRequest(fields)), { outcome: 'verified', agent: AGENT, replay: 'checked' })
  t.match(verifier.look(makeRequest(fields.with(1, 'example.org'))), { outcome: 'invalid', forged: true })
})
