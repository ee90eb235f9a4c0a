import { invalidField, type NetworkFinding, type Snapshot } from '@sallyport/core'
import { canonicalText, type Document, documentOf, type Statement } from '@sallyport/ledger'

/** Facts about a connection, in the form that a record holds. */
export function findingOf({ verdict, asn }: NetworkFinding, country: string | undefined): Statement['finding'] {
  const { classification, anonymized, method, confidence } = verdict
  return {
    networkOrigin: classification,
    anonymized,
    method,
    confidence,
    ...(country === undefined ? {} : { country }),
    ...(asn === undefined ? {} : { asn }),
  }
}

/** Data that was missing, with commas: absent data must not be read as "not found" later. */
export function degradedOf({ networks, geo, rangesLoaded }: Snapshot): string {
  const missing = [
    networks === undefined ? 'asn' : '',
    geo === undefined || geo.families.length === 0 ? 'geo' : '',
    rangesLoaded ? '' : 'ranges',
  ]
  return missing.filter((name) => name !== '').join(',')
}

/** The loaded data sets of a snapshot, as the document that its attestations name. */
export function datasetsOf({ sources }: Snapshot): Document {
  const loaded = sources.filter(({ state }) => state === 'loaded')
  return documentOf(loaded.map(({ id, title, date, entries, sha256 }) => ({ id, title, date, entries, sha256 })))
}

const MAX_CONTEXT_BYTES = 8192

/** Canonical JSON of a request's context. Throws `invalid_request` where it has none, or is too long. */
export function contextText(context: Readonly<Record<string, unknown>>): string {
  let text: string
  try {
    text = canonicalText(context)
  } catch {
    throw invalidField('request_context', 'holds a number that is not finite, or a text that is not Unicode')
  }
  if (Buffer.byteLength(text) > MAX_CONTEXT_BYTES) {
    throw invalidField('request_context', `more than ${MAX_CONTEXT_BYTES} bytes`)
  }
  return text
}
