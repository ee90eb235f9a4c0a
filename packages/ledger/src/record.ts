import serialize from 'canonicalize'
import { commitment, sha256Hex } from './verify/hash.ts'
import { RECORD_VERSION } from './verify/record.ts'

/** Personal data of a record, kept beside the chain so that it can be erased without touching it. */
export interface Subject {
  /** Canonical text of the address (RFC 5952). */
  readonly address: string
  /** 32 random bytes, drawn for this record: without them nobody can find the address by trying all of them. */
  readonly salt: Uint8Array
  /** Canonical JSON of the request's context; absent where none was given. */
  readonly context?: string | undefined
}

/**
 * A record that has no place in its log yet: the members of its canonical text before, between and after those that
 * depend on the place. A retry fills in another place without writing the members again.
 */
export interface Draft {
  /** Name of the log inside its ledger: `t/<account>`, `keys`. An account has a log of its own, so that a missing end shows. */
  readonly log: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Members between `attestation_id` and `issued_at`, each with a comma before it. */
  readonly front: string
  /** Members between `log` and `prev`. */
  readonly middle: string
  /** Members after `seq`. */
  readonly back: string
  readonly subject?: Subject | undefined
}

/** The members of a record that depend on its place. */
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

/** Content of one attestation; the record's form is in packages/sallyport/docs/evidence.md. */
export interface Statement {
  readonly claim: string
  readonly finding: {
    readonly networkOrigin: string
    readonly anonymized: boolean
    readonly method: string
    /** 0 to 1; recorded in basis points. */
    readonly confidence: number
    readonly country?: string | undefined
    readonly asn?: number | undefined
  }
  readonly policy: { readonly id: string; readonly sha256: string; readonly action: string; readonly reason: string }
  readonly basis: {
    readonly engine: string
    readonly datasetsSha256: string
    /** How the client address was found: `request` (named by the caller), `peer`, or the header it came in. */
    readonly addressFrom: string
    /** Names of data that was missing, with commas; absent when none was. */
    readonly degraded?: string | undefined
  }
}

/** The draft of an attestation. `subject.context` and `subject.address` enter as salted hashes only: a bare hash of a short text can be guessed. */
export function draftAttestation(log: string, at: number, statement: Statement, subject: Subject): Draft {
  const { claim, finding, policy, basis } = statement
  const { salt, address, context } = subject
  const front = {
    basis: {
      address_from: basis.addressFrom,
      datasets_sha256: basis.datasetsSha256,
      degraded: basis.degraded,
      engine: basis.engine,
    },
    claim: { jurisdiction: claim },
    context_sha256: context === undefined ? undefined : commitment(salt, context),
    finding: {
      anonymized: finding.anonymized ? 'yes' : 'no',
      asn: finding.asn,
      confidence_bp: Math.round(finding.confidence * 10_000),
      country: finding.country,
      method: finding.method,
      network_origin: finding.networkOrigin,
    },
  }
  const middle = { policy: { action: policy.action, id: policy.id, reason: policy.reason, sha256: policy.sha256 } }
  const back = { subject: { commit: commitment(salt, address) }, type: 'provenance', v: RECORD_VERSION }
  return { log, at, front: membersText(front), middle: membersText(middle), back: membersText(back), subject }
}

/** The draft of a record about a key; all its members come after the place. */
export function draftKeyRecord(log: string, at: number, members: Readonly<Record<string, RecordValue>>): Draft {
  const back = { ...members, type: 'key', v: RECORD_VERSION }
  return { log, at, front: '', middle: '', back: membersText(back) }
}

/**
 * The members of an object as canonical text has them, each with a comma before it. The object's names, at every
 * depth, are in canonical order already, and it holds texts and integers only: so its JSON is canonical. A member that
 * is `undefined` is left out.
 */
function membersText(object: object): string {
  return `,${JSON.stringify(object).slice(1, -1)}`
}

/** The canonical text of a placed record (RFC 8785): what is stored and hashed. */
export function recordText(draft: Draft, { attestationId, issuedAt, log, prev, seq }: Placement): string {
  const { front, middle, back } = draft
  return `{"attestation_id":${attestationId}${front},"issued_at":"${issuedAt}","log":"${log}"${middle},"prev":"${prev}","seq":${seq}${back}}`
}

/** The canonical text (RFC 8785) of a JSON value. Throws for what JSON cannot say: NaN, lone surrogates, cycles. */
export function canonicalText(value: unknown): string {
  const text = serialize(value)
  if (text === undefined) throw new TypeError('not a JSON value')
  return text
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
