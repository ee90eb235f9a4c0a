import type { SignedHead, Signer, StoredRecord } from './ports.ts'
import type { Draft } from './record.ts'
import { sha256Hex } from './verify/hash.ts'
import { type LedgerKey, successionPreimage, thumbprint } from './verify/keys.ts'
import { noteKeyHash, noteVerifierKey } from './verify/note.ts'
import { parseRecord, RECORD_VERSION } from './verify/record.ts'

/** A ledger records its own signing keys in this log. */
export const KEY_LOG = 'keys'

export type Jwks = ReturnType<typeof buildJwks>

/** Makes the record that begins a ledger: its first key. */
export function draftFirstKey(publicKey: Uint8Array, at: number): Draft {
  return draftKey(publicKey, at)
}

/** Makes the record by which `current` hands over to `next`; with `compromised` verifiers believe nothing that `current` signed. */
export async function draftSuccession(
  origin: string,
  current: Signer,
  next: Uint8Array,
  at: number,
  compromised: boolean,
): Promise<Draft> {
  const replaces = thumbprint(current.publicKey)
  const key = { kid: thumbprint(next), publicKey: next, notBefore: Math.ceil(at / 1000) }
  const signature = await current.sign(successionPreimage(`${origin}/${KEY_LOG}`, key, replaces))
  const reason = compromised ? 'compromised' : 'rotated'
  return draftKey(next, at, { reason, replaces, signature: Buffer.from(signature).toString('base64') })
}

function draftKey(publicKey: Uint8Array, at: number, succession?: object): Draft {
  const x = Buffer.from(publicKey).toString('base64url')
  const key = { kid: thumbprint(publicKey), nbf: Math.ceil(at / 1000), x }
  return { log: KEY_LOG, at, members: { signing_key: key, succession, type: 'key', v: RECORD_VERSION } }
}

/** Returns the keys of a ledger from the records of its key log, oldest first: the last key is the current one. */
export function readKeys(records: readonly Pick<StoredRecord, 'bytes'>[]): readonly LedgerKey[] {
  const keys: LedgerKey[] = []
  for (const { bytes } of records) {
    const { members } = parseRecord(bytes)
    const member = members.object('signing_key')
    const key: LedgerKey = {
      kid: member.text('kid'),
      publicKey: Buffer.from(member.text('x'), 'base64url'),
      notBefore: member.integer('nbf'),
    }
    const elder = keys.pop()
    if (elder === undefined) {
      keys.push(key)
      continue
    }
    const change = members.object('succession')
    const end = {
      expires: key.notBefore,
      ...(change.text('reason') === 'compromised' ? { revokedAt: key.notBefore } : {}),
    }
    keys.push(
      { ...elder, ...end },
      { ...key, succession: { replaces: elder.kid, signature: change.bytes('signature', 64) } },
    )
  }
  return keys
}

/** Builds the key set (RFC 7517) in its published form, with the text form of each key for checkpoints (C2SP vkey). */
export function buildJwks(origin: string, keys: readonly LedgerKey[]) {
  return {
    origin,
    keys: keys.map(({ kid, publicKey, notBefore, expires, revokedAt, succession }) => ({
      kty: 'OKP' as const,
      crv: 'Ed25519' as const,
      alg: 'EdDSA' as const,
      use: 'sig' as const,
      kid,
      x: Buffer.from(publicKey).toString('base64url'),
      nbf: notBefore,
      ...(expires === undefined ? {} : { exp: expires }),
      ...(revokedAt === undefined ? {} : { revoked_at: revokedAt }),
      ...(succession === undefined
        ? {}
        : { replaces: succession.replaces, succession: Buffer.from(succession.signature).toString('base64') }),
      vkey: noteVerifierKey(origin, publicKey),
    })),
  }
}

/** Signs the head of a log (C2SP tlog-checkpoint in a signed-note). The key has the ledger's name. */
export async function signCheckpoint(
  origin: string,
  log: string,
  size: number,
  root: Uint8Array,
  signer: Signer,
): Promise<SignedHead> {
  const body = `${origin}/${log}\n${size}\n${Buffer.from(root).toString('base64')}\n`
  const signature = await signer.sign(Buffer.from(body))
  const keyHash = Buffer.from(noteKeyHash(origin, signer.publicKey), 'hex')
  const line = Buffer.concat([keyHash, signature]).toString('base64')
  return { log, size, note: `${body}\n\u2014 ${origin} ${line}\n` }
}

/** Returns a short name for a file that holds a checkpoint of this log. */
export function archiveName(log: string): string {
  return sha256Hex(log).slice(0, 32)
}
