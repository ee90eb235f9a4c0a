import { parseOwnKeys } from './keys.ts'
import { type Checkpoint, parseCheckpoint } from './note.ts'
import { HEX_HASH, parseAttestation } from './record.ts'
import { type Members, readMembers, ShapeError } from './shape.ts'
import { ANCHORED_STATEMENTS, STATEMENTS } from './statements.ts'

/** Names the media type of evidence, with its version. */
export const EVIDENCE_TYPE = 'application/vnd.sallyport.evidence+json;version=1' as const

/** Evidence with timestamps has its own version, which older verifiers do not know. */
export const ANCHORED_TYPE = 'application/vnd.sallyport.evidence+json;version=2' as const

/** Names the payload type of an attestation's DSSE envelope. */
export const ATTESTATION_TYPE = 'application/vnd.sallyport.attestation+json' as const

/** Bounds the records in one piece of evidence. */
export const MAX_RECORDS = 1000

/** Holds evidence after parsing: it is well formed, and nothing in it is verified yet. */
export type Evidence = ReturnType<typeof parseEvidence>
export type EvidenceRecord = Evidence['records'][number]
/** Holds a checkpoint that time authorities stamped or witnesses cosigned, and proves that the log continues it. */
export type EvidenceAnchor = ReturnType<typeof parseAnchor>

/** Reads evidence. Throws ShapeError, which names the member, for anything that does not have the form of this version. */
export function parseEvidence(value: unknown) {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new ShapeError(`The file holds ${nameKind(value)} and no evidence, which is a JSON object.`)
  }
  const evidence = readMembers(value, '')
  const type = evidence.text('media_type')
  const isAnchored = type === ANCHORED_TYPE
  if (type !== EVIDENCE_TYPE && !isAnchored) throw new ShapeError('media_type: not a version that is known')
  evidence.only(...MEMBERS, ...(isAnchored ? ANCHOR_MEMBERS : []))
  const records = evidence.objects('records').map(parseEvidenceRecord)
  if (records.length < 1 || records.length > MAX_RECORDS) throw new ShapeError('records: none, or too many')
  const neighbors = evidence.object('neighbors')
  neighbors.only('previous', 'next')
  const origin = evidence.text('origin')
  if (!saysTheSame(evidence.object('statements').raw, isAnchored ? ANCHORED_STATEMENTS : STATEMENTS)) {
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
    checkpoint: readCheckpoint(evidence),
    ...(evidence.has('consistency') ? { earlier: parseEarlier(evidence.object('consistency')) } : {}),
    keys: parseOwnKeys(evidence.object('keys'), origin),
    ...(isAnchored ? { anchors: parseAnchors(evidence) } : {}),
    ...(evidence.has('unanchored') ? { unanchored: evidence.text('unanchored') } : {}),
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

const ANCHOR_MEMBERS = ['anchors', 'unanchored']

/** Bounds the anchors of one file, and the timestamps of one anchor. */
const MAX_ANCHORS = 16

function nameKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}

/** Reports whether two JSON values are equal; members may be in any order. */
export function saysTheSame(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted
  if (typeof found !== 'object' || found === null || Array.isArray(found) !== Array.isArray(wanted)) return false
  const [ours, theirs] = [Object.entries(wanted), found as Readonly<Record<string, unknown>>]
  return (
    Object.keys(theirs).length === ours.length &&
    ours.every(([name, value]) => Object.hasOwn(theirs, name) && saysTheSame(theirs[name], value))
  )
}

function parseQuery(query: Members) {
  if (query.has('attestation_id')) {
    query.only('attestation_id')
    return { attestationId: query.integer('attestation_id') }
  }
  query.only('from', 'to')
  return { from: query.moment('from'), to: query.moment('to') }
}

function parseEvidenceRecord(entry: Members) {
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

/** Reads address, salt and context; `undefined` if the subject was erased. */
function parseDisclosure(entry: Members) {
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

/** Reads the record before the first or after the last, of which only the hash is shown: it is about another visitor. */
function parseNeighbor(entry: Members) {
  entry.only('seq', 'leaf_hash', 'hashes')
  return { seq: entry.integer('seq'), leaf: entry.bytes('leaf_hash', 32), path: entry.bytesList('hashes', 32) }
}

function parseEarlier(entry: Members) {
  entry.only('checkpoint', 'hashes')
  return { checkpoint: readCheckpoint(entry), proof: entry.bytesList('hashes', 32) }
}

export function parseAnchors(evidence: Members) {
  const anchors = evidence.objects('anchors')
  if (anchors.length > MAX_ANCHORS) throw new ShapeError('anchors: too many')
  return anchors.map(parseAnchor)
}

function parseAnchor(entry: Members) {
  entry.only('checkpoint', 'hashes', 'timestamps', 'cosignatures')
  const timestamps = entry.objects('timestamps')
  const isCosigned = entry.has('cosignatures')
  if ((timestamps.length < 1 && !isCosigned) || timestamps.length > MAX_ANCHORS) {
    throw new ShapeError(`${entry.at('timestamps')}: none, or too many`)
  }
  const text = entry.text('checkpoint')
  const plain = readCheckpoint(entry)
  const cosigned = isCosigned ? parseCheckpoint(`${text}${entry.text('cosignatures')}`) : plain
  if (cosigned === undefined || cosigned.signatures.length > plain.signatures.length + MAX_ANCHORS) {
    throw new ShapeError(`${entry.at('cosignatures')}: not signature lines, or too many`)
  }
  return {
    /** Has the cosignatures among its signatures. */
    checkpoint: cosigned,
    /** Holds the text that authorities stamp, by its bytes. */
    text,
    proof: entry.bytesList('hashes', 32),
    timestamps: timestamps.map((timestamp) => {
      timestamp.only('authority', 'response')
      return { authority: timestamp.text('authority'), response: timestamp.bytes('response') }
    }),
  }
}

export function readCheckpoint(entry: Members): Checkpoint {
  const checkpoint = parseCheckpoint(entry.text('checkpoint'))
  if (checkpoint === undefined) throw new ShapeError(`${entry.at('checkpoint')}: not a checkpoint`)
  return checkpoint
}

export function parseDocument(entry: Members) {
  entry.only('sha256', 'text')
  return { sha256: entry.textLike('sha256', HEX_HASH), text: entry.text('text') }
}
