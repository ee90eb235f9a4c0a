import { canonicalRecord, Members, ShapeError } from './shape.ts'

/** Records of attestations have this version of the form. */
export const RECORD_VERSION = 1
/** A claim of a region has its own version: a verifier that knows no regions would call an honest decision false. */
export const REGION_VERSION = 2
/** Records of crawling have their own version, because they contain no claim. */
export const CRAWL_VERSION = 3

/** Stands in `finding.region` if the region is unknown. */
export const UNKNOWN_REGION = 'unknown'

export const HEX_HASH = /^[0-9a-f]{64}$/

/** Lists the members of every record. */
export interface RecordPlace {
  readonly attestationId: number
  readonly log: string
  /** Counts from 0 in the record's log. */
  readonly seq: number
  /** Written in ISO 8601, UTC, with milliseconds; never earlier than in the record before. */
  readonly issuedAt: string
  /** Holds the hash of the record before it in the log, in hexadecimal. */
  readonly prev: string
}

/** Holds an attestation in its recorded form. */
export type AttestationRecord = ReturnType<typeof parseAttestation>

/** Reads the place of a record of any type. Throws ShapeError for bytes that are not the canonical form of a record of this version. */
export function parseRecord(bytes: Uint8Array) {
  const text = Buffer.from(bytes).toString('utf8')
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    throw new ShapeError('record: not JSON')
  }
  // The bytes are compared, because decoding has already changed a text that was not UTF-8.
  if (Buffer.compare(Buffer.from(canonicalRecord(value)), bytes) !== 0) throw new ShapeError('record: not canonical')
  const members = new Members(value, 'record')
  const isOfRegion = members.has('finding') && members.object('finding').has('region')
  const plain = isOfRegion ? REGION_VERSION : RECORD_VERSION
  if (members.integer('v') !== (members.has('crawl') ? CRAWL_VERSION : plain))
    throw new ShapeError('record.v: not a version that is known')
  const place: RecordPlace = {
    attestationId: members.integer('attestation_id'),
    log: members.text('log'),
    seq: members.integer('seq'),
    issuedAt: members.moment('issued_at'),
    prev: members.textLike('prev', HEX_HASH),
  }
  return { type: members.text('type'), place, members }
}

/** Reads an attestation. Throws ShapeError for any other record. */
export function parseAttestation(bytes: Uint8Array) {
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
    /** Lists codes with commas, the smallest region first, or `unknown`; absent unless the claim names a region. */
    ...(finding.has('region') ? { region: finding.text('region') } : {}),
    policySha256: policy.textLike('sha256', HEX_HASH),
    action: policy.text('action'),
    reason: policy.text('reason'),
    datasetsSha256: members.object('basis').textLike('datasets_sha256', HEX_HASH),
    subject: members.object('subject').textLike('commit', HEX_HASH),
    ...(members.has('context_sha256') ? { context: members.textLike('context_sha256', HEX_HASH) } : {}),
  }
}
