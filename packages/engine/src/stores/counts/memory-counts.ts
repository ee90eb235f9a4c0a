import {
  type CountRow,
  type CountState,
  type Counts,
  type CountTask,
  giveBack,
  type Taken,
  takeStep,
} from '@sallyport/core'
import { LRUCache } from 'lru-cache'

export interface MemoryCountsOptions {
  /** Most counts that are held, and as many again of full ones. */
  readonly maxKeys?: number | undefined
  /** Returns milliseconds since the epoch. */
  readonly now?: (() => number) | undefined
}

/** So many keys take some 25 MB. */
const MAX_KEYS = 100_000

/**
 * Counts in the memory of this process, at once. Of more keys than `maxKeys` the one longest unseen is forgotten. A full count is held
 * apart, so that only `maxKeys` full ones after it make it forgotten.
 */
export function createMemoryCounts({ maxKeys = MAX_KEYS, now = Date.now }: MemoryCountsOptions = {}): Counts {
  /** Made by the first count, since room for all keys is taken at once: most processes that could count never do. */
  let rows: { readonly counting: LRUCache<string, CountRow>; readonly full: LRUCache<string, CountRow> } | undefined
  const flights = new Map<string, number>()

  function takeOne({ key, cost, limit, max }: CountTask, time: number): CountState {
    if (limit === undefined) return enter(key, max)
    rows ??= { counting: new LRUCache({ max: maxKeys }), full: new LRUCache({ max: maxKeys }) }
    const { counting, full } = rows
    const step = takeStep(limit, full.get(key) ?? counting.get(key), cost, time)
    if (!(step.allowed && cost > 0) && !step.rewound) return step
    if (step.full) {
      counting.delete(key)
      full.set(key, step.row)
    } else {
      if (full.size > 0) full.delete(key)
      counting.set(key, step.row)
    }
    return step
  }

  function giveBackOne({ key, cost }: CountTask): void {
    const row = rows?.full.get(key) ?? rows?.counting.get(key)
    if (row === undefined) return
    rows?.full.delete(key)
    rows?.counting.set(key, giveBack(row, cost))
  }

  function enter(key: string, max: number): CountState {
    const there = flights.get(key) ?? 0
    const allowed = there < max
    if (allowed) flights.set(key, there + 1)
    return flightState(allowed, there)
  }

  return {
    take(tasks) {
      const time = now()
      return takeInOrder(tasks, (task) => takeOne(task, time))
    },
    leave(keys, _, unused = []) {
      for (const task of unused) giveBackOne(task)
      for (const key of keys) {
        const there = flights.get(key) ?? 0
        if (there > 1) flights.set(key, there - 1)
        else flights.delete(key)
      }
    },
  }
}

/** Takes tasks in order, up to the first binding one that is exceeded. */
export function takeInOrder(tasks: readonly CountTask[], take: (task: CountTask) => CountState): Taken {
  const states: CountState[] = []
  for (const task of tasks) {
    const state = take(task)
    states.push(state)
    if (!state.allowed && task.binding) break
  }
  return { states }
}

/** The end of a request in flight is not known: a second until the next try is a guess. */
const FLIGHT_RESET_MS = 1_000

/** Returns the state of a count of requests in flight, of which `there` were there before. */
export function flightState(allowed: boolean, there: number): CountState {
  return { allowed, used: allowed ? there + 1 : there, resetMs: FLIGHT_RESET_MS }
}
