import { CRAWLS_TYPE, parseCrawls } from '../verify/crawl-form.ts'
import { parseEvidence } from '../verify/evidence-form.ts'
import { parseJson } from '../verify/json.ts'
import { ShapeError } from '../verify/shape.ts'
import type { TimestampFinding, TimestampFindings } from '../verify/time.ts'
import { openTimestamps } from './timestamps.ts'

/**
 * Checks the timestamps of evidence, for `verifyEvidence`. `authorities` are the certificates (PEM) of the authorities of time that
 * the caller trusts; without them no timestamp proves anything. `undefined` where the file has none, or is not evidence. Rejects with
 * LibraryMissing where pkijs or asn1js is not installed, and with an Error for a text that holds no certificate.
 *
 * @example
 * ```ts
 * import { readFileSync } from 'node:fs'
 * import { readTimestamps } from '@sallyport/ledger/timestamp'
 * import { verifyEvidence } from '@sallyport/ledger/verify'
 *
 * const [evidence, keys, authority] = ['evidence.json', 'keys.json', 'authority.pem'].map((file) => readFileSync(file, 'utf8'))
 * const timestamps = await readTimestamps(evidence, authority)
 * console.log(verifyEvidence(evidence, keys, timestamps).provedBefore)
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc3161
 */
export async function readTimestamps(evidence: unknown, authorities?: string): Promise<TimestampFindings | undefined> {
  const anchors = listAnchors(evidence)
  if (anchors.every(({ timestamps }) => timestamps.length === 0)) return undefined
  const timestamps = await openTimestamps(authorities)
  const found = new Map<string, TimestampFinding>()
  for (const { text, timestamps: stamped } of anchors) {
    for (const { response } of stamped)
      found.set(key(response, text), await timestamps.read(response, Buffer.from(text)))
  }
  return (response, checkpoint) => found.get(key(response, checkpoint))
}

function listAnchors(evidence: unknown) {
  try {
    const value = typeof evidence === 'string' ? parseJson(evidence, 'The file') : evidence
    const isOfCrawling = (value as { readonly media_type?: unknown } | null)?.media_type === CRAWLS_TYPE
    return (isOfCrawling ? parseCrawls(value) : parseEvidence(value)).anchors ?? []
  } catch (error) {
    if (error instanceof ShapeError) return []
    throw error
  }
}

function key(response: Uint8Array, checkpoint: string): string {
  return `${Buffer.from(response).toString('base64')} ${checkpoint}`
}
