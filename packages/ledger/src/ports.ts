import type { Document, Subject } from './record.ts'
import type { TreeNode } from './tree.ts'

/** The end of a log. */
export interface Head {
  /** Records in the log. */
  readonly size: number
  /** The `prev` of the next record, hexadecimal. */
  readonly link: string
  /** When the last record was issued, milliseconds since the epoch. */
  readonly issuedAt: number
  /** Peaks of the tree, as of `openFrontier`. */
  readonly peaks: Uint8Array
}

/** The place of a record. */
export interface RecordPlace {
  readonly attestationId: number
  readonly seq: number
}

/** A record as it is stored. */
export interface StoredRecord extends RecordPlace {
  readonly log: string
  readonly bytes: Uint8Array
}

/** A ledger's data about one address: a record about it, and the context that can be erased. */
export interface AddressRecord extends StoredRecord {
  readonly context?: string | undefined
}

/** A log with records that no checkpoint covers yet. */
export interface Uncovered {
  readonly log: string
  readonly size: number
  readonly root: Uint8Array
  /** Size of its newest checkpoint; 0 where it has none. */
  readonly covered: number
}

export interface SignedHead {
  readonly log: string
  readonly size: number
  /** The signed note. */
  readonly note: string
}

/** Base of a commit, as of one moment. */
export interface Heads {
  /** The id of the next record: ids are dense over all logs, so an unchanged one means that nothing was committed. */
  readonly nextId: number
  /** Heads of the logs that were asked for; one without records is absent. */
  readonly logs: ReadonlyMap<string, Head>
}

/** A record with its place, ready to be stored. */
export interface PlacedRecord extends RecordPlace {
  readonly log: string
  /** Its canonical text; its bytes in UTF-8 are what is stored. */
  readonly text: string
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
  readonly subject: Subject | undefined
}

/** All that one commit writes. */
export interface Batch {
  /** In order; their ids rise by one from the next id of the heads that the batch was built on. */
  readonly records: readonly PlacedRecord[]
  /** Nodes of the trees that these records complete. */
  readonly nodes: readonly (TreeNode & { readonly log: string })[]
  /** The heads that the commit leaves, of the logs that grow. */
  readonly heads: ReadonlyMap<string, Head>
}

/**
 * Store of a ledger. Every operation is durable when it resolves and safe under any number of processes; it
 * rejects when the store cannot answer, within seconds, and then nothing is known of what was asked.
 */
export interface LedgerStore {
  /** Name of this ledger, drawn when the store was made: `sallyport/<16 hex digits>`. */
  readonly origin: string
  /**
   * The heads of some logs. With `reserve`, other processes wait with their commits until the next one of this store, for
   * RESERVE_MS at most: the way of one that lost the race.
   */
  heads(logs: readonly string[], reserve?: boolean): Promise<Heads>
  /** Writes a batch, all or nothing, if the ledger has still these heads; false when another process committed first. */
  commit(batch: Batch, expected: Heads): Promise<boolean>
  logs(): Promise<readonly string[]>
  /** A record by its id; `undefined` when there is none or it is in another log. */
  find(attestationId: number, log: string): Promise<StoredRecord | undefined>
  /** Up to `count` records from position `from` on. */
  records(log: string, from: number, count: number): Promise<readonly StoredRecord[]>
  /** See `TileReader`. */
  tile(log: string, tileLevel: number, index: number): Promise<Uint8Array>
  /** The subjects of these records that were not erased, by id. */
  subjects(attestationIds: readonly number[]): Promise<ReadonlyMap<number, Subject>>
  /** The records about an address whose subjects were not erased, by id, at most `count` after one. */
  recordsAbout(address: string, after: number, count: number): Promise<readonly AddressRecord[]>
  /** Logs that have grown beyond their newest checkpoint, at most `limit`. */
  uncovered(limit: number): Promise<readonly Uncovered[]>
  /**
   * Keeps a checkpoint if the newest of its log is still of size `after` and the log of keys still has `keyCount`
   * records; false otherwise. One of the same size replaces that one.
   */
  putCheckpoint(head: SignedHead, after: number, keyCount: number): Promise<boolean>
  /** The newest checkpoint of a log, and the first that covers position `seq`. */
  checkpoints(
    log: string,
    seq: number,
  ): Promise<{ readonly newest?: string | undefined; readonly covering?: string | undefined }>
  /** All checkpoints of a log, smallest first. */
  allCheckpoints(log: string): Promise<readonly SignedHead[]>
  putDocument(document: Document): Promise<void>
  document(sha256: string): Promise<string | undefined>
  /** Erases address, salt and context of every record about this address; gives how many. */
  eraseSubject(address: string): Promise<number>
  /** The same for all records issued before a moment (milliseconds since the epoch). */
  eraseBefore(moment: number): Promise<number>
  close(): Promise<void>
}

/** The end of one log; `undefined` where it has no records. */
export async function headOf(store: Pick<LedgerStore, 'heads'>, log: string): Promise<Head | undefined> {
  return (await store.heads([log])).logs.get(log)
}

/** Checkpoints outside the database: they show when a whole database was restored from an old copy or cut short. */
export interface CheckpointArchive {
  /** The newest note of every log. */
  list(): Promise<readonly { readonly name: string; readonly note: string }[]>
  write(head: SignedHead): Promise<void>
}

/** The longest time that a reservation holds other commits up, in milliseconds. */
export const RESERVE_MS = 250

/** The private signing key. */
export interface Signer {
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  sign(bytes: Uint8Array): Promise<Uint8Array>
}

/** Gives so many unpredictable bytes. */
export type Randomness = (bytes: number) => Uint8Array

/** The ledger cannot take or give a record now: the queue is full, or the store does not answer. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
}

/** The ledger must not be used: it contradicts its own checkpoints, or the signing key is not its own. */
export class LedgerRefused extends Error {
  override readonly name = 'LedgerRefused'
}
