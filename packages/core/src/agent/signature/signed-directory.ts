import { createHash } from 'node:crypto'
import { type AgentKey, isSignedBy } from './key.ts'
import { dictionaryOf, readSignatures, type SentSignature } from './message.ts'
import { signatureBase } from './signature-base.ts'

/** A directory as it was answered. */
export interface AnsweredDirectory {
  readonly url: string
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The tag of the signatures by which the keys of a directory show that its host has their private halves. */
const TAG = 'http-message-signatures-directory'

/**
 * The keys that a directory's answer shows to be its own. An answer without such signatures shows nothing about any
 * key, and all are its own as its host's certificate says; of a signed one those alone that signed it.
 */
export function keysShown(keys: readonly AgentKey[], answer: AnsweredDirectory, now: number): readonly AgentKey[] {
  const fields = Object.entries(answer.headers).flat()
  if (answer.headers['signature-input'] === undefined) return keys
  const read = readSignatures(fields, [TAG])
  const sent = 'signatures' in read ? read.signatures : []
  if (sent.length === 0 && read.fault === undefined) return keys
  return keys.filter((key) => sent.some((signature) => isShownBy(key, signature, answer, now)))
}

function isShownBy(key: AgentKey, sent: SentSignature, answer: AnsweredDirectory, now: number): boolean {
  const { parameters, components } = sent
  const [created, expires] = [parameters.get('created'), parameters.get('expires')]
  if (parameters.get('keyid') !== key.id || typeof created !== 'number' || typeof expires !== 'number') return false
  if (expires * 1000 <= now || created * 1000 > now + SKEW_MS) return false
  const covers = (name: string) => components.some(([covered]) => covered === name)
  // A signature that covers no host could be copied from another's directory.
  if (!covers('@authority') || (covers('content-digest') && !isDigestOf(answer))) return false
  const base = signatureBase(sent, { fields: Object.entries(answer.headers).flat(), answeredTo: new URL(answer.url) })
  return base !== undefined && isSignedBy(key, base, sent.signature)
}

/** How far the directory's clock may be ahead. */
const SKEW_MS = 30_000

function isDigestOf({ headers, body }: AnsweredDirectory): boolean {
  // The digest is of the body as it was sent, which is not kept where that was compressed.
  if (headers['content-encoding'] !== undefined) return true
  const digests = dictionaryOf(headers['content-digest'] ?? '')
  const known = Object.entries(DIGESTS).flatMap(([name, algorithm]) => {
    const digest = digests?.get(name)?.[0]
    return digest === undefined ? [] : [{ algorithm, digest }]
  })
  return (
    known.length > 0 &&
    known.every(
      ({ algorithm, digest }) =>
        digest instanceof ArrayBuffer && createHash(algorithm).update(body).digest().equals(new Uint8Array(digest)),
    )
  )
}

/** The active algorithms of Content-Digest (RFC 9530 section 5), by their names there. */
const DIGESTS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const
