import { listDocuments, placeFault, readIssuedAt, recordText, subjectFault, UNLINKED } from './audit-record.ts'
import { type LedgerStore, readHead, type StoredRecord } from './ports.ts'
import type { Subject } from './record.ts'
import { type Frontier, openFrontier, TILE_WIDTH } from './tree.ts'
import { counted } from './verify/counted.ts'
import { genesisLink, leafHash } from './verify/hash.ts'
import type { LedgerKey } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'
import { sameBytes } from './verify/tree.ts'

/** Describes the first fault of a log. */
export interface LogFault {
  readonly seq?: number | undefined
  readonly attestationId?: number | undefined
  readonly reason: string
}

export type Walk = Awaited<ReturnType<typeof beginWalk>>

/** Holds what a walk computed from all records. */
interface WalkEnd {
  readonly tree: Frontier
  /** Lists the stored nodes that the records produce, by level. */
  readonly nodes: readonly (readonly Uint8Array[])[]
  readonly link: string
  readonly issuedAt: string
  /** Names the last record, if there is any. */
  readonly place: Pick<LogFault, 'seq' | 'attestationId'>
}

type Expectation = Awaited<ReturnType<typeof readExpectation>>

/** Reads the checkpoints of a log, and only then the keys and the head: so concurrent writes never look like a fault. */
async function readExpectation(
  store: LedgerStore,
  log: string,
  archived: string | undefined,
  loadKeys: () => Promise<readonly LedgerKey[]>,
) {
  const inside = await store.allCheckpoints(log)
  const outside = archived === undefined ? undefined : parseCheckpoint(archived)
  const archivedHead = outside === undefined ? [] : [{ log, size: outside.size, note: archived ?? '' }]
  return {
    name: `${store.origin}/${log}`,
    notes: [...inside, ...archivedHead].sort((x, y) => x.size - y.size),
    sizeInside: inside.at(-1)?.size ?? 0,
    sizeOutside: outside?.size ?? 0,
    keys: await loadKeys(),
    head: await readHead(store, log),
  }
}

/** Begins a walk along a log; the walk adds the hashes of documents that records name to `documents`. */
export async function beginWalk(
  store: LedgerStore,
  log: string,
  archived: string | undefined,
  loadKeys: () => Promise<readonly LedgerKey[]>,
  documents: Set<string>,
) {
  const expected = await readExpectation(store, log, archived, loadKeys)
  const { name, notes, head } = expected
  const tree = openFrontier()
  const nodes: Uint8Array[][] = []
  let link = genesisLink(name)
  let issuedAt = ''
  let last: StoredRecord | undefined
  let nextNote = 0

  /** Names the last record of the walk, if there is any. */
  const lastPlace = () => (last === undefined ? {} : { seq: last.seq, attestationId: last.attestationId })

  function timeFault(text: string): string | undefined {
    const moment = readIssuedAt(text)
    if (moment === undefined) return 'The record does not say when it was issued.'
    if (moment < issuedAt) return 'The record says an earlier time than the one before it.'
    issuedAt = moment
    return undefined
  }

  /** Compares the tree with all checkpoints of its present size. */
  function holdNotes(): LogFault | undefined {
    for (; notes[nextNote]?.size === tree.size; nextNote++) {
      const fault = noteFault(notes[nextNote]?.note ?? '', tree, lastPlace(), store.origin, expected)
      if (fault !== undefined) return fault
    }
    return undefined
  }

  return {
    /** Counts the records that existed when the walk began. The log may grow meanwhile. */
    size: head?.size ?? 0,
    record(record: StoredRecord, subject: Subject | undefined): LogFault | undefined {
      const text = recordText(record)
      const reason =
        placeFault(text, record, tree.size, link, last) ?? timeFault(text) ?? (subject && subjectFault(text, subject))
      if (reason !== undefined) return { seq: tree.size, attestationId: record.attestationId, reason }
      for (const sha256 of listDocuments(text)) documents.add(sha256)
      const leaf = leafHash(record.bytes)
      tree.append(leaf, ({ tileLevel, hash }) => {
        nodes[tileLevel - 1] ??= []
        nodes[tileLevel - 1]?.push(hash)
      })
      link = leaf.toString('hex')
      last = record
      return holdNotes()
    },
    /** Returns the fault of two records that do not link, and names the record that was changed. */
    blame(fault: LogFault, record: StoredRecord, following: StoredRecord | undefined): LogFault {
      if (fault.reason !== UNLINKED || last === undefined) return fault
      // The next record shows whether this record is unchanged; if it is, its link is too, and the record before was changed.
      const leaf = leafHash(record.bytes).toString('hex')
      const whole = following === undefined ? head?.link === leaf : recordText(following).includes(`"prev":"${leaf}",`)
      if (!whole) return { ...fault, reason: `${UNLINKED} It was changed, or both were.` }
      return { ...lastPlace(), reason: 'The record is not the one that the next record links to: it was changed.' }
    },
    async end(): Promise<LogFault | undefined> {
      if (nextNote < notes.length) {
        return {
          seq: tree.size,
          reason: `A checkpoint says ${counted(notes[nextNote]?.size ?? 0, 'record')}; the database has ${tree.size}.`,
        }
      }
      return endFault(store, log, expected, { tree, nodes, link, issuedAt, place: lastPlace() })
    },
    checkpointCount: () => nextNote,
  }
}

/** Returns why a checkpoint does not hold; `last` is the place of the record before it. */
function noteFault(
  text: string,
  { size, root }: Frontier,
  last: WalkEnd['place'],
  origin: string,
  { name, keys }: Expectation,
): LogFault | undefined {
  const note = parseCheckpoint(text)
  const where = `The checkpoint at size ${size}`
  if (note === undefined || note.size !== size || note.origin !== name) return { reason: `${where} cannot be read.` }
  if (!sameBytes(note.root, root())) {
    return { ...last, reason: `${where} does not fit: a record up to here was changed.` }
  }
  const isOurs = keys.some(({ publicKey }) => isSignedBy(note, origin, publicKey))
  return isOurs ? undefined : { reason: `${where} is not signed by a key of the ledger.` }
}

async function endFault(
  store: LedgerStore,
  log: string,
  { sizeInside, sizeOutside, head }: Expectation,
  { tree, nodes, link, issuedAt, place }: WalkEnd,
): Promise<LogFault | undefined> {
  if (sizeInside < sizeOutside) {
    return { reason: `The checkpoint at size ${sizeOutside} is outside the database and not in it.` }
  }
  const grown = async () => (await readHead(store, log))?.size !== head?.size
  // A commit writes records and their head together: a record beyond an unchanged head was inserted.
  const [beyond] = await store.records(log, tree.size, 1)
  if (beyond !== undefined && !(await grown())) {
    const { seq, attestationId } = beyond
    return { seq, attestationId, reason: 'The record lies beyond the head of the log.' }
  }
  if (head === undefined || head.size !== tree.size || head.link !== link) {
    return { ...place, reason: 'The last record is not the one that the head of the log names.' }
  }
  // The next record is issued at the time of the head or later.
  if (tree.size > 0 && issuedAt !== new Date(head.issuedAt).toISOString()) {
    return { ...place, reason: 'The head of the log says another time than the last record.' }
  }
  if (!sameBytes(head.peaks, tree.encode())) return { reason: 'The head of the log does not fit its records.' }
  return nodesFault(store, log, nodes, grown)
}

async function nodesFault(
  store: LedgerStore,
  log: string,
  nodes: readonly (readonly Uint8Array[])[],
  grown: () => Promise<boolean>,
): Promise<LogFault | undefined> {
  for (const [index, level] of nodes.entries()) {
    for (let tile = 0; tile * TILE_WIDTH < level.length; tile++) {
      const wanted = Buffer.concat(level.slice(tile * TILE_WIDTH, (tile + 1) * TILE_WIDTH))
      const found = await store.tile(log, index + 1, tile)
      const same = sameBytes(found.subarray(0, wanted.length), wanted)
      if (!same || (found.length > wanted.length && !(await grown()))) {
        return { reason: 'An inner node of the tree does not fit the records.' }
      }
    }
  }
  return undefined
}
