import type { CheckpointArchive, Head, LedgerStore, StoredRecord } from './ports.ts'
import { KEY_LOG, readKeys } from './signing.ts'
import { openFrontier, TILE_WIDTH } from './tree.ts'
import { createLeafHasher, genesisLink, sha256Hex } from './verify/hash.ts'
import { followSuccession, type LedgerKey } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'
import { ShapeError } from './verify/shape.ts'
import { sameBytes } from './verify/tree.ts'

/** The first thing that is wrong, and where. */
export interface AuditFault {
  readonly log: string
  /** Position of the first bad record; absent when no single record is at fault. */
  readonly seq?: number
  readonly attestationId?: number
  readonly reason: string
}

export interface AuditReport {
  readonly logs: number
  readonly records: number
  readonly checkpoints: number
  /** Absent when everything holds. */
  readonly fault?: AuditFault
}

export interface AuditOptions {
  readonly archive?: CheckpointArchive
  /** Records walked, of how many. */
  readonly onProgress?: (done: number, total: number) => void
}

/** Records read at once. */
const STRIDE = 1024

/**
 * Walks every record of every log: its hash, its link, its place, the tree, all checkpoints with their signatures, the
 * head, and every document that a record names. Stops at the first fault and names it.
 */
export async function auditLedger(store: LedgerStore, options: AuditOptions = {}): Promise<AuditReport> {
  const logs = await store.logs()
  const sizes = await Promise.all(logs.map(async (log) => (await store.head(log))?.size ?? 0))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const tally = { logs: logs.length, records: 0, checkpoints: 0 }
  const keys = await trustedKeys(store)
  if ('reason' in keys) return { ...tally, fault: { log: KEY_LOG, ...keys } }
  const documents = new Set<string>()
  const archived = await archivedNotes(store, options.archive)
  if ('reason' in archived) return { ...tally, fault: archived }
  for (const log of logs) {
    const walk = createWalk(store, log, keys.keys, documents)
    await walk.readCheckpoints(archived.notes.get(log))
    const fault =
      (await walkRecords(store, log, walk, (count) => {
        tally.records += count
        options.onProgress?.(tally.records, total)
      })) ?? (await walk.end())
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

type Fault = Omit<AuditFault, 'log'>

async function trustedKeys(store: LedgerStore): Promise<{ readonly keys: readonly LedgerKey[] } | Fault> {
  try {
    const keys = readKeys(await store.records(KEY_LOG, 0, STRIDE))
    const [first] = keys
    // Each key but the first must have been signed over to by the one before.
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

/** The newest note of each log outside the store; a note that is of no log of the store is a fault. */
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
  onRead: (count: number) => void,
): Promise<Fault | undefined> {
  let reading = store.records(log, 0, STRIDE)
  for (let from = 0; ; ) {
    const records = await reading
    from += records.length
    // The store reads on while these are walked.
    reading = records.length < STRIDE ? Promise.resolve([]) : store.records(log, from, STRIDE)
    reading.catch(() => {})
    for (const record of records) {
      const fault = walk.record(record)
      if (fault === undefined) continue
      const [next] = await store.records(log, record.seq + 1, 1)
      return walk.blame(fault, record, next, await store.head(log))
    }
    onRead(records.length)
    if (records.length < STRIDE) return undefined
  }
}

/** A walk along one log. */
interface Walk {
  /** Reads the checkpoints that the records are held against, with the one outside the store. */
  readCheckpoints(archived: string | undefined): Promise<void>
  record(record: StoredRecord): Fault | undefined
  /** Of a record that does not link to the one before it, whichever of the two was changed. */
  blame(fault: Fault, record: StoredRecord, next: StoredRecord | undefined, head: Head | undefined): Fault
  end(): Promise<Fault | undefined>
  checkpointCount(): number
}

function createWalk(store: LedgerStore, log: string, keys: readonly LedgerKey[], documents: Set<string>): Walk {
  const name = `${store.origin}/${log}`
  const tree = openFrontier()
  const nodes: Uint8Array[][] = []
  let link = genesisLink(name)
  let last: StoredRecord | undefined
  const hashLeaf = createLeafHasher()
  const findPlace = createFinder()
  const noteDocuments = DOCUMENT_MEMBERS.map((member) => createDocumentNoter(member, documents))
  let notes: readonly { readonly size: number; readonly note: string }[] = []
  let next = 0

  /** Where the walk stands; no record where there is none yet. */
  const lastPlace = () => (last === undefined ? {} : { seq: last.seq, attestationId: last.attestationId })

  /** All checkpoints at the present size. */
  function hold(): Fault | undefined {
    for (; notes[next]?.size === tree.size; next++) {
      const note = parseCheckpoint(notes[next]?.note ?? '')
      const where = `The checkpoint at size ${tree.size}`
      if (note === undefined || note.size !== tree.size || note.origin !== name)
        return { reason: `${where} cannot be read.` }
      if (!sameBytes(note.root, tree.root())) {
        return { ...lastPlace(), reason: `${where} does not fit: a record up to here was changed.` }
      }
      if (!keys.some(({ publicKey }) => isSignedBy(note, store.origin, publicKey))) {
        return { reason: `${where} is not signed by a key of the ledger.` }
      }
    }
    return undefined
  }

  return {
    async readCheckpoints(archived) {
      const outside = archived === undefined ? undefined : parseCheckpoint(archived)
      const own = await store.allCheckpoints(log)
      notes =
        outside === undefined
          ? own
          : [...own, { size: outside.size, note: archived ?? '' }].sort((x, y) => x.size - y.size)
    },
    record(record) {
      // One character a byte, so that no byte is lost by being read.
      const text = Buffer.from(record.bytes.buffer, record.bytes.byteOffset, record.bytes.length).toString('latin1')
      const fault = placeFault(text, record, tree.size, link, last, findPlace)
      if (fault !== undefined) return { seq: tree.size, attestationId: record.attestationId, reason: fault }
      for (const note of noteDocuments) note(text)
      const leaf = hashLeaf(record.bytes)
      tree.append(leaf, ({ tileLevel, hash }) => {
        const level = nodes[tileLevel - 1] ?? []
        nodes[tileLevel - 1] = level
        level.push(hash)
      })
      link = leaf
      last = record
      return notes[next]?.size === tree.size ? hold() : undefined
    },
    blame(fault, record, following, head) {
      if (fault.reason !== UNLINKED || last === undefined) return fault
      // What comes after says whether this record is as it was; if it is, its link is, and the one before is not.
      const leaf = hashLeaf(record.bytes)
      const whole =
        following === undefined
          ? head?.link === leaf
          : Buffer.from(following.bytes).toString('latin1').includes(`"prev":"${leaf}",`)
      if (!whole) return { ...fault, reason: `${UNLINKED} It was changed, or both were.` }
      const { seq, attestationId } = last
      return { seq, attestationId, reason: 'The record is not the one that the next record links to: it was changed.' }
    },
    async end() {
      if (next < notes.length) {
        return { seq: tree.size, reason: `A checkpoint says ${notes[next]?.size} records; there are ${tree.size}.` }
      }
      const head = await store.head(log)
      if (head === undefined || head.size !== tree.size || head.link !== link) {
        return { ...lastPlace(), reason: 'The last record is not the one that the head of the log names.' }
      }
      if (!sameBytes(head.peaks, tree.encode())) return { reason: 'The head of the log does not fit its records.' }
      for (const [index, level] of nodes.entries()) {
        for (let tile = 0; tile * TILE_WIDTH < level.length; tile++) {
          const wanted = Buffer.concat(level.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH))
          if (!sameBytes(await store.tile(log, index + 1, tile), wanted)) {
            return { reason: 'An inner node of the tree does not fit the records.' }
          }
        }
      }
      return undefined
    },
    checkpointCount: () => next,
  }
}

const UNLINKED = 'The record does not link to the one before it.'

/**
 * Why a record does not belong where it lies. The members are looked for in the canonical text and not parsed: quotes
 * inside a text are escaped, so nothing else can look like them.
 */
function placeFault(
  text: string,
  { seq, attestationId }: StoredRecord,
  wantedSeq: number,
  link: string,
  before: StoredRecord | undefined,
  find: (text: string, wanted: string) => boolean,
): string | undefined {
  if (seq !== wantedSeq) return `Record ${wantedSeq} is missing.`
  // The two members are neighbours in canonical order.
  if (!find(text, `"prev":"${link}","seq":${seq},`)) {
    return text.includes(`"prev":"${link}",`) ? 'The record lies at another place than it names.' : UNLINKED
  }
  if (!text.startsWith(`{"attestation_id":${attestationId},`)) return 'The record lies at another place than it names.'
  if (before !== undefined && before.attestationId >= attestationId) return 'The ids do not rise.'
  return undefined
}

const DOCUMENT_MEMBERS = ['"datasets_sha256":"', '"sha256":"']

/** Finds a part where the part like it stood in the record before, counted from the end, or anywhere else. */
function createFinder(): (text: string, wanted: string) => boolean {
  let fromEnd = 0
  return (text, wanted) => {
    if (text.startsWith(wanted, text.length - fromEnd)) return true
    const at = text.indexOf(wanted)
    fromEnd = text.length - at
    return at !== -1
  }
}

/** Notes the hash behind a member; what stands where it stood in the record before was noted then. */
function createDocumentNoter(member: string, documents: Set<string>): (text: string) => void {
  let noted = member
  let place = 0
  return (text) => {
    if (text.startsWith(noted, place)) return
    place = text.indexOf(member)
    if (place === -1) return
    noted = text.slice(place, place + member.length + 64)
    documents.add(noted.slice(member.length))
  }
}
