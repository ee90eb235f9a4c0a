import { createHash } from 'node:crypto'
import { parseDictionary } from 'structured-headers'
import { type AgentKey, isSignedBy } from './key.ts'
import { readSignatures, type SentSignature, signatureBase } from './message.ts'

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
 * The keys that a directory's answer shows to be its own (D165). An answer without such signatures shows nothing about any
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
  try {
    const digest = parseDictionary(headers['content-digest'] ?? '').get('sha-256')?.[0]
    const own = createHash('sha256').update(body).digest()
    return digest instanceof ArrayBuffer && own.equals(new Uint8Array(digest))
  } catch {
    return false
  }
}
