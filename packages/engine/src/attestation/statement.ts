import { invalidField, type NetworkFinding, type Snapshot } from '@sallyport/core'
import { canonicalText, type Document, readDocument, type Statement, UNKNOWN_REGION } from '@sallyport/ledger'

/** States facts about a connection in the form that a record holds. */
export function stateFinding(
  { verdict, asn }: NetworkFinding,
  country: string | undefined,
  regions: readonly string[] | undefined,
): Statement['finding'] {
  const { classification, anonymized, method, confidence } = verdict
  return {
    networkOrigin: classification,
    anonymized,
    method,
    confidence,
    ...(country === undefined ? {} : { country }),
    ...(asn === undefined ? {} : { asn }),
    ...(regions === undefined ? {} : { region: regions.join(',') || UNKNOWN_REGION }),
  }
}

/** Lists missing data, separated by commas: a reader must not take absent data for "not found" later. */
export function stateDegraded({ networks, geo, rangesLoaded }: Snapshot): string {
  const missing = [
    networks === undefined ? 'asn' : '',
    geo === undefined || geo.families.length === 0 ? 'geo' : '',
    rangesLoaded ? '' : 'ranges',
  ]
  return missing.filter((name) => name !== '').join(',')
}

/** Writes the loaded data sets of a snapshot as the document that its attestations name. */
export function stateDatasets({ sources }: Snapshot): Document {
  const loaded = sources.filter(({ state }) => state === 'loaded')
  return readDocument(loaded.map(({ id, title, date, entries, sha256 }) => ({ id, title, date, entries, sha256 })))
}

const MAX_CONTEXT_BYTES = 8192

/** Writes the context of a request as canonical JSON. Throws `invalid_request` if it has no such form or is too long. */
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
