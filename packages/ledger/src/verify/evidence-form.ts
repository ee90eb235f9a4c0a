import { type LedgerKey, parseOwnKeys } from './keys.ts'
import { type Checkpoint, parseCheckpoint } from './note.ts'
import { type AttestationRecord, HEX_HASH, parseAttestation } from './record.ts'
import { type Members, membersOf, ShapeError } from './shape.ts'
import { STATEMENTS } from './statements.ts'

/** The media type of evidence, with its version. */
export const EVIDENCE_TYPE = 'application/vnd.sallyport.evidence+json;version=1'

/** The payload type of an attestation's DSSE envelope. */
export const ATTESTATION_TYPE = 'application/vnd.sallyport.attestation+json'

/** Most records in one piece of evidence. */
export const MAX_RECORDS = 1000

/** Evidence as read: well formed, and nothing of it checked against anything yet. */
export interface Evidence {
  /** When the file was made and its records signed, as the file says. */
  readonly createdAt: string
  readonly origin: string
  readonly log: string
  /** Which attestations were asked for: one, or all that were issued from `from` to `to`, both included. */
  readonly query: { readonly attestationId: number } | { readonly from: string; readonly to: string }
  readonly records: readonly EvidenceRecord[]
  readonly previous?: Neighbor | undefined
  readonly next?: Neighbor | undefined
  readonly checkpoint: Checkpoint
  readonly earlier?: { readonly checkpoint: Checkpoint; readonly proof: readonly Uint8Array[] } | undefined
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
  readonly disclosure?:
    | { readonly address: string; readonly salt: Uint8Array; readonly context?: string | undefined }
    | undefined
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
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ShapeError(`The file holds ${kindOf(value)} and no evidence, which is a JSON object.`)
  }
  const evidence = membersOf(value, '')
  if (evidence.text('media_type') !== EVIDENCE_TYPE) throw new ShapeError('media_type: not a version that is known')
  evidence.only(...MEMBERS)
  const records = evidence.objects('records').map(parseEvidenceRecord)
  if (records.length < 1 || records.length > MAX_RECORDS) throw new ShapeError('records: none, or too many')
  const neighbors = evidence.object('neighbors')
  neighbors.only('previous', 'next')
  const origin = evidence.text('origin')
  if (!saysTheSame(evidence.object('statements').raw, STATEMENTS)) {
    throw new ShapeError('statements: not what evidence of this version says')
  }
  return {
    createdAt: evidence.moment('created_at'),
    origin,
    log: evidence.text('log'),
    query: parseQuery(evidence.object('query')),
    records,
    ...(neighbors.has('previous') ? { previous: parseNeighbor(neighbors.object('previous')) } : {}),
    ...(neighbors.has('next') ? { next: parseNeighbor(neighbors.object('next')) } : {}),
    checkpoint: checkpointOf(evidence),
    ...(evidence.has('consistency') ? { earlier: parseEarlier(evidence.object('consistency')) } : {}),
    keys: parseOwnKeys(evidence.object('keys'), origin),
    policies: evidence.objects('policies').map(parseDocument),
    datasets: evidence.objects('datasets').map(parseDocument),
  }
}

const MEMBERS = [
  'media_type',
  'created_at',
  'origin',
  'log',
  'query',
  'records',
  'neighbors',
  'checkpoint',
  'consistency',
  'keys',
  'policies',
  'datasets',
  'statements',
]

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}

/** Whether two values of JSON are one; members may be in any order. */
function saysTheSame(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted
  if (typeof found !== 'object' || found === null || Array.isArray(found) !== Array.isArray(wanted)) return false
  const [ours, theirs] = [Object.entries(wanted), found as Readonly<Record<string, unknown>>]
  return (
    Object.keys(theirs).length === ours.length &&
    ours.every(([name, value]) => Object.hasOwn(theirs, name) && saysTheSame(theirs[name], value))
  )
}

function parseQuery(query: Members): Evidence['query'] {
  if (query.has('attestation_id')) {
    query.only('attestation_id')
    return { attestationId: query.integer('attestation_id') }
  }
  query.only('from', 'to')
  return { from: query.moment('from'), to: query.moment('to') }
}

function parseEvidenceRecord(entry: Members): EvidenceRecord {
  entry.only('attestation_id', 'seq', 'dsse', 'inclusion', 'disclosure')
  const envelope = entry.object('dsse')
  envelope.only('payloadType', 'payload', 'signatures')
  if (envelope.text('payloadType') !== ATTESTATION_TYPE) throw new ShapeError(`${envelope.path}: not an attestation`)
  const bytes = envelope.bytes('payload')
  const signatures = envelope.objects('signatures').map((signature) => {
    signature.only('keyid', 'sig')
    return { kid: signature.text('keyid'), signature: signature.bytes('sig', 64) }
  })
  if (new Set(signatures.map(({ kid }) => kid)).size < signatures.length) {
    throw new ShapeError(`${envelope.at('signatures')}: two of one key`)
  }
  const inclusion = entry.object('inclusion')
  inclusion.only('hashes')
  const disclosure = parseDisclosure(entry.object('disclosure'))
  return {
    attestationId: entry.integer('attestation_id'),
    seq: entry.integer('seq'),
    bytes,
    record: parseAttestation(bytes),
    signatures,
    path: inclusion.bytesList('hashes', 32),
    ...(disclosure === undefined ? {} : { disclosure }),
  }
}

function parseDisclosure(entry: Members): EvidenceRecord['disclosure'] {
  if (entry.textLike('state', /^(disclosed|erased)$/) === 'erased') {
    entry.only('state')
    return undefined
  }
  entry.only('state', 'ip', 'salt', 'request_context')
  return {
    address: entry.text('ip'),
    salt: entry.bytes('salt', 32),
    ...(entry.has('request_context') ? { context: entry.text('request_context') } : {}),
  }
}

function parseNeighbor(entry: Members): Neighbor {
  entry.only('seq', 'leaf_hash', 'hashes')
  return { seq: entry.integer('seq'), leaf: entry.bytes('leaf_hash', 32), path: entry.bytesList('hashes', 32) }
}

function parseEarlier(entry: Members): NonNullable<Evidence['earlier']> {
  entry.only('checkpoint', 'hashes')
  return { checkpoint: checkpointOf(entry), proof: entry.bytesList('hashes', 32) }
}

function checkpointOf(entry: Members): Checkpoint {
  const checkpoint = parseCheckpoint(entry.text('checkpoint'))
  if (checkpoint === undefined) throw new ShapeError(`${entry.at('checkpoint')}: not a checkpoint`)
  return checkpoint
}

function parseDocument(entry: Members): EvidenceDocument {
  entry.only('sha256', 'text')
  return { sha256: entry.textLike('sha256', HEX_HASH), text: entry.text('text') }
}
