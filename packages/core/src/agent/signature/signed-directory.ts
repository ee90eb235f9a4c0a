import { createHash } from 'node:crypto'
import { SKEW_S } from './judged.ts'
import { type AgentKey, isSignedBy } from './key.ts'
import { parseFields, readSignatures, type SentSignature } from './message.ts'
import { signatureBase } from './signature-base.ts'

/** A directory as its host answered it. */
export interface AnsweredDirectory {
  readonly url: string
  /** Headers have names in lower case. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** Tags the signatures by which a directory's keys prove that its host has their private halves. */
export const TAG = 'http-message-signatures-directory'

/**
 * Returns the keys that a directory's response proves to be its own. A response without such signatures proves no key, and all count as its
 * own by its host's certificate; of a signed response only the keys that signed it count.
 */
export function keysShown(keys: readonly AgentKey[], answer: AnsweredDirectory, now: number): readonly AgentKey[] {
  const fields = Object.entries(answer.headers).flat()
  if (answer.headers['signature-input'] === undefined) return keys
  const { signatures, fault } = readSignatures(fields, [TAG])
  if (signatures.length === 0 && fault === undefined) return keys
  return keys.filter((key) => signatures.some((signature) => isShownBy(key, signature, answer, now)))
}

function isShownBy(key: AgentKey, sent: SentSignature, answer: AnsweredDirectory, now: number): boolean {
  const { parameters, components } = sent
  const [created, expires] = [parameters.get('created'), parameters.get('expires')]
  if (parameters.get('keyid') !== key.id || typeof created !== 'number' || typeof expires !== 'number') return false
  if (expires * 1000 <= now || (created - SKEW_S) * 1000 > now) return false
  const covers = (name: string) => components.some(([covered]) => covered === name)
  // A signature that covers no host could be copied from another host's directory.
  if (!covers('@authority') || (covers('content-digest') && !matchesDigest(answer))) return false
  const base = signatureBase(sent, { fields: Object.entries(answer.headers).flat(), answeredTo: new URL(answer.url) })
  return base !== undefined && isSignedBy(key, base, sent.signature)
}

function matchesDigest({ headers, body }: AnsweredDirectory): boolean {
  // The digest covers the body as sent, and a compressed body is not kept.
  if (headers['content-encoding'] !== undefined) return true
  const digests = parseFields(headers['content-digest'] ?? '')
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

/** Content-Digest has these active algorithms (RFC 9530 section 5). */
const DIGESTS = { 'sha-256': 'sha256', 'sha-512': 'sha512' } as const
