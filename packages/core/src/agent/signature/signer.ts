import { sign } from 'node:crypto'
import { serializeItem } from 'structured-headers'
import { SallyportError } from '../../errors.ts'
import { readSignatures, type SignedRequest } from './message.ts'
import { signatureBase } from './signature-base.ts'
import { currentKey, readSigningKeys } from './signing-keys.ts'

/** Says which parts of a message are signed. */
export interface Signing {
  /** The message without its signature; the fields of an agent's request hold `Signature-Agent`. */
  readonly request: SignedRequest
  readonly label: string
  /** Component identifiers are serialised: `"@authority" "signature-agent";key="g"`. */
  readonly components: string
  /** Times are in seconds since the epoch. */
  readonly created: number
  readonly expires: number
  /** Without a nonce the signature has none. */
  readonly nonce?: string | undefined
  /** The default tag is Web Bot Auth's. */
  readonly tag?: string | undefined
}

export type Signer = ReturnType<typeof createSigner>

/**
 * Signs as an agent does; the verifier is its counterpart. Takes a `KeyObject`, a JWK or a JWK Set of private Ed25519 keys; the key in use
 * at `created` signs. Throws `invalid_config`.
 */
export function createSigner(given: object) {
  const keys = readSigningKeys(given)
  return {
    /** The public keys, as a directory publishes them. */
    directory: { keys: keys.map(({ published }) => published) },
    /** Returns the fields to add to the message. Throws `cannot_sign` where a component is not in it, or is not ASCII. */
    sign({ request, label, components, created, expires, nonce, tag = 'web-bot-auth' }: Signing): readonly string[] {
      const { id, key } = currentKey(keys, created * 1000)
      const once = nonce === undefined ? '' : `;nonce=${serializeItem([nonce, new Map()])}`
      const parameters = `created=${created};keyid="${id}";alg="ed25519";expires=${expires}${once};tag="${tag}"`
      const input = ['Signature-Input', `${label}=(${components});${parameters}`]
      // The message is read as a verifier will read it, so both make the same base.
      const { signatures } = readSignatures([...request.fields, ...input, 'Signature', `${label}=::`])
      const sent = signatures.find((one) => one.label === label)
      const base = sent && signatureBase(sent, request)
      if (base === undefined) throw fault(`the message lacks a component of ${components}`)
      // RFC 9421 section 2.1: verifiers decode other characters in several ways.
      if (!/^[\n\x20-\x7e]*$/.test(base)) throw fault(`a component of ${components} is not ASCII`)
      const signature = sign(null, Buffer.from(base, 'latin1'), key).toString('base64')
      return [...input, 'Signature', `${label}=:${signature}:`]
    },
  }
}

function fault(why: string): SallyportError {
  return new SallyportError('cannot_sign', `The message cannot be signed: ${why}.`)
}
