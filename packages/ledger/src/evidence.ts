import { findAnchor } from './anchors.ts'
import { type LedgerStore, readHead, type Signer, type StoredRecord } from './ports.ts'
import type { Document } from './record.ts'
import { buildJwks } from './signing.ts'
import { createProver, findFirst, type Prover } from './tree.ts'
import { counted } from './verify/counted.ts'
import { ANCHORED_TYPE, ATTESTATION_TYPE, EVIDENCE_TYPE, MAX_RECORDS } from './verify/evidence-form.ts'
import { type LedgerKey, thumbprint } from './verify/keys.ts'
import { type Checkpoint, dssePreimage, isSignedBy, parseCheckpoint } from './verify/note.ts'
import { parseAttestation, parseRecord } from './verify/record.ts'
import { ANCHORED_STATEMENTS, STATEMENTS } from './verify/statements.ts'

/** Selects the records of evidence: one, or all issued from `from` to `to`, both included, ISO 8601 UTC. */
export type EvidenceQuery = { readonly attestationId: number } | { readonly from: string; readonly to: string }

/** A range holds more records than one piece of evidence may. */
export class RangeTooWide extends Error {
  override readonly name = 'RangeTooWide'
}

/** Evidence in its published form, which packages/sallyport/docs/evidence.md#records-and-evidence describes and `@sallyport/ledger/verify` reads. */
export type EvidenceJson = NonNullable<Awaited<ReturnType<typeof buildEvidence>>>

export interface EvidencePorts {
  readonly store: LedgerStore
  /** Signs a checkpoint with the current key that covers a position. */
  cover(log: string, seq: number): Promise<void>
  signer(): Signer
  keys(): readonly LedgerKey[]
  now(): number
  /** Returns why the newest records may have no anchor; `undefined` if the service requests none. */
  unanchored(): string | undefined
}

/** Builds evidence about records of one log; returns `undefined` if there are none. Throws RangeTooWide. */
export async function buildEvidence(log: string, query: EvidenceQuery, ports: EvidencePorts) {
  const { store } = ports
  const records =
    'attestationId' in query ? await findOne(store, log, query.attestationId) : await findRange(log, query, ports)
  const first = records[0]
  const last = records.at(-1)
  if (first === undefined || last === undefined) return undefined
  await ports.cover(log, last.seq)
  const { newest, covering, checkpoint } = await readCheckpoint(store, log, last.seq)
  const prover = createProver(store, log)
  const { size } = checkpoint
  // These start together: each would otherwise add a round trip to the store.
  const [documents, earlier, parts, previous, next, anchored] = await Promise.all([
    readDocuments(store, records),
    proveEarlier(prover, checkpoint, covering, store.origin, ports.keys()),
    readRecords(records, size, prover, ports),
    first.seq === 0 ? undefined : proveNeighbor(prover, first.seq - 1, size),
    last.seq + 1 < size ? proveNeighbor(prover, last.seq + 1, size) : undefined,
    readAnchors(prover, log, last.seq, size, ports),
  ])
  return {
    media_type: anchored === undefined ? EVIDENCE_TYPE : ANCHORED_TYPE,
    created_at: new Date(ports.now()).toISOString(),
    origin: store.origin,
    log: `${store.origin}/${log}`,
    query: 'attestationId' in query ? { attestation_id: query.attestationId } : query,
    records: parts,
    neighbors: { ...(previous === undefined ? {} : { previous }), ...(next === undefined ? {} : { next }) },
    checkpoint: newest,
    ...(earlier === undefined ? {} : { consistency: earlier }),
    keys: buildJwks(store.origin, ports.keys()),
    ...anchored,
    ...documents,
    statements: anchored === undefined ? STATEMENTS : ANCHORED_STATEMENTS,
  }
}

async function findOne(store: LedgerStore, log: string, attestationId: number): Promise<readonly StoredRecord[]> {
  const found = await store.find(attestationId, log)
  return found === undefined ? [] : [found]
}

async function findRange(
  log: string,
  span: { readonly from: string; readonly to: string },
  ports: EvidencePorts,
): Promise<readonly StoredRecord[]> {
  const { low, high, count } = await findSpan(log, span, ports)
  if (high - low > MAX_RECORDS)
    throw new RangeTooWide(`The range holds ${counted(count, 'record')}; ${MAX_RECORDS - 2} are the most.`)
  return count === 0 ? [] : ports.store.records(log, low, high - low)
}

/**
 * Finds the positions from `low` to before `high` of the records of a span and, if the log continues at an end, of the record beyond, which
 * shows that none is missing. Time never decreases within a log, so a span of time is a range of places. A checkpoint then covers the log.
 */
export async function findSpan(
  log: string,
  { from, to }: { readonly from: string; readonly to: string },
  { store, cover }: EvidencePorts,
): Promise<{ readonly low: number; readonly high: number; readonly count: number }> {
  const size = (await readHead(store, log))?.size ?? 0
  if (size > 0) await cover(log, size - 1)
  const findPlace = (holds: (issuedAt: string) => boolean) =>
    findFirst(size, async (place) => {
      const [record] = await store.records(log, place, 1)
      if (record === undefined) throw new Error(`Record ${place} of ${log} is not there.`)
      return holds(parseRecord(record.bytes).place.issuedAt)
    })
  const start = await findPlace((issuedAt) => issuedAt >= from)
  const end = await findPlace((issuedAt) => issuedAt > to)
  if (start >= end) return { low: 0, high: 0, count: 0 }
  return { low: Math.max(0, start - 1), high: Math.min(size, end + 1), count: end - start }
}

/** Reads the newest checkpoint, which covers position `seq`, and the first that did. */
export async function readCheckpoint(store: LedgerStore, log: string, seq: number) {
  const { newest = '', covering } = await store.checkpoints(log, seq)
  const checkpoint = parseCheckpoint(newest)
  if (checkpoint === undefined || checkpoint.size <= seq) throw new Error(`No checkpoint covers record ${seq}.`)
  return { newest, covering, checkpoint }
}

async function readRecords(
  records: readonly StoredRecord[],
  size: number,
  prover: Prover,
  { store, signer }: EvidencePorts,
) {
  const byId = store.subjects(records.map(({ attestationId }) => attestationId))
  const proofs = Promise.all(records.map(({ seq }) => prover.inclusion(seq, size)))
  const [subjects, paths] = await Promise.all([byId, proofs])
  const { publicKey, sign } = signer()
  const keyid = thumbprint(publicKey)
  return Promise.all(
    records.map(async ({ attestationId, seq, bytes }, index) => {
      const subject = subjects.get(attestationId)
      return {
        attestation_id: attestationId,
        seq,
        dsse: {
          payloadType: ATTESTATION_TYPE,
          payload: base64(bytes),
          signatures: [{ keyid, sig: base64(await sign(dssePreimage(ATTESTATION_TYPE, bytes))) }],
        },
        inclusion: { hashes: (paths[index] ?? []).map(base64) },
        disclosure:
          subject === undefined
            ? ({ state: 'erased' } as const)
            : {
                state: 'disclosed' as const,
                ip: subject.address,
                salt: base64(subject.salt),
                ...(subject.context === undefined ? {} : { request_context: subject.context }),
              },
      }
    }),
  )
}

async function proveNeighbor(prover: Prover, seq: number, size: number) {
  const [leaf, hashes] = await Promise.all([prover.leaf(seq), prover.inclusion(seq, size)])
  return { seq, leaf_hash: base64(leaf), hashes: hashes.map(base64) }
}

/** Returns the first checkpoint that covered the record, if the log has grown since and its key was not revoked. */
async function proveEarlier(
  prover: Prover,
  newest: Checkpoint,
  covering: string | undefined,
  origin: string,
  keys: readonly LedgerKey[],
) {
  const checkpoint = covering === undefined ? undefined : parseCheckpoint(covering)
  if (covering === undefined || checkpoint === undefined || checkpoint.size >= newest.size) return undefined
  const good = keys.filter(({ revokedAt }) => revokedAt === undefined)
  if (!good.some(({ publicKey }) => isSignedBy(checkpoint, origin, publicKey))) return undefined
  return { checkpoint: covering, hashes: (await prover.consistency(checkpoint.size, newest.size)).map(base64) }
}

/** Reads the anchor of these records, or why there is none; `undefined` if the log has none and the service requests none. */
export async function readAnchors(
  prover: Prover,
  log: string,
  seq: number,
  size: number,
  { store, unanchored }: EvidencePorts,
) {
  const anchor = await findAnchor(store, log, seq)
  const reason = unanchored()
  if (anchor === undefined) return reason === undefined ? undefined : { anchors: [], unanchored: reason }
  const timestamps = Object.entries(anchor.timestamps)
  return {
    anchors: [
      {
        checkpoint: anchor.checkpoint,
        hashes: anchor.size < size ? (await prover.consistency(anchor.size, size)).map(base64) : [],
        timestamps: timestamps.map(([authority, response]) => ({ authority, response: base64(response) })),
        ...(anchor.cosignatures === '' ? {} : { cosignatures: anchor.cosignatures }),
      },
    ],
    ...(anchor.size > seq || reason === undefined ? {} : { unanchored: reason }),
  }
}

async function readDocuments(store: LedgerStore, records: readonly StoredRecord[]) {
  const read = records.map(({ bytes }) => parseAttestation(bytes))
  const [policies, datasets] = await Promise.all([
    readTexts(store, new Set(read.map(({ policySha256 }) => policySha256))),
    readTexts(store, new Set(read.map(({ datasetsSha256 }) => datasetsSha256))),
  ])
  return { policies, datasets }
}

/** Reads documents by their hashes. Rejects where one is not there. */
export async function readTexts(store: LedgerStore, hashes: ReadonlySet<string>): Promise<readonly Document[]> {
  return Promise.all(
    [...hashes].map(async (sha256) => {
      const text = await store.document(sha256)
      if (text === undefined) throw new Error(`The document ${sha256} is not there.`)
      return { sha256, text }
    }),
  )
}

export function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
