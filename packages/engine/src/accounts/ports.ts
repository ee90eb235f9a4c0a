import type { KeyRecord } from './key.ts'

export interface Account {
  readonly id: string
  /** A name for people, which may be empty. */
  readonly name: string
  readonly plan: string
  /** `YYYY-MM-DD`; the billing window is anchored to its day. */
  readonly signupDate: string
}

/** A key as it is stored. */
export interface StoredKey extends KeyRecord {
  readonly accountId: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC; absent while the key is valid. */
  readonly revokedAt?: string | undefined
  /** ISO 8601, UTC; absent while the key was never used. Stored some seconds late. */
  readonly lastUsedAt?: string | undefined
}

/** The outcome of counting calls: `used` is the window's count after it. */
export interface Spend {
  /** How many of the calls were counted: all of them, or what was left of the limit. */
  readonly granted: number
  readonly used: number
  /** The window the call was counted in; a refund names it. */
  readonly windowId: string
}

/**
 * Accounts, keys and usage. Every operation is durable when it resolves, is safe under any number of processes, and
 * rejects when the store cannot answer: the caller must not take that for an answer.
 */
export interface Accounts {
  /** Returns false, with nothing changed, when an account of this id exists. */
  createAccount(account: Account): Promise<boolean>
  findAccount(id: string): Promise<Account | undefined>
  /** Lists all accounts, by id. */
  listAccounts(): Promise<readonly Account[]>
  /** Returns false when there is no such account. The allowance changes at once; what was used stays used. */
  setPlan(id: string, plan: string): Promise<boolean>
  /** Rejects when the account does not exist or a key of this id does. */
  createKey(key: StoredKey): Promise<void>
  /** Finds a key by its public id, revoked or not, with its account. The caller compares the hash. */
  findKey(id: string): Promise<{ readonly key: StoredKey; readonly account: Account } | undefined>
  /** Lists all keys, or the keys of one account, oldest first. */
  listKeys(accountId?: string): Promise<readonly StoredKey[]>
  /** Returns false when there is no such key or it was revoked before; `at` is ISO 8601. */
  revokeKey(id: string, at: string): Promise<boolean>
  /**
   * Revokes a key and stores `next` for its account, both or neither. Returns the account, or `undefined`, with nothing changed, when there
   * is no such key or it was revoked before.
   */
  replaceKey(id: string, next: Omit<StoredKey, 'accountId'>): Promise<Account | undefined>
  /** Stores when keys were last used (ISO 8601, UTC). A use before the known one, and a key that is not there, change nothing. */
  recordUses(uses: readonly { readonly id: string; readonly at: string }[]): Promise<void>
  /**
   * Counts up to `calls` calls (default 1) in a window, as many as stay within `limit`, in one atomic step. When the clock went back to a
   * window that a later one has followed, calls of the later window count in this one too: a wrong clock gives no second allowance, and no
   * counted call is lost.
   */
  spend(accountId: string, windowId: string, limit: number, calls?: number): Promise<Spend>
  /** Takes counted calls back, by default 1; the count never falls below 0. */
  refund(accountId: string, windowId: string, calls?: number): Promise<void>
  /** Counts the calls of a window and of later ones, which exist when the clock went back. */
  usage(accountId: string, windowId: string): Promise<number>
}
