import { beginWalk, type LogFault, type Walk } from './audit-walk.ts'
import { type CheckpointArchive, type LedgerStore, readHead } from './ports.ts'
import type { Subject } from './record.ts'
import { KEY_LOG, readKeys } from './signing.ts'
import { sha256Hex } from './verify/hash.ts'
import { followSuccession, type LedgerKey } from './verify/keys.ts'
import { parseCheckpoint } from './verify/note.ts'
import { ShapeError } from './verify/shape.ts'

/** Describes the first fault and its place. */
export interface AuditFault extends LogFault {
  readonly log: string
}

export interface AuditReport {
  readonly logs: number
  readonly records: number
  readonly checkpoints: number
  /** Absent if the audit found no fault. */
  readonly fault?: AuditFault | undefined
}

export interface AuditOptions {
  readonly archive?: CheckpointArchive | undefined
  /** Whether addresses and contexts that were not erased are compared with their records, which doubles the time. */
  readonly subjects?: boolean | undefined
  /** Called with the number of records read so far, and of all records. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined
}

/** Reads this many records at once. */
const STRIDE = 1024

/**
 * Walks every record of every log: its hash, its link, its place, the tree, all checkpoints with their signatures, the head, and every
 * document that a record names. Stops at the first fault and names it. The ledger may be in use: each log is walked to its end at the time
 * when its walk began.
 */
export async function auditLedger(store: LedgerStore, options: AuditOptions = {}): Promise<AuditReport> {
  const logs = await store.logs()
  const sizes = await Promise.all(logs.map(async (log) => (await readHead(store, log))?.size ?? 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const tally = { logs: logs.length, records: 0, checkpoints: 0 }
  const keys = await trustedKeys(store)
  if ('reason' in keys) return { ...tally, fault: { log: KEY_LOG, ...keys } }
  const documents = new Set<string>()
  const archived = await archivedNotes(store, options.archive)
  if ('reason' in archived) return { ...tally, fault: archived }
  const loadKeys = async () => {
    const found = await trustedKeys(store)
    return 'keys' in found ? found.keys : keys.keys
  }
  for (const log of logs) {
    const walk = await beginWalk(store, log, archived.notes.get(log), loadKeys, documents)
    const onRead = (count: number) => {
      tally.records += count
      options.onProgress?.(Math.min(tally.records, total), total)
    }
    const fault = (await walkRecords(store, log, walk, options, onRead)) ?? (await walk.end())
    tally.checkpoints += walk.checkpointCount()
    if (fault !== undefined) return { ...tally, fault: { log, ...fault } }
  }
  for (const sha256 of documents) {
    const text = await store.document(sha256)
    if (text === undefined || sha256Hex(text) !== sha256) {
      return { ...tally, fault: { log: '', reason: `The document ${sha256} is missing or was changed.` } }
    }
  }
  return tally
}

async function trustedKeys(store: LedgerStore): Promise<{ readonly keys: readonly LedgerKey[] } | LogFault> {
  try {
    const keys = readKeys(await store.records(KEY_LOG, 0, STRIDE))
    const [first] = keys
    // Each key except the first needs a signature of the key before.
    const believed =
      first === undefined
        ? []
        : followSuccession([withoutEnd(first)], keys.map(withoutEnd), `${store.origin}/${KEY_LOG}`)
    if (believed.length !== keys.length) return { reason: 'A key of the ledger was not signed by the key before it.' }
    return { keys }
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error
    return { reason: `The log of keys cannot be read: ${error.message}` }
  }
}

function withoutEnd({ expires: _expires, revokedAt: _revokedAt, ...key }: LedgerKey): LedgerKey {
  return key
}

/** Returns the newest note of each log outside the store; a note of an unknown log is a fault. */
async function archivedNotes(
  store: LedgerStore,
  archive: CheckpointArchive | undefined,
): Promise<{ readonly notes: ReadonlyMap<string, string> } | AuditFault> {
  const notes = new Map<string, string>()
  for (const { name, note } of (await archive?.list()) ?? []) {
    const origin = parseCheckpoint(note)?.origin
    if (!origin?.startsWith(`${store.origin}/`))
      return { log: '', reason: `The checkpoint ${name} is not of this ledger.` }
    notes.set(origin.slice(store.origin.length + 1), note)
  }
  const logs = new Set(await store.logs())
  const lost = [...notes.keys()].find((log) => !logs.has(log))
  return lost === undefined ? { notes } : { log: lost, reason: 'There is a checkpoint of this log, and no log.' }
}

async function walkRecords(
  store: LedgerStore,
  log: string,
  walk: Walk,
  { subjects: withSubjects }: AuditOptions,
  onRead: (count: number) => void,
): Promise<LogFault | undefined> {
  async function read(from: number, count = Math.min(STRIDE, walk.size - from)) {
    const records = count > 0 ? await store.records(log, from, count) : []
    const ids = records.map(({ attestationId }) => attestationId)
    const subjects: ReadonlyMap<number, Subject> =
      withSubjects && ids.length > 0 ? await store.subjects(ids) : new Map()
    return { records, subjects }
  }
  let reading = read(0)
  for (let from = 0; ; ) {
    const { records, subjects } = await reading
    if (records.length === 0) return undefined
    from += records.length
    // The store reads the next records while the walk checks these.
    reading = read(from)
    reading.catch(() => {})
    for (const record of records) {
      const fault = walk.record(record, subjects.get(record.attestationId))
      if (fault !== undefined) return walk.blame(fault, record, (await read(record.seq + 1, 1)).records[0])
    }
    onRead(records.length)
  }
}
