import { createPrivateKey, type JsonWebKey, type KeyObject, sign } from 'node:crypto'
import { readKey } from './key.ts'
import { readSignatures, type SignedRequest } from './message.ts'
import { signatureBase } from './signature-base.ts'

/** The signed parts of an agent's request. */
export interface Signing {
  /** The request without its signature; its fields hold `Signature-Agent`. */
  readonly request: SignedRequest
  readonly label: string
  /** Component identifiers, serialised: `"@authority" "signature-agent";key="g"`. */
  readonly components: string
  /** Seconds since the epoch. */
  readonly created: number
  readonly expires: number
  readonly nonce: string
  /** Absent: of Web Bot Auth. */
  readonly tag?: string | undefined
}

/** Signs as an agent does, with Ed25519: the other half of the verifier, for agents that are simulated. */
export interface Signer {
  /** The directory in which the key would be published. */
  readonly directory: { readonly keys: readonly Readonly<Record<string, unknown>>[] }
  /** The fields to add to the request. Throws `TypeError` where a component is not in it. */
  sign(signing: Signing): readonly string[]
}

/** Takes a JWK, whose type has another name in every version of Node's types. Throws `TypeError` for what is no private Ed25519 key. */
export function createSigner(given: object): Signer {
  const jwk: JsonWebKey = { ...given }
  const { d: _, ...open } = jwk
  const id = readKey(open)?.id
  if (id === undefined || jwk.kty !== 'OKP') throw new TypeError('not an Ed25519 key')
  const key: KeyObject = createPrivateKey({ key: jwk, format: 'jwk' })
  return {
    directory: { keys: [{ ...open, kid: id, use: 'sig' }] },
    sign({ request, label, components, created, expires, nonce, tag = 'web-bot-auth' }) {
      const parameters = `created=${created};keyid="${id}";alg="ed25519";expires=${expires};nonce="${nonce}";tag="${tag}"`
      const input = ['Signature-Input', `${label}=(${components});${parameters}`]
      // The message is read before it is signed as a verifier will read it, so both make the same base.
      const read = readSignatures([...request.fields, ...input, 'Signature', `${label}=::`])
      const sent = 'signatures' in read ? read.signatures[0] : undefined
      const base = sent && signatureBase(sent, request)
      if (base === undefined) throw new TypeError(`cannot be signed: ${components}`)
      const signature = sign(null, Buffer.from(base, 'latin1'), key).toString('base64')
      return [...input, 'Signature', `${label}=:${signature}:`]
    },
  }
}
