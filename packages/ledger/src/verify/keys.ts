import { dssePreimage, isSignature } from './note.ts'
import { canonicalRecord, type Members, membersOf, ShapeError } from './shape.ts'

/** A public signing key of a ledger and the interval in which it signs. */
export interface LedgerKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  /** Unix seconds. */
  readonly notBefore: number
  /** Unix seconds; absent while it is the current one. */
  readonly expires?: number
  /** Unix seconds from which nothing it signed is believed; absent unless it was given up as compromised. */
  readonly revokedAt?: number
  /** The key that it took over from, and that key's signature under the takeover. */
  readonly succession?: { readonly replaces: string; readonly signature: Uint8Array }
}

/** Payload type of the statement by which one key hands over to the next. */
const SUCCESSION_TYPE = 'application/vnd.sallyport.key-succession+json'

/** The statement that the old key signs: canonical JSON, in a DSSE preimage. */
export function successionPreimage(
  log: string,
  key: Pick<LedgerKey, 'kid' | 'publicKey' | 'notBefore'>,
  replaces: string,
): Buffer {
  const x = Buffer.from(key.publicKey).toString('base64url')
  const statement = { kid: key.kid, log, nbf: key.notBefore, replaces, x }
  return dssePreimage(SUCCESSION_TYPE, Buffer.from(canonicalRecord(statement)))
}

/** Reads a JWKS (RFC 7517) as the ledger publishes it. Throws ShapeError; keys of other kinds are passed over. */
export function parseJwks(value: unknown): readonly LedgerKey[] {
  return membersOf(value, 'keys')
    .objects('keys')
    .filter((key) => key.text('kty') === 'OKP' && key.text('crv') === 'Ed25519')
    .map(parseKey)
}

function parseKey(key: Members): LedgerKey {
  const publicKey = Buffer.from(key.text('x'), 'base64url')
  if (publicKey.length !== 32 || publicKey.toString('base64url') !== key.text('x')) {
    throw new ShapeError(`${key.path}.x: not 32 bytes in base64url`)
  }
  return {
    kid: key.text('kid'),
    publicKey,
    notBefore: key.integer('nbf'),
    ...(key.has('exp') ? { expires: key.integer('exp') } : {}),
    ...(key.has('revoked_at') ? { revokedAt: key.integer('revoked_at') } : {}),
    ...(key.has('replaces')
      ? { succession: { replaces: key.text('replaces'), signature: key.bytes('succession', 64) } }
      : {}),
  }
}

/**
 * The keys that can be believed, given those that somebody trusts: these, and every key that a trusted, unrevoked one
 * without an end has signed over to. So a key kept from before a rotation still reaches the keys after it.
 */
export function followSuccession(
  trusted: readonly LedgerKey[],
  offered: readonly LedgerKey[],
  keyLog: string,
): readonly LedgerKey[] {
  const believed = [...trusted]
  // Every pass adds a key or ends it.
  for (let pass = 0; pass < offered.length; pass++) {
    const next = offered.find((key) => {
      if (key.succession === undefined || believed.some(({ kid }) => kid === key.kid)) return false
      const { replaces, signature } = key.succession
      const elder = believed.find(({ kid }) => kid === replaces)
      if (elder === undefined || elder.expires !== undefined || elder.revokedAt !== undefined) return false
      return isSignature(elder.publicKey, successionPreimage(keyLog, key, replaces), signature)
    })
    if (next === undefined) return believed
    const { expires: _expires, ...rest } = next
    believed.push(rest)
  }
  return believed
}
