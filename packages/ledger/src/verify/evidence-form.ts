import { type LedgerKey, parseJwks } from './keys.ts'
import { type Checkpoint, parseCheckpoint } from './note.ts'
import { type AttestationRecord, HEX_HASH, MOMENT, parseAttestation } from './record.ts'
import { type Members, membersOf, ShapeError } from './shape.ts'

/** The media type of evidence, with its version. */
export const EVIDENCE_TYPE = 'application/vnd.sallyport.evidence+json;version=1'

/** The payload type of an attestation's DSSE envelope. */
export const ATTESTATION_TYPE = 'application/vnd.sallyport.attestation+json'

/** Most records in one piece of evidence. */
export const MAX_RECORDS = 1000

/** Evidence as read: well formed, and nothing of it checked against anything yet. */
export interface Evidence {
  readonly origin: string
  readonly log: string
  /** Which attestations were asked for: one, or all that were issued from `from` to `to`, both included. */
  readonly query: { readonly attestationId: number } | { readonly from: string; readonly to: string }
  readonly records: readonly EvidenceRecord[]
  readonly previous?: Neighbor
  readonly next?: Neighbor
  readonly checkpoint: Checkpoint
  readonly earlier?: { readonly checkpoint: Checkpoint; readonly proof: readonly Uint8Array[] }
  readonly keys: readonly LedgerKey[]
  readonly policies: readonly EvidenceDocument[]
  readonly datasets: readonly EvidenceDocument[]
}

export interface EvidenceRecord {
  /** As the envelope around it says; the record must say the same. */
  readonly attestationId: number
  readonly seq: number
  readonly bytes: Uint8Array
  readonly record: AttestationRecord
  readonly signatures: readonly { readonly kid: string; readonly signature: Uint8Array }[]
  readonly path: readonly Uint8Array[]
  /** Absent when the subject was erased. */
  readonly disclosure?: { readonly address: string; readonly salt: Uint8Array; readonly context?: string }
}

/** The record before the first or after the last, by its hash alone: it is somebody else's business. */
export interface Neighbor {
  readonly seq: number
  readonly leaf: Uint8Array
  readonly path: readonly Uint8Array[]
}

export interface EvidenceDocument {
  readonly sha256: string
  readonly text: string
}

/** Reads evidence. Throws ShapeError that names the member for whatever is not of the form of this version. */
export function parseEvidence(value: unknown): Evidence {
  const evidence = membersOf(value, '')
  if (evidence.text('media_type') !== EVIDENCE_TYPE) throw new ShapeError('media_type: not a version that is known')
  evidence.textLike('created_at', MOMENT)
  const records = evidence.objects('records').map(parseEvidenceRecord)
  if (records.length < 1 || records.length > MAX_RECORDS) throw new ShapeError('records: none, or too many')
  const neighbors = evidence.object('neighbors')
  return {
    origin: evidence.text('origin'),
    log: evidence.text('log'),
    query: parseQuery(evidence.object('query')),
    records,
    ...(neighbors.has('previous') ? { previous: parseNeighbor(neighbors.object('previous')) } : {}),
    ...(neighbors.has('next') ? { next: parseNeighbor(neighbors.object('next')) } : {}),
    checkpoint: checkpointOf(evidence),
    ...(evidence.has('consistency') ? { earlier: parseEarlier(evidence.object('consistency')) } : {}),
    keys: parseJwks(evidence.object('keys').raw),
    policies: evidence.objects('policies').map(parseDocument),
    datasets: evidence.objects('datasets').map(parseDocument),
  }
}

function parseQuery(query: Members): Evidence['query'] {
  if (query.has('attestation_id')) return { attestationId: query.integer('attestation_id') }
  return { from: query.textLike('from', MOMENT), to: query.textLike('to', MOMENT) }
}

function parseEvidenceRecord(entry: Members): EvidenceRecord {
  const envelope = entry.object('dsse')
  if (envelope.text('payloadType') !== ATTESTATION_TYPE) throw new ShapeError(`${envelope.path}: not an attestation`)
  const bytes = envelope.bytes('payload')
  const signatures = envelope.objects('signatures').map((signature) => ({
    kid: signature.text('keyid'),
    signature: signature.bytes('sig', 64),
  }))
  const disclosure = parseDisclosure(entry.object('disclosure'))
  return {
    attestationId: entry.integer('attestation_id'),
    seq: entry.integer('seq'),
    bytes,
    record: parseAttestation(bytes),
    signatures,
    path: entry.object('inclusion').bytesList('hashes', 32),
    ...(disclosure === undefined ? {} : { disclosure }),
  }
}

function parseDisclosure(entry: Members): EvidenceRecord['disclosure'] {
  if (entry.textLike('state', /^(disclosed|erased)$/) === 'erased') return undefined
  return {
    address: entry.text('ip'),
    salt: entry.bytes('salt', 32),
    ...(entry.has('request_context') ? { context: entry.text('request_context') } : {}),
  }
}

function parseNeighbor(entry: Members): Neighbor {
  return { seq: entry.integer('seq'), leaf: entry.bytes('leaf_hash', 32), path: entry.bytesList('hashes', 32) }
}

function parseEarlier(entry: Members): NonNullable<Evidence['earlier']> {
  return { checkpoint: checkpointOf(entry), proof: entry.bytesList('hashes', 32) }
}

function checkpointOf(entry: Members): Checkpoint {
  const checkpoint = parseCheckpoint(entry.text('checkpoint'))
  if (checkpoint === undefined) throw new ShapeError(`${entry.path}.checkpoint: not a checkpoint`)
  return checkpoint
}

function parseDocument(entry: Members): EvidenceDocument {
  return { sha256: entry.textLike('sha256', HEX_HASH), text: entry.text('text') }
}
