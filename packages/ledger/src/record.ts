import { canonicalText } from './canonical.ts'
import { commitment, sha256Hex } from './verify/hash.ts'
import { RECORD_VERSION } from './verify/record.ts'

/** Personal data of a record, kept beside the chain so that it can be erased without touching it. */
export interface Subject {
  /** Canonical text of the address (RFC 5952). */
  readonly address: string
  /** 32 random bytes of this record's own: without them the commitment says nothing, even by trying all addresses. */
  readonly salt: Uint8Array
  /** Canonical JSON of the request's context; absent where none was given. */
  readonly context?: string
}

/**
 * A record that has no place in its log yet: the members of its canonical text that lie before, between and after those
 * that a place fills in. Cutting the text and not building it anew is what lets one writer place tens of thousands a
 * second.
 */
export interface Draft {
  /** Name of the log inside its ledger: `t/<account>`, `keys`. */
  readonly log: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Members between `attestation_id` and `issued_at`, each with a comma before it. */
  readonly front: string
  /** Members between `log` and `prev`. */
  readonly middle: string
  /** Members after `seq`. */
  readonly back: string
  readonly subject?: Subject
}

/** Where a record stands. */
export interface Placement {
  readonly attestationId: number
  /** ISO 8601, UTC, milliseconds. */
  readonly issuedAt: string
  /** Full name of the log. */
  readonly log: string
  /** Hexadecimal. */
  readonly prev: string
  readonly seq: number
}

/** A value that a record may hold: texts, integers and objects of them. */
export type RecordValue = string | number | { readonly [name: string]: RecordValue }

/** What one attestation says; see the record's form in the README. */
export interface Attestation {
  readonly claim: string
  readonly finding: {
    readonly networkOrigin: string
    readonly anonymized: boolean
    readonly method: string
    /** 0 to 1; recorded in basis points. */
    readonly confidence: number
    readonly country?: string
    readonly asn?: number
  }
  readonly policy: { readonly id: string; readonly sha256: string; readonly action: string; readonly reason: string }
  readonly basis: {
    readonly engine: string
    readonly datasetsSha256: string
    /** How the client address was found: `request` (named by the caller), `peer`, or the header it came in. */
    readonly addressFrom: string
    /** Names of data that was missing, with commas; absent when none was. */
    readonly degraded?: string
  }
}

/**
 * The draft of an attestation. `subject.context` and `subject.address` enter as salted hashes only, made by `commit`:
 * that of `createCommitter` where there are many.
 */
export function draftAttestation(
  log: string,
  at: number,
  attestation: Attestation,
  subject: Subject,
  commit = commitment,
): Draft {
  const { claim, finding, policy, basis } = attestation
  const { salt, address, context } = subject
  // Written member by member, in canonical order: this is done for every record, and JSON.stringify takes three times
  // as long. A test holds the result against RFC 8785.
  const front =
    `,"basis":{"address_from":${quoted(basis.addressFrom)},"datasets_sha256":${quoted(basis.datasetsSha256)}` +
    `${optional('degraded', basis.degraded)},"engine":${quoted(basis.engine)}},"claim":{"jurisdiction":${quoted(claim)}}` +
    `${context === undefined ? '' : `,"context_sha256":"${commit(salt, context)}"`}` +
    `,"finding":{"anonymized":"${finding.anonymized ? 'yes' : 'no'}"${finding.asn === undefined ? '' : `,"asn":${finding.asn}`}` +
    `,"confidence_bp":${Math.round(finding.confidence * 10_000)}${optional('country', finding.country)}` +
    `,"method":${quoted(finding.method)},"network_origin":${quoted(finding.networkOrigin)}}`
  const middle = `,"policy":{"action":${quoted(policy.action)},"id":${quoted(policy.id)},"reason":${quoted(policy.reason)},"sha256":${quoted(policy.sha256)}}`
  const back = `,"subject":{"commit":"${commit(salt, address)}"},"type":"provenance","v":${RECORD_VERSION}`
  return { log, at, front, middle, back, subject }
}

/** What JSON writes as it stands: no quote, no backslash, nothing that is escaped. */
const PLAIN = /^[ !#-[\]-~]*$/

/** A text as JSON has it. */
function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text)
}

function optional(name: string, text: string | undefined): string {
  return text === undefined ? '' : `,"${name}":${quoted(text)}`
}

/** The draft of a record about a key; its members stand behind the place. */
export function draftKeyRecord(log: string, at: number, members: Readonly<Record<string, RecordValue>>): Draft {
  const back = { ...members, type: 'key', v: RECORD_VERSION }
  return { log, at, front: '', middle: '', back: membersText(back) }
}

/**
 * The members of an object as they stand in canonical text, each with a comma before it. The object's names, at every
 * depth, are written in canonical order already, and it holds texts and integers only: so its JSON is canonical. A
 * member that is `undefined` is left out.
 */
function membersText(object: object): string {
  return `,${JSON.stringify(object).slice(1, -1)}`
}

/** The canonical text of a placed record (RFC 8785): what is stored, hashed and never written anew. */
export function recordText(draft: Draft, { attestationId, issuedAt, log, prev, seq }: Placement): string {
  const { front, middle, back } = draft
  return `{"attestation_id":${attestationId}${front},"issued_at":"${issuedAt}","log":"${log}"${middle},"prev":"${prev}","seq":${seq}${back}}`
}

/** A document that records name by its hash: a policy, a list of data sets. */
export interface Document {
  readonly sha256: string
  readonly text: string
}

/** A JSON value as a document. */
export function documentOf(value: unknown): Document {
  const text = canonicalText(value)
  return { sha256: sha256Hex(text), text }
}
