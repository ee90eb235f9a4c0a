import { type CountState, type Counts, type CountTask, shareOfMax, type Taken } from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import { createMemoryCounts } from './memory-counts.ts'

export interface SharedCountsOptions {
  /** Longest that one request waits for the store, in milliseconds. */
  readonly deadlineMs: number
  /** Share of every limit that this process lets through while the store does not answer, above 0 to 1. */
  readonly share: number
  /** Called once at the start of an outage, with the error. */
  readonly onOutage?: ((error: unknown) => void) | undefined
}

/** How often the store is tried during an outage. */
const RETRY_MS = 500

/** Exceeded counts that are remembered (D339). */
const MAX_EXCEEDED = 50_000

/** A fixed count as the store had it when it was exceeded. */
interface Exceeded {
  readonly used: number
  readonly resetMs: number
  /** Milliseconds since the epoch. */
  readonly endsAt: number
}

/**
 * Counts in a store that several processes share. While it does not answer in time, this process counts its share of every
 * limit and says so (D44); one request in `RETRY_MS` tries the store, all others are answered at once. A fixed count falls at its
 * end alone: once it was exceeded it is refused without a question, so that a flood costs the store nothing and an outage
 * gives nobody more.
 */
export function createSharedCounts(store: Counts, { deadlineMs, share, onOutage }: SharedCountsOptions): Counts {
  const local = createMemoryCounts()
  const exceeded = new LRUCache<string, Exceeded>({ max: MAX_EXCEEDED })
  /** Requests in flight that are counted here. */
  const here = new Set<string>()
  let retryAt: number | undefined

  function takeHere(tasks: readonly CountTask[], flight: string): Taken {
    const { states } = local.take(
      tasks.map((task) => shareOf(task, share)),
      flight,
    ) as Taken
    // Nobody leaves where nothing was entered or held.
    if (enteredIn(tasks, states).length + heldIn(tasks, states).length > 0) here.add(flight)
    return { states, share }
  }

  async function ask(tasks: readonly CountTask[], flight: string): Promise<Taken> {
    if (retryAt !== undefined) {
      if (performance.now() < retryAt) return takeHere(tasks, flight)
      retryAt = performance.now() + RETRY_MS
    }
    let asked: Promise<Taken> | undefined
    try {
      asked = Promise.resolve(store.take(tasks, flight))
      const taken = await within(deadlineMs, asked, 'counts')
      retryAt = undefined
      for (const [at, state] of taken.states.entries()) if (!state.allowed) remember(tasks[at] as CountTask, state)
      return taken
    } catch (error) {
      if (retryAt === undefined) onOutage?.(error)
      retryAt = performance.now() + RETRY_MS
      asked?.then(({ states }) => leaveLate(tasks, states, flight)).catch(() => {})
      return takeHere(tasks, flight)
    }
  }

  /** A request that was given up is counted here: where the store takes it late, it would stay there for good. */
  function leaveLate(tasks: readonly CountTask[], states: readonly CountState[], flight: string): void {
    const [keys, held] = [enteredIn(tasks, states), heldIn(tasks, states)]
    if (keys.length + held.length > 0) store.leave(keys, flight, held)
  }

  function remember({ key, limit, held }: CountTask, { used, resetMs }: CountState): void {
    // A held cost may be given back at any time.
    if (limit?.kind === 'fixed' && !held) exceeded.set(key, { used, resetMs, endsAt: Date.now() + resetMs })
  }

  /** The state of a task that is known not to fit. Where the clock went back the store knows. */
  function refusalOf({ key, cost, max, binding }: CountTask): CountState | undefined {
    const known = binding ? exceeded.get(key) : undefined
    if (known === undefined || known.used + cost <= max) return undefined
    const resetMs = known.endsAt - Date.now()
    return resetMs > 0 && resetMs <= known.resetMs ? { allowed: false, used: known.used, resetMs } : undefined
  }

  return {
    async take(tasks, flight) {
      if (exceeded.size === 0) return ask(tasks, flight)
      const at = tasks.findIndex((task) => refusalOf(task) !== undefined)
      const refusal = at === -1 ? undefined : refusalOf(tasks[at] as CountTask)
      if (refusal === undefined) return ask(tasks, flight)
      if (at === 0) return { states: [refusal] }
      const taken = await ask(tasks.slice(0, at), flight)
      const ended = taken.states.some(({ allowed }, before) => !allowed && tasks[before]?.binding)
      return ended ? taken : { ...taken, states: [...taken.states, refusal] }
    },
    leave(keys, flight, unused = []) {
      if (here.delete(flight)) local.leave(keys, flight, unused)
      else store.leave(keys, flight, unused)
    },
  }
}

/** The keys of requests in flight that were entered. */
function enteredIn(tasks: readonly CountTask[], states: readonly CountState[]): readonly string[] {
  return tasks.flatMap(({ key, limit }, at) => (limit === undefined && states[at]?.allowed ? [key] : []))
}

/** The tasks that were taken until the answer is known. */
function heldIn(tasks: readonly CountTask[], states: readonly CountState[]): readonly CountTask[] {
  return tasks.filter(({ held }, at) => held && states[at]?.allowed)
}

function shareOf(task: CountTask, share: number): CountTask {
  const max = shareOfMax(task.max, share)
  const { limit } = task
  return { ...task, max, ...(limit && { limit: { ...limit, max, refill: limit.refill * share } }) }
}

/** Rejects when there is no answer in time; a later one is dropped. `what` names the store. */
async function within<T>(ms: number, answer: Promise<T>, what: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`The store of the ${what} did not answer in ${ms} ms.`)), ms)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
