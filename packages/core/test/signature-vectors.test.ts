import { serializeItem } from 'structured-headers'
import t from 'tap'
import { readCard } from '../src/agent/signature/directory.ts'
import { isSignedBy, readKey } from '../src/agent/signature/key.ts'
import { findKeySource, type KeySource } from '../src/agent/signature/key-source.ts'
import { readAgents, readSignatures } from '../src/agent/signature/message.ts'
import { signatureBase } from '../src/agent/signature/signature-base.ts'
import { createSigner } from '../src/agent/signature/signer.ts'
import { makeRequest } from './signed-requests.ts'
import { readShared, skipWithout } from './support.ts'

const skip = skipWithout('web-bot-auth')

function vectors<Vector>(file: string): readonly Vector[] {
  return JSON.parse(readShared(`web-bot-auth/${file}`)) as readonly Vector[]
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
    const [first] = sent.signatures
    if (first === undefined || agentKey === undefined) throw new Error('not readable')
    t.equal(first.parameters.get('keyid'), agentKey.id)
    t.equal(isSignedBy(agentKey, signatureBase(first, request) ?? '', first.signature), true, signature_input)
    const other = signatureBase(first, { ...request, fields: fields.with(1, 'example.org') }) ?? ''
    t.equal(isSignedBy(agentKey, other, first.signature), false)
    if (agentKey.algorithm !== 'ed25519') continue
    const { label, components, parameters } = first
    const unsigned = fields.filter((_, at) => !/^Signature(?:-Input)?$/.test(fields[at - (at % 2)] ?? ''))
    const made = createSigner(key).sign({
      request: { ...request, fields: unsigned },
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
  for (const { jwk, thumbprint } of vectors<{ jwk: string; thumbprint: string }>('jwk-thumbprint.json'))
    t.equal(readKey(JSON.parse(jwk))?.id, thumbprint)
})

t.test('Signature-Agent and the cards', { skip }, async (t) => {
  interface AgentVector {
    readonly header: string
    readonly entries: readonly { readonly label: string; readonly uri: string; readonly type: string }[]
  }
  for (const { header, entries } of vectors<AgentVector>('signature-agent-v1.json')) {
    const agents = readAgents(['Signature-Agent', header])
    if (agents?.form !== 'dictionary') throw new Error(header)
    const found = [...agents.members].map(([label, { uri, type }]) => ({ label, uri, type }))
    t.same(found, entries)
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
