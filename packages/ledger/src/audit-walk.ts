import {
  createBesideCheck,
  createDocumentNoter,
  createPlaceCheck,
  createTimeCheck,
  textOf,
  UNLINKED,
} from './audit-record.ts'
import type { LedgerStore, StoredRecord } from './ports.ts'
import type { Subject } from './record.ts'
import { openFrontier, TILE_WIDTH, type TreeNode } from './tree.ts'
import { createLeafMemory, genesisLink, leafHash } from './verify/hash.ts'
import type { LedgerKey } from './verify/keys.ts'
import { isSignedBy, parseCheckpoint } from './verify/note.ts'
import { sameBytes } from './verify/tree.ts'

/** The first thing that is wrong with a log. */
export interface LogFault {
  readonly seq?: number
  readonly attestationId?: number
  readonly reason: string
}

/** A walk along one log. */
export interface Walk {
  /** Records that are walked: those that were there when it began. The log may grow meanwhile. */
  readonly size: number
  record(record: StoredRecord, subject: Subject | undefined): LogFault | undefined
  /** Of a record that does not link to the one before it, whichever of the two was changed. */
  blame(fault: LogFault, record: StoredRecord, next: StoredRecord | undefined): LogFault
  end(): Promise<LogFault | undefined>
  checkpointCount(): number
}

/**
 * Begins a walk: reads the checkpoints, `archived` is that outside the store, and only then the keys and the head, so
 * that whatever is written meanwhile is never taken for a fault.
 */
export async function beginWalk(
  store: LedgerStore,
  log: string,
  archived: string | undefined,
  loadKeys: () => Promise<readonly LedgerKey[]>,
  documents: Set<string>,
): Promise<Walk> {
  const own = await store.allCheckpoints(log)
  const outside = archived === undefined ? undefined : parseCheckpoint(archived)
  const notes =
    outside === undefined ? own : [...own, { size: outside.size, note: archived ?? '' }].sort((x, y) => x.size - y.size)
  const keys = await loadKeys()
  const head = await store.head(log)
  const name = `${store.origin}/${log}`
  const tree = openFrontier()
  const nodes: Uint8Array[][] = []
  let link = genesisLink(name)
  let last: StoredRecord | undefined
  const leafMemory = createLeafMemory()
  const placeFault = createPlaceCheck()
  const timeFault = createTimeCheck()
  const besideFault = createBesideCheck()
  const noteDocuments = createDocumentNoter(documents)
  let next = 0

  /** Where the walk stands; no record where there is none yet. */
  const lastPlace = () => (last === undefined ? {} : { seq: last.seq, attestationId: last.attestationId })

  function keepNode({ tileLevel, hash }: TreeNode): void {
    const level = nodes[tileLevel - 1] ?? []
    nodes[tileLevel - 1] = level
    level.push(hash)
  }

  /** All checkpoints at the present size. */
  function hold(): LogFault | undefined {
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
    size: head?.size ?? 0,
    record(record, subject) {
      leafMemory.put(record.bytes)
      const fault =
        placeFault(leafMemory, record, tree.size, link, last) ??
        timeFault(leafMemory, record) ??
        (subject && besideFault(leafMemory, record, subject))
      if (fault !== undefined) return { seq: tree.size, attestationId: record.attestationId, reason: fault }
      noteDocuments(leafMemory, record)
      const leaf = leafMemory.hash()
      tree.append(leaf, keepNode)
      link = leaf
      last = record
      return notes[next]?.size === tree.size ? hold() : undefined
    },
    blame(fault, record, following) {
      if (fault.reason !== UNLINKED || last === undefined) return fault
      // What comes after says whether this record is as it was; if it is, its link is, and the one before is not.
      const leaf = leafHash(record.bytes).toString('hex')
      const whole = following === undefined ? head?.link === leaf : textOf(following).includes(`"prev":"${leaf}",`)
      if (!whole) return { ...fault, reason: `${UNLINKED} It was changed, or both were.` }
      const { seq, attestationId } = last
      return { seq, attestationId, reason: 'The record is not the one that the next record links to: it was changed.' }
    },
    async end() {
      if (next < notes.length) {
        return { seq: tree.size, reason: `A checkpoint says ${notes[next]?.size} records; there are ${tree.size}.` }
      }
      if (outside !== undefined && (own.at(-1)?.size ?? 0) < outside.size) {
        return { reason: `The checkpoint at size ${outside.size} is outside the database and not in it.` }
      }
      // Appended in one with their head: a record beyond the head, while it stands where it stood, was put there.
      const grown = async () => (await store.head(log))?.size !== head?.size
      const [beyond] = await store.records(log, tree.size, 1)
      if (beyond !== undefined && !(await grown())) {
        const { seq, attestationId } = beyond
        return { seq, attestationId, reason: 'The record lies beyond the head of the log.' }
      }
      if (head === undefined || head.size !== tree.size || head.link !== link) {
        return { ...lastPlace(), reason: 'The last record is not the one that the head of the log names.' }
      }
      // The next record is issued no earlier than this says.
      if (last !== undefined && !textOf(last).includes(`"issued_at":"${new Date(head.issuedAt).toISOString()}"`)) {
        return { ...lastPlace(), reason: 'The head of the log says another time than the last record.' }
      }
      if (!sameBytes(head.peaks, tree.encode())) return { reason: 'The head of the log does not fit its records.' }
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
    },
    checkpointCount: () => next,
  }
}
