import type { CountLimit } from '../values/counting.ts'
import type { CountState } from './step.ts'

export interface CountTask {
  /** Consists of the rule, the form of the limit and the bucket; stores that other processes read keep a keyed hash of it. */
  readonly key: string
  /** 0 only checks: it begins no window, and is allowed where the count is not exceeded. */
  readonly cost: number
  /** Absent where the task is about requests in flight, of which `max` fit. */
  readonly limit?: CountLimit | undefined
  readonly max: number
  /** Once it is exceeded, no later task is taken. */
  readonly binding: boolean
  /** The cost is held until the response is known, which may give it back. */
  readonly held?: true | undefined
  /** The task spends a one-time value: what it admits outlives the request, so callers wait longer for its answer. */
  readonly spends?: true | undefined
}

/** Makes a task of cost 1, of which `max` fit in a window that begins with the first. */
export function makeFixedTask(key: string, max: number, windowMs: number): CountTask {
  return { key, cost: 1, limit: { kind: 'fixed', max, windowMs, refill: max }, max, binding: true }
}

/** Holds the outcomes of tasks, in their order; shorter where a binding one was exceeded. */
export interface Taken {
  readonly states: readonly CountState[]
  /** The store did not answer, and this process counts alone, up to this share of every limit: above 0 to 1. */
  readonly share?: number | undefined
}

/** Counts requests. Rejects or throws when it cannot count; that is never an answer. */
export interface Counts {
  /**
   * Takes tasks in order, all in one step of the store. `flight` names this request among those in flight; the caller passes it to `leave`
   * when the response has ended.
   */
  take(tasks: readonly CountTask[], flight: string): Taken | Promise<Taken>
  /**
   * Ends a request in flight under these keys, and returns the cost of tasks that were `held`; does not wait and does not throw. A cost
   * that cannot be returned counts until its window ends.
   */
  leave(keys: readonly string[], flight: string, unused?: readonly CountTask[]): void
}

/** A ban refuses a client for a while. */
export interface Ban {
  /** A short id serves `bans lift`. */
  readonly id: string
  /** The client's key has a kind and a value. */
  readonly key: string
  /** Names the last strike. */
  readonly on: string
  readonly count: number
  /** Counts the strikes by word, such as `{ 'status:404': 2, blocked: 1 }`; absent in a ban of an earlier version. */
  readonly offences?: Readonly<Record<string, number>> | undefined
  /** Strikes of the client count together for this time, in milliseconds; absent in a ban of an earlier version. */
  readonly windowMs?: number | undefined
  /** Both times are in milliseconds since the epoch. */
  readonly since: number
  readonly until: number
}

/** Lists the bans in force, of all processes that share them. */
export interface BanList {
  /** Finds a ban in memory, without I/O. */
  find(key: string): Ban | undefined
  put(ban: Ban): Promise<void>
  /** Ends a ban and clears its strikes. False where there is none of this id. */
  lift(id: string): Promise<boolean>
  /**
   * Returns when the last ban of this id was lifted, in milliseconds since the epoch, without I/O: strikes before that no longer count.
   * Absent once none of them could count.
   */
  liftedAt(id: string): number | undefined
  /** Lists the bans that end soonest first. */
  list(): Promise<readonly Ban[]>
}
