import { canonicalText } from './canonical.ts'
import { createCommitter, sha256Hex } from './verify/hash.ts'
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

/** The draft of an attestation. `subject.context` and `subject.address` enter as salted hashes only. */
export type Drafter = (log: string, at: number, attestation: Attestation, subject: Subject) => Draft

/**
 * Drafts many attestations. Written member by member, in canonical order: this is done for every record, and
 * JSON.stringify takes three times as long. A test holds the result against RFC 8785.
 */
export function createDrafter(): Drafter {
  const commit = createCommitter()
  const basisText = rememberLast(writeBasis)
  const policyText = rememberLast(writePolicy)
  return (log, at, { claim, finding, policy, basis }, subject) => {
    const { salt, address, context } = subject
    const front =
      `${basisText(basis)},"claim":{"jurisdiction":${quoted(claim)}}` +
      `${context === undefined ? '' : `,"context_sha256":"${commit(salt, context)}"`}` +
      `,"finding":{"anonymized":"${finding.anonymized ? 'yes' : 'no'}"${finding.asn === undefined ? '' : `,"asn":${finding.asn}`}` +
      `,"confidence_bp":${Math.round(finding.confidence * 10_000)}${optional('country', finding.country)}` +
      `,"method":${quoted(finding.method)},"network_origin":${quoted(finding.networkOrigin)}}`
    const back = `,"subject":{"commit":"${commit(salt, address)}"},"type":"provenance","v":${RECORD_VERSION}`
    return { log, at, front, middle: policyText(policy), back, subject }
  }
}

export const draftAttestation: Drafter = (...attested) => createDrafter()(...attested)

function writeBasis({ addressFrom, datasetsSha256, degraded, engine }: Attestation['basis']): string {
  return (
    `,"basis":{"address_from":${quoted(addressFrom)},"datasets_sha256":${quoted(datasetsSha256)}` +
    `${optional('degraded', degraded)},"engine":${quoted(engine)}}`
  )
}

function writePolicy({ action, id, reason, sha256 }: Attestation['policy']): string {
  return `,"policy":{"action":${quoted(action)},"id":${quoted(id)},"reason":${quoted(reason)},"sha256":${quoted(sha256)}}`
}

/**
 * What `write` makes of a value, made anew only for one that has other members than the last: neighbours mostly are of one
 * basis and one policy.
 */
function rememberLast<T extends Readonly<Record<string, unknown>>>(write: (value: T) => string): (value: T) => string {
  let last: Readonly<Record<string, unknown>> = {}
  let size = -1
  let text = ''
  return (value) => {
    let count = 0
    for (const name in value) {
      if (value[name] !== last[name]) count = Number.NaN
      count++
    }
    if (count !== size) {
      last = { ...value }
      size = Object.keys(last).length
      // In one piece: what is added up is put together each time that it is read.
      text = Buffer.from(write(value)).toString()
    }
    return text
  }
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
