import { serializeItem } from 'structured-headers'
import { MAX_COMPONENTS } from './judged.ts'
import { isInnerList, MAX_BYTES, parseFields } from './message.ts'

/** A server asks for such a signature (RFC 9421 section 5). */
export interface SignatureWish {
  readonly label: string
  /** Component identifiers are serialised here. */
  readonly components: readonly string[]
  /** The nonce that the signature must have; it is good for one signature. */
  readonly nonce?: string | undefined
}

/** A request has these derived components and a signer knows them (RFC 9421 section 2.2). */
const DERIVED = ['@authority', '@method', '@path', '@query', '@request-target', '@scheme', '@target-uri']

/** Returns the first signature of `Accept-Signature` that an agent with one of these Ed25519 keys can make, or `undefined`. */
export function readWish(value: string, keyIds: readonly string[]): SignatureWish | undefined {
  for (const [label, wanted] of (value.length > MAX_BYTES ? undefined : parseFields(value)) ?? []) {
    if (!isInnerList(wanted)) continue
    const [components, parameters] = wanted
    const [keyId, algorithm, nonce] = [parameters.get('keyid'), parameters.get('alg'), parameters.get('nonce')]
    const isOurs =
      parameters.get('tag') === 'web-bot-auth' &&
      (keyId === undefined || keyIds.some((id) => id === keyId)) &&
      (algorithm === undefined || algorithm === 'ed25519')
    const isMade = components.every(
      ([name]) => typeof name === 'string' && (DERIVED.includes(name) || !name.startsWith('@')),
    )
    if (!isOurs || !isMade || components.length > MAX_COMPONENTS) continue
    return {
      label,
      components: components.map((component) => serializeItem(component)),
      ...(typeof nonce === 'string' && { nonce }),
    }
  }
  return undefined
}
