import { headOf, type LedgerStore, type Signer, type StoredRecord } from './ports.ts'
import { type Jwks, jwksOf, thumbprint } from './signing.ts'
import { createProver, type Prover } from './tree.ts'
import { counted } from './verify/counted.ts'
import { ATTESTATION_TYPE, EVIDENCE_TYPE, MAX_RECORDS } from './verify/evidence-form.ts'
import type { LedgerKey } from './verify/keys.ts'
import { type Checkpoint, dssePreimage, isSignedBy, parseCheckpoint } from './verify/note.ts'
import { parseAttestation, parseRecord } from './verify/record.ts'
import { STATEMENTS } from './verify/statements.ts'

/** Which records evidence is about: one, or all issued from `from` to `to`, both included, ISO 8601 UTC. */
export type EvidenceQuery = { readonly attestationId: number } | { readonly from: string; readonly to: string }

/** A range holds more records than one piece of evidence may. */
export class RangeTooWide extends Error {
  override readonly name = 'RangeTooWide'
}

/** Evidence as it is handed out; the form is in packages/sallyport/docs/evidence.md and read by `@sallyport/ledger/verify`. */
export interface EvidenceJson {
  readonly media_type: typeof EVIDENCE_TYPE
  readonly created_at: string
  readonly origin: string
  readonly log: string
  readonly query: { readonly attestation_id: number } | { readonly from: string; readonly to: string }
  readonly records: readonly EvidenceRecordJson[]
  readonly neighbors: { readonly previous?: NeighborJson | undefined; readonly next?: NeighborJson | undefined }
  readonly checkpoint: string
  readonly consistency?: { readonly checkpoint: string; readonly hashes: readonly string[] } | undefined
  readonly keys: Jwks
  readonly policies: readonly DocumentJson[]
  readonly datasets: readonly DocumentJson[]
  readonly statements: typeof STATEMENTS
}

export interface EvidenceRecordJson {
  readonly attestation_id: number
  readonly seq: number
  readonly dsse: {
    readonly payloadType: typeof ATTESTATION_TYPE
    readonly payload: string
    readonly signatures: readonly { readonly keyid: string; readonly sig: string }[]
  }
  readonly inclusion: { readonly hashes: readonly string[] }
  readonly disclosure:
    | { readonly state: 'erased' }
    | {
        readonly state: 'disclosed'
        readonly ip: string
        readonly salt: string
        readonly request_context?: string | undefined
      }
}

export interface NeighborJson {
  readonly seq: number
  readonly leaf_hash: string
  readonly hashes: readonly string[]
}

export interface DocumentJson {
  readonly sha256: string
  readonly text: string
}

export interface EvidencePorts {
  readonly store: LedgerStore
  /** Makes a checkpoint by the current key that covers a position. */
  cover(log: string, seq: number): Promise<void>
  signer(): Signer
  keys(): readonly LedgerKey[]
  now(): number
}

/** Builds evidence about records of one log; `undefined` when there are none. Throws RangeTooWide. */
export async function buildEvidence(
  log: string,
  query: EvidenceQuery,
  ports: EvidencePorts,
): Promise<EvidenceJson | undefined> {
  const { store } = ports
  const records =
    'attestationId' in query ? await findOne(store, log, query.attestationId) : await findRange(log, query, ports)
  const first = records[0]
  const last = records.at(-1)
  if (first === undefined || last === undefined) return undefined
  await ports.cover(log, last.seq)
  const { newest = '', covering } = await store.checkpoints(log, last.seq)
  const checkpoint = parseCheckpoint(newest)
  if (checkpoint === undefined || checkpoint.size <= last.seq)
    throw new Error(`No checkpoint covers record ${last.seq}.`)
  const prover = createProver((level, index) => store.tile(log, level, index))
  const { size } = checkpoint
  // At once: each waits for a round trip to the store.
  const [documents, earlier, parts, previous, next] = await Promise.all([
    documentsOf(store, records),
    earlierOf(prover, checkpoint, covering, store.origin, ports.keys()),
    recordsOf(records, size, prover, ports),
    first.seq === 0 ? undefined : neighborOf(prover, first.seq - 1, size),
    last.seq + 1 < size ? neighborOf(prover, last.seq + 1, size) : undefined,
  ])
  return {
    media_type: EVIDENCE_TYPE,
    created_at: new Date(ports.now()).toISOString(),
    origin: store.origin,
    log: `${store.origin}/${log}`,
    query: 'attestationId' in query ? { attestation_id: query.attestationId } : query,
    records: parts,
    neighbors: { ...(previous === undefined ? {} : { previous }), ...(next === undefined ? {} : { next }) },
    checkpoint: newest,
    ...(earlier === undefined ? {} : { consistency: earlier }),
    keys: jwksOf(store.origin, ports.keys()),
    ...documents,
    statements: STATEMENTS,
  }
}

async function findOne(store: LedgerStore, log: string, attestationId: number): Promise<readonly StoredRecord[]> {
  const found = await store.find(attestationId, log)
  return found === undefined ? [] : [found]
}

/**
 * The records of a range and, at each end where the log goes on, the one beyond, which shows that none is missing.
 * Time never goes back within a log, so a range of time is a range of places.
 */
async function findRange(
  log: string,
  { from, to }: { readonly from: string; readonly to: string },
  { store, cover }: EvidencePorts,
): Promise<readonly StoredRecord[]> {
  const size = (await headOf(store, log))?.size ?? 0
  if (size === 0) return []
  await cover(log, size - 1)
  const start = await firstPlace(store, log, size, (issuedAt) => issuedAt >= from)
  const end = await firstPlace(store, log, size, (issuedAt) => issuedAt > to)
  if (start >= end) return []
  const low = Math.max(0, start - 1)
  const count = Math.min(size, end + 1) - low
  if (count > MAX_RECORDS)
    throw new RangeTooWide(`The range holds ${counted(end - start, 'record')}; ${MAX_RECORDS - 2} are the most.`)
  return store.records(log, low, count)
}

/** The first position of which `holds` is true, by halving; `size` when there is none. */
async function firstPlace(
  store: LedgerStore,
  log: string,
  size: number,
  holds: (issuedAt: string) => boolean,
): Promise<number> {
  let low = 0
  let high = size
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const [record] = await store.records(log, middle, 1)
    if (record === undefined) throw new Error(`Record ${middle} of ${log} is not there.`)
    if (holds(parseRecord(record.bytes).place.issuedAt)) high = middle
    else low = middle + 1
  }
  return low
}

async function recordsOf(
  records: readonly StoredRecord[],
  size: number,
  prover: Prover,
  { store, signer }: EvidencePorts,
): Promise<readonly EvidenceRecordJson[]> {
  const asked = store.subjects(records.map(({ attestationId }) => attestationId))
  const proofs = Promise.all(records.map(({ seq }) => prover.inclusion(seq, size)))
  const [subjects, paths] = await Promise.all([asked, proofs])
  const { publicKey, sign } = signer()
  const keyid = thumbprint(publicKey)
  return Promise.all(
    records.map(async ({ attestationId, seq, bytes }, index): Promise<EvidenceRecordJson> => {
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
            ? { state: 'erased' }
            : {
                state: 'disclosed',
                ip: subject.address,
                salt: base64(subject.salt),
                ...(subject.context === undefined ? {} : { request_context: subject.context }),
              },
      }
    }),
  )
}

async function neighborOf(prover: Prover, seq: number, size: number): Promise<NeighborJson> {
  const [leaf, hashes] = await Promise.all([prover.leaf(seq), prover.inclusion(seq, size)])
  return { seq, leaf_hash: base64(leaf), hashes: hashes.map(base64) }
}

/** The first checkpoint that covered the record, where the log has grown since and its key was not given up. */
async function earlierOf(
  prover: Prover,
  newest: Checkpoint,
  covering: string | undefined,
  origin: string,
  keys: readonly LedgerKey[],
): Promise<EvidenceJson['consistency']> {
  const checkpoint = covering === undefined ? undefined : parseCheckpoint(covering)
  if (covering === undefined || checkpoint === undefined || checkpoint.size >= newest.size) return undefined
  const good = keys.filter(({ revokedAt }) => revokedAt === undefined)
  if (!good.some(({ publicKey }) => isSignedBy(checkpoint, origin, publicKey))) return undefined
  return { checkpoint: covering, hashes: (await prover.consistency(checkpoint.size, newest.size)).map(base64) }
}

async function documentsOf(
  store: LedgerStore,
  records: readonly StoredRecord[],
): Promise<Pick<EvidenceJson, 'policies' | 'datasets'>> {
  const read = records.map(({ bytes }) => parseAttestation(bytes))
  const [policies, datasets] = await Promise.all([
    documents(store, new Set(read.map(({ policySha256 }) => policySha256))),
    documents(store, new Set(read.map(({ datasetsSha256 }) => datasetsSha256))),
  ])
  return { policies, datasets }
}

async function documents(store: LedgerStore, hashes: ReadonlySet<string>): Promise<readonly DocumentJson[]> {
  return Promise.all(
    [...hashes].map(async (sha256) => {
      const text = await store.document(sha256)
      if (text === undefined) throw new Error(`The document ${sha256} is not there.`)
      return { sha256, text }
    }),
  )
}

function base64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64')
}
