import { parseOwnKeys } from './keys.ts'
import { type Checkpoint, parseCheckpoint } from './note.ts'
import { HEX_HASH, parseAttestation } from './record.ts'
import { Members, ShapeError } from './shape.ts'
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
  const evidence = new Members(value, '')
  const type = evidence.text('media_type')
  const isAnchored = type === ANCHORED_TYPE
  if (type !== EVIDENCE_TYPE && !isAnchored) throw new ShapeError('media_type: not a version that is known')
  const records = evidence.objects('records').map(parseEvidenceRecord)
  if (records.length < 1 || records.length > MAX_RECORDS) throw new ShapeError('records: none, or too many')
  const origin = evidence.text('origin')
  const statements = evidence.object('statements')
  const parsed = evidence.complete({
    createdAt: evidence.moment('created_at'),
    origin,
    log: evidence.text('log'),
    query: parseQuery(evidence.object('query')),
    records,
    ...parseNeighbors(evidence.object('neighbors')),
    checkpoint: readCheckpoint(evidence),
    ...(evidence.has('consistency') ? { earlier: parseEarlier(evidence.object('consistency')) } : {}),
    keys: parseOwnKeys(evidence.object('keys'), origin),
    ...(isAnchored ? { anchors: parseAnchors(evidence) } : {}),
    ...(isAnchored && evidence.has('unanchored') ? { unanchored: evidence.text('unanchored') } : {}),
    policies: evidence.objects('policies').map(parseDocument),
    datasets: evidence.objects('datasets').map(parseDocument),
  })
  requireStatements(statements, isAnchored ? ANCHORED_STATEMENTS : STATEMENTS)
  return parsed
}

/** Bounds the anchors of one file, and the timestamps of one anchor. */
const MAX_ANCHORS = 16

function nameKind(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'a list'
  return typeof value === 'string' ? 'a text' : `a ${typeof value}`
}

/** Throws where evidence says something other than evidence of its version does. */
export function requireStatements(statements: Members, wanted: object): void {
  if (!saysTheSame(statements.raw, wanted)) throw new ShapeError('statements: not what evidence of this version says')
}

/** Reports whether two JSON values are equal; members may be in any order. */
function saysTheSame(found: unknown, wanted: unknown): boolean {
  if (typeof wanted !== 'object' || wanted === null) return found === wanted
  if (typeof found !== 'object' || found === null || Array.isArray(found) !== Array.isArray(wanted)) return false
  const [ours, theirs] = [Object.entries(wanted), found as Readonly<Record<string, unknown>>]
  return (
    Object.keys(theirs).length === ours.length &&
    ours.every(([name, value]) => Object.hasOwn(theirs, name) && saysTheSame(theirs[name], value))
  )
}

function parseQuery(query: Members) {
  if (query.has('attestation_id')) return query.complete({ attestationId: query.integer('attestation_id') })
  return parseSpan(query)
}

export function parseSpan(query: Members) {
  return query.complete({ from: query.moment('from'), to: query.moment('to') })
}

function parseEvidenceRecord(entry: Members) {
  const inclusion = entry.object('inclusion')
  const disclosure = parseDisclosure(entry.object('disclosure'))
  return entry.complete({
    attestationId: entry.integer('attestation_id'),
    seq: entry.integer('seq'),
    ...parseEnvelope(entry.object('dsse')),
    path: inclusion.complete(inclusion.bytesList('hashes', 32)),
    ...(disclosure === undefined ? {} : { disclosure }),
  })
}

function parseEnvelope(entry: Members) {
  if (entry.text('payloadType') !== ATTESTATION_TYPE) throw new ShapeError(`${entry.path}: not an attestation`)
  const bytes = entry.bytes('payload')
  const signatures = entry
    .objects('signatures')
    .map((one) => one.complete({ kid: one.text('keyid'), signature: one.bytes('sig', 64) }))
  if (new Set(signatures.map(({ kid }) => kid)).size < signatures.length) {
    throw new ShapeError(`${entry.at('signatures')}: two of one key`)
  }
  return entry.complete({ bytes, record: parseAttestation(bytes), signatures })
}

/** Reads address, salt and context; `undefined` if the subject was erased. */
function parseDisclosure(entry: Members) {
  if (entry.textLike('state', /^(disclosed|erased)$/) === 'erased') return entry.complete(undefined)
  return entry.complete({
    address: entry.text('ip'),
    salt: entry.bytes('salt', 32),
    ...(entry.has('request_context') ? { context: entry.text('request_context') } : {}),
  })
}

function parseNeighbors(entry: Members) {
  return entry.complete({
    ...(entry.has('previous') ? { previous: parseNeighbor(entry.object('previous')) } : {}),
    ...(entry.has('next') ? { next: parseNeighbor(entry.object('next')) } : {}),
  })
}

/** Reads the record before the first or after the last, of which only the hash is shown: it is about another visitor. */
function parseNeighbor(entry: Members) {
  const [seq, leaf] = [entry.integer('seq'), entry.bytes('leaf_hash', 32)]
  return entry.complete({ seq, leaf, path: entry.bytesList('hashes', 32) })
}

function parseEarlier(entry: Members) {
  return entry.complete({ checkpoint: readCheckpoint(entry), proof: entry.bytesList('hashes', 32) })
}

export function parseAnchors(evidence: Members) {
  const anchors = evidence.objects('anchors')
  if (anchors.length > MAX_ANCHORS) throw new ShapeError('anchors: too many')
  return anchors.map(parseAnchor)
}

function parseAnchor(entry: Members) {
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
  return entry.complete({
    /** Has the cosignatures among its signatures. */
    checkpoint: cosigned,
    /** Holds the text that authorities stamp, by its bytes. */
    text,
    proof: entry.bytesList('hashes', 32),
    timestamps: timestamps.map((one) =>
      one.complete({ authority: one.text('authority'), response: one.bytes('response') }),
    ),
  })
}

export function readCheckpoint(entry: Members): Checkpoint {
  const checkpoint = parseCheckpoint(entry.text('checkpoint'))
  if (checkpoint === undefined) throw new ShapeError(`${entry.at('checkpoint')}: not a checkpoint`)
  return checkpoint
}

export function parseDocument(entry: Members) {
  return entry.complete({ sha256: entry.textLike('sha256', HEX_HASH), text: entry.text('text') })
}
