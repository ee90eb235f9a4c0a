import type { Document, Draft, Subject } from './record.ts'

/** Where a log ends. */
export interface Head {
  /** Records in the log. */
  readonly size: number
  /** What the next record's `prev` is, hexadecimal. */
  readonly link: string
  /** When the last record was issued, milliseconds since the epoch. */
  readonly issuedAt: number
  /** Peaks of the tree, as of `openFrontier`. */
  readonly peaks: Uint8Array
}

/** The place that an appended record has got. */
export interface Place {
  readonly attestationId: number
  readonly seq: number
}

/** A record as it is stored. */
export interface StoredRecord extends Place {
  readonly log: string
  readonly bytes: Uint8Array
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

export interface Overlap {
  /** Appends that may be under way together. */
  readonly appends: number
  /** Milliseconds since some moment, with fractions: what an append takes says whether two together are worth it. */
  elapsed(): number
  /** Runs something when all has run that one event has woken, by way of however many promises. */
  afterTurn(run: () => void): void
}

/**
 * Where a ledger is kept. Every operation is durable when it resolves and safe under any number of processes; it
 * rejects when the store cannot answer, within seconds, and then nothing is known of what was asked.
 */
export interface LedgerStore {
  /** Name of this ledger, drawn when the store was made: `sallyport/<16 hex digits>`. */
  readonly origin: string
  /** Appends in order, all or none. With `expected`, nothing and `undefined` when that log has another size. */
  append(
    drafts: readonly Draft[],
    expected?: { readonly log: string; readonly size: number },
  ): Promise<readonly Place[] | undefined>
  /** Of a store that makes one append ready while it writes another. Absent where there is to be one at a time. */
  readonly overlap?: Overlap
  head(log: string): Promise<Head | undefined>
  logs(): Promise<readonly string[]>
  /** A record by its id; `undefined` when there is none or it is in another log. */
  find(attestationId: number, log: string): Promise<StoredRecord | undefined>
  /** Up to `count` records from position `from` on. */
  records(log: string, from: number, count: number): Promise<readonly StoredRecord[]>
  /** See `TileReader`. */
  tile(log: string, tileLevel: number, index: number): Promise<Uint8Array>
  /** What was not erased of these records, by id. */
  subjects(attestationIds: readonly number[]): Promise<ReadonlyMap<number, Subject>>
  /** Logs that have grown beyond their newest checkpoint, at most `limit`. */
  uncovered(limit: number): Promise<readonly Uncovered[]>
  /**
   * Keeps a checkpoint if the newest of its log is still of size `after` and the log of keys still has `keyCount`
   * records; false otherwise. One of the same size takes the place of that one.
   */
  putCheckpoint(head: SignedHead, after: number, keyCount: number): Promise<boolean>
  /** The newest checkpoint of a log, and the first that covers position `seq`. */
  checkpoints(log: string, seq: number): Promise<{ readonly newest?: string; readonly covering?: string }>
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

/** Checkpoints outside the database: what shows that a whole database was put back or cut short. */
export interface CheckpointArchive {
  /** The newest note of every log. */
  list(): Promise<readonly { readonly name: string; readonly note: string }[]>
  write(head: SignedHead): Promise<void>
}

/** The private signing key. */
export interface Signer {
  /** 32 bytes, Ed25519. */
  readonly publicKey: Uint8Array
  sign(bytes: Uint8Array): Promise<Uint8Array>
}

/** Randomness: so many bytes that nobody can guess. */
export type Randomness = (bytes: number) => Uint8Array

/** The ledger cannot take or give a record now: the queue is full, or the store does not answer. */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable'
}

/** The ledger must not be used: it contradicts its own checkpoints, or the signing key is not its own. */
export class LedgerRefused extends Error {
  override readonly name = 'LedgerRefused'
}
