import type { Anchor, Document, Subject } from './record.ts'
import type { TreeNode } from './tree.ts'

/** Describes the end of a log. */
export interface Head {
  /** Counts the records in the log. */
  readonly size: number
  /** Becomes `prev` of the next record, in hexadecimal. */
  readonly link: string
  /** When the last record was issued, in milliseconds since the epoch. */
  readonly issuedAt: number
  /** Holds the peaks of the tree in the form of `openFrontier`. */
  readonly peaks: Uint8Array
}

/** Gives the position of a record. */
export interface RecordPlace {
  readonly attestationId: number
  readonly seq: number
}

/** Holds a record in its stored form. */
export interface StoredRecord extends RecordPlace {
  readonly log: string
  readonly bytes: Uint8Array
}

/** Holds a ledger's data about one address: a record, and the context that can be erased. */
export interface AddressRecord extends StoredRecord {
  readonly context?: string | undefined
}

/** Describes a log that has records without a checkpoint. */
export interface Uncovered {
  readonly log: string
  readonly size: number
  readonly root: Uint8Array
  /** Size of the log's newest checkpoint; 0 if it has none. */
  readonly covered: number
}

export interface SignedHead {
  readonly log: string
  readonly size: number
  /** Holds the text of the signed note. */
  readonly note: string
}

/** A commit is based on these heads, which were read at one moment. */
export interface Heads {
  /** Holds the id of the next record: ids are dense over all logs, so an unchanged id means that nothing was committed. */
  readonly nextId: number
  /** Maps names of the requested logs to their heads; a log without records is absent. */
  readonly logs: ReadonlyMap<string, Head>
}

/** A record with its place, ready to be stored. */
export interface PlacedRecord extends RecordPlace {
  readonly log: string
  /** Holds the canonical text; the store keeps its bytes in UTF-8. */
  readonly text: string
  /** Counts milliseconds since the epoch. */
  readonly issuedAt: number
  readonly subject: Subject | undefined
}

/** Holds everything that one commit writes. */
export interface Batch {
  /** Lists records in order; their ids rise by one from the next id of the heads that the batch was built on. */
  readonly records: readonly PlacedRecord[]
  /** Lists the nodes of the trees that these records complete. */
  readonly nodes: readonly (TreeNode & { readonly log: string })[]
  /** Maps each log that grows to its head after the commit. */
  readonly heads: ReadonlyMap<string, Head>
}

/**
 * Stores a ledger. Every operation is durable when it resolves and safe under any number of processes. It rejects within seconds if the
 * store cannot answer; whether it took effect is then unknown.
 */
export interface LedgerStore {
  /** Names this ledger; the name is drawn when the store is created: `sallyport/<16 hex digits>`. */
  readonly origin: string
  /**
   * Returns the heads of some logs. With `reserve`, other processes delay their commits until the next commit of this store, for RESERVE_MS
   * at most; a process that lost the race uses it.
   */
  heads(logs: readonly string[], reserve?: boolean): Promise<Heads>
  /** Writes a batch, all or nothing, if the ledger still has these heads; returns false if another process committed first. */
  commit(batch: Batch, expected: Heads): Promise<boolean>
  logs(): Promise<readonly string[]>
  /** Returns a record by its id; `undefined` if no record of this log has it. */
  find(attestationId: number, log: string): Promise<StoredRecord | undefined>
  /** Returns up to `count` records from position `from` on. */
  records(log: string, from: number, count: number): Promise<readonly StoredRecord[]>
  /**
   * Returns up to 256 concatenated hashes: at level 0 the leaves from `256 * index` on, at level n the stored nodes of that tile level. A
   * tile at the growing edge holds what is complete.
   */
  tile(log: string, tileLevel: number, index: number): Promise<Uint8Array>
  /** Returns the subjects of these records that were not erased, by id. */
  subjects(attestationIds: readonly number[]): Promise<ReadonlyMap<number, Subject>>
  /** Returns at most `count` records about an address, alone or with others, by id after `after`; omits erased subjects. */
  recordsAbout(address: string, after: number, count: number): Promise<readonly AddressRecord[]>
  /** Lists logs that have grown beyond their newest checkpoint, at most `limit`. */
  uncovered(limit: number): Promise<readonly Uncovered[]>
  /**
   * Stores a checkpoint if the newest of its log still has size `after` and the log of keys still has `keyCount` records; returns false
   * otherwise. A checkpoint of the same size is replaced.
   */
  putCheckpoint(head: SignedHead, after: number, keyCount: number): Promise<boolean>
  /** Returns the newest checkpoint of a log, and the first that covers position `seq`. */
  checkpoints(
    log: string,
    seq: number,
  ): Promise<{ readonly newest?: string | undefined; readonly covering?: string | undefined }>
  /** Returns all checkpoints of a log, smallest first. */
  allCheckpoints(log: string): Promise<readonly SignedHead[]>
  putDocument(document: Document): Promise<void>
  document(sha256: string): Promise<string | undefined>
  /** Erases address, salt and context of every record about this address, with the addresses beside it; returns their number. */
  eraseSubject(address: string): Promise<number>
  /** Erases all records issued before a moment (milliseconds since the epoch) in the same way; returns their number. */
  eraseBefore(moment: number): Promise<number>
  close(): Promise<void>
}

/** Returns the end of one log; `undefined` if it has no records. */
export async function readHead(store: Pick<LedgerStore, 'heads'>, log: string): Promise<Head | undefined> {
  return (await store.heads([log])).logs.get(log)
}

/** Checkpoints outside the database: they show when a whole database was restored from an old copy or cut short. */
export interface CheckpointArchive {
  /** Lists the newest note of every log. */
  list(): Promise<readonly { readonly name: string; readonly note: string }[]>
  write(head: SignedHead): Promise<void>
}

/** Describes how a log has grown since its last anchor. */
export interface Grown {
  /** Counts the records that the last anchor covers; 0 without an anchor. */
  readonly from: number
  /** Proves that the log continues its first records (RFC 6962 2.1.2). */
  prove(size: number): Promise<readonly Uint8Array[]>
}

/** Requests timestamps from authorities and cosignatures from witnesses for a checkpoint; omits those that are not valid. Never rejects. */
export type Stamp = (checkpoint: string, grown: Grown) => Promise<Pick<Anchor, 'timestamps' | 'cosignatures'>>

/** No reservation may hold up other commits for longer, in milliseconds. */
export const RESERVE_MS = 250

/** Holds the private signing key. */
export interface Signer {
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  sign(bytes: Uint8Array): Promise<Uint8Array>
}

/** Returns this many unpredictable bytes. */
export type Randomness = (bytes: number) => Uint8Array

/** The ledger cannot store or return a record now: the queue is full, or the store does not answer. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
}

/** The ledger must not be used: it contradicts its own checkpoints, or the signing key is not the ledger's. */
export class LedgerRefused extends Error {
  override readonly name = 'LedgerRefused'
}
