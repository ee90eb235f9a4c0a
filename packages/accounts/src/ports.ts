import type { KeyRecord } from './key.ts'
import type { PlanName } from './plan.ts'

export interface Account {
  readonly id: string
  /** For people; may be empty. */
  readonly name: string
  readonly plan: PlanName
  /** `YYYY-MM-DD`; the billing window is anchored to its day. */
  readonly signupDate: string
}

/** A key as it is stored. */
export interface StoredKey extends KeyRecord {
  readonly accountId: string
  /** ISO 8601, UTC. */
  readonly createdAt: string
  /** ISO 8601, UTC; absent while the key is good. */
  readonly revokedAt?: string
}

/** The outcome of counting one call: `used` is the window's count after it. */
export interface Spend {
  readonly allowed: boolean
  readonly used: number
  /** The window the call was counted in; a refund names it. Later than the one asked for when the clock went back. */
  readonly windowId: string
}

/**
 * Accounts, keys and usage. Every operation is durable when it resolves, is safe under any number of processes, and
 * rejects when the store cannot answer: the caller must not take that for an answer.
 */
export interface Accounts {
  /** False, with nothing changed, when an account of this id exists. */
  createAccount(account: Account): Promise<boolean>
  findAccount(id: string): Promise<Account | undefined>
  /** All accounts, by id. */
  listAccounts(): Promise<readonly Account[]>
  /** False when there is no such account. The allowance changes at once; what was used stays used. */
  setPlan(id: string, plan: PlanName): Promise<boolean>
  /** Rejects when the account does not exist or a key of this id does. */
  createKey(key: StoredKey): Promise<void>
  /** A key by its public id, revoked or not, with its account. The caller compares the hash. */
  findKey(id: string): Promise<{ readonly key: StoredKey; readonly account: Account } | undefined>
  /** All keys, or those of one account, oldest first. */
  listKeys(accountId?: string): Promise<readonly StoredKey[]>
  /** False when there is no such key or it was revoked before; `at` is ISO 8601. */
  revokeKey(id: string, at: string): Promise<boolean>
  /**
   * Counts one call in a window if that stays within `limit`, in one atomic step. A window that a later one has
   * followed is never counted in again: the call counts in the latest.
   */
  spend(accountId: string, windowId: string, limit: number): Promise<Spend>
  /** Takes one counted call back; never below 0. */
  refund(accountId: string, windowId: string): Promise<void>
  /** Calls counted in a window, or in the latest when that is later. */
  usage(accountId: string, windowId: string): Promise<number>
}
