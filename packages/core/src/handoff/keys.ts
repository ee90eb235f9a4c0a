import { createPrivateKey, createPublicKey, createSecretKey, type KeyObject } from 'node:crypto'
import { SallyportError } from '../errors.ts'

/** A hand-off has one of these algorithms (RFC 9421 section 3.3): a secret that both sides have, or a pair of keys. */
export type HandoffAlgorithm = 'hmac-sha256' | 'ed25519'

/** The gate has this key to sign with. */
export interface HandoffKey {
  /** Every signature names it, so that the origin finds its half: 1 to 64 of `A-Z a-z 0-9 . _ -`. */
  readonly id: string
  /** Holds the private key in PEM for `ed25519`; any other text, of 32 characters or more, for `hmac-sha256`. */
  readonly secret: string
}

/** The origin has this half of a key to check with. */
export interface HandoffVerifyKey {
  readonly id: string
  readonly algorithm: HandoffAlgorithm
  /** `hmac-sha256` has the same text on both sides. */
  readonly secret?: string | undefined
  /** `ed25519` has the public key in PEM. */
  readonly publicKey?: string | undefined
}

/** A shorter secret can be guessed. */
const SHORTEST_SECRET = 32

const PEM = /^\s*-----BEGIN /

const ID = /^[A-Za-z0-9._-]{1,64}$/

/** Throws `invalid_config` for a key that cannot sign. */
export function signingKey({ id, secret }: HandoffKey): KeyObject {
  requireId(id)
  return PEM.test(secret) ? ed25519(id, () => createPrivateKey(secret)) : sharedKey(id, secret)
}

/** Throws `invalid_config` for a key that cannot check. */
export function verifyingKey({ id, algorithm, secret, publicKey }: HandoffVerifyKey): KeyObject {
  requireId(id)
  if (algorithm === 'hmac-sha256') return sharedKey(id, secret)
  return ed25519(id, () => createPublicKey(publicKey ?? ''))
}

function requireId(id: string): void {
  if (!ID.test(id)) throw unusable(id, 'its id must be 1 to 64 of A-Z, a-z, 0-9, ".", "_" and "-"')
}

function sharedKey(id: string, secret = ''): KeyObject {
  if (secret.length < SHORTEST_SECRET) throw unusable(id, `its secret has fewer than ${SHORTEST_SECRET} characters`)
  return createSecretKey(Buffer.from(secret))
}

function ed25519(id: string, read: () => KeyObject): KeyObject {
  let key: KeyObject
  try {
    key = read()
  } catch {
    throw unusable(id, 'it is not a key in PEM')
  }
  if (key.asymmetricKeyType !== 'ed25519') throw unusable(id, `it is a key for ${key.asymmetricKeyType}, not ed25519`)
  return key
}

function unusable(id: string, why: string): SallyportError {
  return new SallyportError('invalid_config', `The hand-off key "${id}" cannot be used: ${why}.`)
}
