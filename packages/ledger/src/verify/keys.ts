import { sha256 } from './hash.ts'
import { dssePreimage, isSignature, noteVerifierKey } from './note.ts'
import { canonicalRecord, Members, ShapeError } from './shape.ts'

/** Holds a public signing key of a ledger and the interval in which it signs. */
export interface LedgerKey {
  /** RFC 7638 thumbprint. */
  readonly kid: string
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  /** Unix seconds. */
  readonly notBefore: number
  /** Unix seconds; absent while the key is current. */
  readonly expires?: number | undefined
  /** Unix seconds from which verifiers believe nothing that the key signed; absent unless it was revoked as compromised. */
  readonly revokedAt?: number | undefined
  /** Names the key before it, whose signature confirms the takeover. */
  readonly succession?: { readonly replaces: string; readonly signature: Uint8Array } | undefined
}

/** Returns the RFC 7638 thumbprint of an Ed25519 key. */
export function thumbprint(publicKey: Uint8Array): string {
  const x = Buffer.from(publicKey).toString('base64url')
  return sha256(`{"crv":"Ed25519","kty":"OKP","x":"${x}"}`).toString('base64url')
}

/** Names the payload type of the statement by which one key hands over to the next. */
const SUCCESSION_TYPE = 'application/vnd.sallyport.key-succession+json'

/** Returns the statement that the old key signs: canonical JSON, in a DSSE preimage. */
export function successionPreimage(
  log: string,
  key: Pick<LedgerKey, 'kid' | 'publicKey' | 'notBefore'>,
  replaces: string,
): Buffer {
  const x = Buffer.from(key.publicKey).toString('base64url')
  const statement = { kid: key.kid, log, nbf: key.notBefore, replaces, x }
  return dssePreimage(SUCCESSION_TYPE, Buffer.from(canonicalRecord(statement)))
}

/** A set has at most this many keys: each takes a moment to read, and a set with a new key every month would last for 80 years. */
const MAX_KEYS = 1000

function listEntries(jwks: Members): readonly Members[] {
  const entries = jwks.objects('keys')
  if (entries.length > MAX_KEYS) throw new ShapeError(`${jwks.at('keys')}: more than ${MAX_KEYS}`)
  return entries
}

/** Reads a JWKS (RFC 7517). Throws ShapeError; keys of other kinds, and unknown members, are skipped. */
export function parseJwks(value: unknown): readonly LedgerKey[] {
  return listEntries(new Members(value, 'keys'))
    .filter((key) => key.text('kty') === 'OKP' && key.text('crv') === 'Ed25519')
    .map(parseKey)
}

/**
 * Reads the key set inside a ledger's evidence in its published form: oldest first, and each key ends when the next takes over. Throws
 * ShapeError. The result is not trusted.
 */
export function parseOwnKeys(jwks: Members, origin: string): readonly LedgerKey[] {
  if (jwks.text('origin') !== origin) throw new ShapeError(`${jwks.at('origin')}: not this ledger`)
  const keys = listEntries(jwks).map((entry) => {
    for (const [name, wanted] of Object.entries({ kty: 'OKP', crv: 'Ed25519', alg: 'EdDSA', use: 'sig' })) {
      if (entry.text(name) !== wanted) throw new ShapeError(`${entry.at(name)}: not ${wanted}`)
    }
    const key = parseKey(entry)
    if (key.kid !== thumbprint(key.publicKey)) throw new ShapeError(`${entry.at('kid')}: not the thumbprint of the key`)
    if (entry.text('vkey') !== noteVerifierKey(origin, key.publicKey)) {
      throw new ShapeError(`${entry.at('vkey')}: not this key`)
    }
    if (entry.has('succession') && key.succession === undefined) {
      throw new ShapeError(`${entry.at('succession')}: nothing is replaced`)
    }
    return entry.complete(key)
  })
  for (const [index, key] of keys.entries()) {
    const at = `${jwks.at('keys')}.${index}`
    const [before, after] = [keys[index - 1], keys[index + 1]]
    if (key.succession?.replaces !== before?.kid) throw new ShapeError(`${at}.replaces: not the key before it`)
    if (key.expires !== after?.notBefore) throw new ShapeError(`${at}.exp: not where the next key begins`)
    if (key.revokedAt !== undefined && key.revokedAt !== key.expires) {
      throw new ShapeError(`${at}.revoked_at: not where the key ends`)
    }
  }
  return jwks.complete(keys)
}

/** Returns where a key set inside evidence contradicts itself, or the keys that somebody trusts; `undefined` where it does not. */
export function findContradiction(
  keys: readonly LedgerKey[],
  trusted: readonly LedgerKey[],
  keyLog: string,
): string | undefined {
  for (const [index, key] of keys.entries()) {
    const before = keys[index - 1]
    const { succession } = key
    if (before !== undefined && succession !== undefined) {
      const preimage = successionPreimage(keyLog, key, succession.replaces)
      if (!isSignature(before.publicKey, preimage, succession.signature)) {
        return `The key before ${key.kid} did not sign the handover to it.`
      }
    }
    const known = trusted.find(({ kid }) => kid === key.kid)
    if (known !== undefined && known.notBefore !== key.notBefore) {
      return `The file gives key ${key.kid} another start than the keys that you trust.`
    }
  }
  return undefined
}

function parseKey(key: Members): LedgerKey {
  const publicKey = Buffer.from(key.text('x'), 'base64url')
  if (publicKey.length !== 32 || publicKey.toString('base64url') !== key.text('x')) {
    throw new ShapeError(`${key.at('x')}: not 32 bytes in base64url`)
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
 * Returns the keys that can be believed: the trusted keys, and every key that a trusted, unrevoked key without an end has signed over to.
 * So a key that was kept from before a rotation still reaches the keys after it.
 */
export function followSuccession(
  trusted: readonly LedgerKey[],
  offered: readonly LedgerKey[],
  keyLog: string,
): readonly LedgerKey[] {
  const believed = [...trusted]
  // Every pass adds a key or ends the loop.
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
