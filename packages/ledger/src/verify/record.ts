import { canonicalRecord, type Members, membersOf, ShapeError } from './shape.ts'

/** Version of the record's form. */
export const RECORD_VERSION = 1

export const HEX_HASH = /^[0-9a-f]{64}$/

/** Members of every record, whatever it is about. */
export interface RecordPlace {
  readonly attestationId: number
  readonly log: string
  /** Position in its log, from 0. */
  readonly seq: number
  /** ISO 8601, UTC, milliseconds; never earlier than that of the record before. */
  readonly issuedAt: string
  /** Hash of the record before it in the log, hexadecimal. */
  readonly prev: string
}

/** An attestation as it is recorded. */
export interface AttestationRecord extends RecordPlace {
  readonly claim: string
  readonly networkOrigin: string
  readonly anonymized: boolean
  readonly method: string
  /** Absent when unknown. */
  readonly country?: string | undefined
  readonly policySha256: string
  readonly action: string
  readonly reason: string
  readonly datasetsSha256: string
  /** SHA-256 of salt and address, hexadecimal. */
  readonly subject: string
  /** SHA-256 of salt and canonical request context, hexadecimal; absent where none was given. */
  readonly context?: string | undefined
}

/**
 * Reads the place of a record of any type. Throws ShapeError for bytes that are not the canonical form of a record of
 * this version.
 */
export function parseRecord(bytes: Uint8Array): {
  readonly type: string
  readonly place: RecordPlace
  readonly members: Members
} {
  const text = Buffer.from(bytes).toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ShapeError('record: not JSON')
  }
  // Compared as bytes: a text that was not UTF-8 to begin with has already changed by being read.
  if (Buffer.compare(Buffer.from(canonicalRecord(value)), bytes) !== 0) throw new ShapeError('record: not canonical')
  const members = membersOf(value, 'record')
  if (members.integer('v') !== RECORD_VERSION) throw new ShapeError('record.v: not a version that is known')
  const place = {
    attestationId: members.integer('attestation_id'),
    log: members.text('log'),
    seq: members.integer('seq'),
    issuedAt: members.moment('issued_at'),
    prev: members.textLike('prev', HEX_HASH),
  }
  return { type: members.text('type'), place, members }
}

/** Reads an attestation. Throws ShapeError for any other record. */
export function parseAttestation(bytes: Uint8Array): AttestationRecord {
  const { type, place, members } = parseRecord(bytes)
  if (type !== 'provenance') throw new ShapeError('record.type: not an attestation')
  const finding = members.object('finding')
  const policy = members.object('policy')
  finding.integer('confidence_bp')
  policy.text('id')
  members.object('basis').text('engine')
  return {
    ...place,
    claim: members.object('claim').text('jurisdiction'),
    networkOrigin: finding.text('network_origin'),
    anonymized: finding.textLike('anonymized', /^(yes|no)$/) === 'yes',
    method: finding.text('method'),
    ...(finding.has('country') ? { country: finding.text('country') } : {}),
    policySha256: policy.textLike('sha256', HEX_HASH),
    action: policy.text('action'),
    reason: policy.text('reason'),
    datasetsSha256: members.object('basis').textLike('datasets_sha256', HEX_HASH),
    subject: members.object('subject').textLike('commit', HEX_HASH),
    ...(members.has('context_sha256') ? { context: members.textLike('context_sha256', HEX_HASH) } : {}),
  }
}
