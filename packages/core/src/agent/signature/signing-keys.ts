import { createPrivateKey, type JsonWebKey, KeyObject } from 'node:crypto'
import { attempt } from '../../attempt.ts'
import { SallyportError } from '../../errors.ts'
import { isRecord } from '../../is-record.ts'
import { readKey } from './key.ts'

/** Holds a private Ed25519 key and its entry in a directory. */
export interface SigningKey {
  /** The thumbprint of the JWK identifies the key (RFC 7638, RFC 8037). */
  readonly id: string
  readonly key: KeyObject
  /** The public JWK has `kid`, `use`, and bounds where they are set. */
  readonly published: Readonly<Record<string, unknown>>
  /** The key is used between these times, in milliseconds since the epoch. */
  readonly notBefore: number
  readonly notAfter: number
}

/** Reads a `KeyObject`, a JWK, or a JWK Set of private keys. Throws `invalid_config` for any that is not a private Ed25519 key. */
export function readSigningKeys(given: KeyObject | object): readonly SigningKey[] {
  if (!(given instanceof KeyObject) && isRecord(given) && Array.isArray(given['keys'])) {
    if (given['keys'].length === 0) throw fault('the set has no key')
    return given['keys'].map(readOne)
  }
  return [readOne(given)]
}

/** A key signs only this long after its first moment, in milliseconds: the clock of a verifier may be behind. */
export const SETTLING_MS = 30_000

/** Returns the key that signs at a time: of the keys in use, the latest that has settled. Throws `invalid_config` where none is in use. */
export function currentKey(keys: readonly SigningKey[], now: number): SigningKey {
  const used = keys.filter(({ notBefore, notAfter }) => now >= notBefore && now < notAfter)
  const settled = used.filter(({ notBefore }) => now >= notBefore + SETTLING_MS)
  const [current] = (settled.length > 0 ? settled : used).toSorted((one, other) => other.notBefore - one.notBefore)
  if (current === undefined) throw fault('no key of the set is valid now (check the clock)')
  return current
}

function readOne(given: unknown): SigningKey {
  const jwk = given instanceof KeyObject ? exportKey(given) : given
  if (!isRecord(jwk)) throw fault('it is neither a KeyObject nor a JWK')
  const { kty, crv, x, d, nbf, exp } = jwk
  if (kty !== 'OKP' || crv !== 'Ed25519') throw fault(`its type is ${crv ?? kty}`)
  if (typeof d !== 'string') throw fault('it has no private part')
  const bounds = { ...(nbf !== undefined && { nbf }), ...(exp !== undefined && { exp }) }
  const read = readKey({ kty, crv, x, ...bounds })
  const key = importKey({ kty, crv, x: String(x), d })
  if (read === undefined || key === undefined) throw fault('its members are malformed')
  return {
    id: read.id,
    key,
    published: { kty, crv, x, kid: read.id, use: 'sig', ...bounds },
    notBefore: read.notBefore ?? Number.NEGATIVE_INFINITY,
    notAfter: read.notAfter ?? Number.POSITIVE_INFINITY,
  }
}

function exportKey(key: KeyObject): JsonWebKey {
  // Some other types have no JWK.
  if (key.asymmetricKeyType !== 'ed25519') throw fault(`its type is ${key.asymmetricKeyType ?? key.type}`)
  return key.export({ format: 'jwk' })
}

function importKey(key: JsonWebKey): KeyObject | undefined {
  const read = attempt(() => createPrivateKey({ key, format: 'jwk' }))
  // Node accepts a wrong `x`, and signs by `d`.
  return read?.export({ format: 'jwk' }).x === key.x ? read : undefined
}

function fault(why: string): SallyportError {
  return new SallyportError('invalid_config', `The key cannot sign: ${why}. Use a private Ed25519 key.`)
}
