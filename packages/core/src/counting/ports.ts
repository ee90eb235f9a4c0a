import type { CountLimit } from '../values/counting.ts'
import type { CountState } from './step.ts'

/** One count to take for a request. */
export interface CountTask {
  /** Rule, form of the limit and bucket; stores that other processes read keep a keyed hash of it. */
  readonly key: string
  /** 0 looks: it begins no window, and is allowed where the count is not exceeded. */
  readonly cost: number
  /** Absent: requests in flight, of which `max` fit. */
  readonly limit?: CountLimit | undefined
  readonly max: number
  /** Beyond it nothing that follows is taken. */
  readonly binding: boolean
  /** Taken until the answer is known, which may give it back. */
  readonly held?: true | undefined
  /** Spends what is good for once: what it admits outlives the request, so its answer is waited for longer. */
  readonly spends?: true | undefined
}

/** Outcomes of some tasks, in their order; shorter where a binding one was exceeded. */
export interface Taken {
  readonly states: readonly CountState[]
  /** The store did not answer, and this process counts alone, up to so much of every limit: above 0 to 1. */
  readonly share?: number | undefined
}

/** Counts requests. Rejects or throws when it cannot count; that is never an answer. */
export interface Counts {
  /**
   * Takes tasks in order, all in one step of the store. `flight` names this request among those in flight, and is given
   * to `leave` when its answer has ended.
   */
  take(tasks: readonly CountTask[], flight: string): Taken | Promise<Taken>
  /**
   * Ends a request in flight under these keys, and gives back the cost of tasks that were `held`; does not wait and does not
   * throw. What cannot be given back counts until its window ends.
   */
  leave(keys: readonly string[], flight: string, unused?: readonly CountTask[]): void
}

/** A client that is refused for a while. */
export interface Ban {
  /** Short, for `bans lift`. */
  readonly id: string
  /** Its key: the kind of the key and its value. */
  readonly key: string
  /** Why: the last thing that it did. */
  readonly on: string
  /** Strikes within the window. */
  readonly count: number
  /** The strikes by their word, such as `{ 'status:404': 2, blocked: 1 }`; absent in a ban of an earlier version. */
  readonly offences?: Readonly<Record<string, number>> | undefined
  /** Milliseconds in which strikes of the client are counted together; absent in a ban of an earlier version. */
  readonly windowMs?: number | undefined
  /** Milliseconds since the epoch. */
  readonly since: number
  readonly until: number
}

/** The bans in force, of all processes that share them. */
export interface BanList {
  /** From memory alone. */
  find(key: string): Ban | undefined
  put(ban: Ban): Promise<void>
  /** Ends a ban and takes its strikes away. False where there is none of this id. */
  lift(id: string): Promise<boolean>
  /**
   * When the last ban of this id was lifted, in milliseconds since the epoch, from memory alone: strikes before it count no more.
   * Absent once none of them could count.
   */
  liftedAt(id: string): number | undefined
  /** The soonest to end first. */
  list(): Promise<readonly Ban[]>
}
