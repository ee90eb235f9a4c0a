import { type CountState, type Counts, type CountTask, scaleLimit, type Taken } from '@sallyport/core'
import { LRUCache } from 'lru-cache'
import { createMemoryCounts } from './memory-counts.ts'

export interface SharedCountsOptions {
  /** Longest that one request waits for a silent store, in milliseconds; a request that spends waits a second at least. */
  readonly deadlineMs: number
  /** Share of every limit that this process lets through while the store does not answer, above 0 to 1. */
  readonly share: number
  /** Called once at the start of an outage, with the error. */
  readonly onOutage?: ((error: unknown) => void) | undefined
}

/** How often the store is tried during an outage. */
const RETRY_MS = 500

/** A store that has requests and answers none for so long is out: one late answer is a burst. */
const SILENT_MS = 1_000

/** Deadlines that a request waits for while the store answered within as many: it is slow then, and not away. */
const MAX_LOOKS = 10

/** Exceeded counts that are remembered, so that a flood of refused calls asks the store nothing. */
const MAX_EXCEEDED = 50_000

/** A fixed count as it was when nothing more fitted. */
interface Exceeded {
  readonly used: number
  readonly resetMs: number
  /** The count falls at this time, in milliseconds since the epoch. */
  readonly endsAt: number
}

/**
 * Counts in a store that several processes share. A request that has no answer in time is counted here, within this process's share of
 * every limit, and says so. Once the store fails, or answers no request for a second, all requests are counted here; one in `RETRY_MS`
 * tries the store. A fixed count falls at its end alone: once it is full it is refused without a query, so that a flood costs the store
 * nothing, an outage gives no client more, and what was spent during one stays spent.
 */
export function createSharedCounts(store: Counts, { deadlineMs, share, onOutage }: SharedCountsOptions): Counts {
  const local = createMemoryCounts()
  const exceeded = createExceeded()
  /** Requests in flight that are counted here. */
  const here = new Set<string>()
  let retryAt: number | undefined
  let waiting = 0
  /** When the store last answered, or the first waiting request began. */
  let heardAt = 0

  function takeHere(tasks: readonly CountTask[], flight: string): Taken {
    const { states } = local.take(
      tasks.map((task) => reduceTask(task, share)),
      flight,
    ) as Taken
    exceeded.remember(tasks, states)
    // A request leaves only when it entered or held something.
    if (listEntered(tasks, states).length + listHeld(tasks, states).length > 0) here.add(flight)
    return { states, share }
  }

  async function askStore(tasks: readonly CountTask[], flight: string): Promise<Taken> {
    if (waiting++ === 0) heardAt = performance.now()
    try {
      const taken = await store.take(tasks, flight)
      heardAt = performance.now()
      retryAt = undefined
      exceeded.remember(tasks, taken.states)
      return taken
    } finally {
      waiting--
    }
  }

  async function ask(tasks: readonly CountTask[], flight: string): Promise<Taken> {
    if (retryAt !== undefined) {
      if (performance.now() < retryAt) return takeHere(tasks, flight)
      retryAt = performance.now() + RETRY_MS
    }
    const answer = askStore(tasks, flight)
    try {
      const waitMs = tasks.some(({ spends }) => spends) ? Math.max(deadlineMs, SILENT_MS) : deadlineMs
      const taken = await awaitWithin(waitMs, answer, () => heardAt)
      if (taken !== undefined) return taken
      // A timer may be a part of a millisecond early.
      const silentMs = Math.ceil(performance.now() - heardAt)
      if (silentMs >= SILENT_MS) startOutage(new Error(`The count store has not responded for ${silentMs} ms.`))
    } catch (error) {
      startOutage(error)
    }
    answer.then(({ states }) => leaveLate(tasks, states, flight)).catch(() => {})
    return takeHere(tasks, flight)
  }

  function startOutage(error: unknown): void {
    if (retryAt === undefined) onOutage?.(error)
    retryAt = performance.now() + RETRY_MS
  }

  /** A request that was given up is counted here: where the store takes it late, it would stay there for good. */
  function leaveLate(tasks: readonly CountTask[], states: readonly CountState[], flight: string): void {
    const [keys, held] = [listEntered(tasks, states), listHeld(tasks, states)]
    if (keys.length + held.length > 0) store.leave(keys, flight, held)
  }

  return {
    async take(tasks, flight) {
      const [at, refusal] = exceeded.findRefusal(tasks)
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

/** Remembers fixed counts that are full. */
function createExceeded() {
  let full: LRUCache<string, Exceeded> | undefined

  /** Returns the state of a task that is known not to fit. Where the clock went back the store knows. */
  function refuse({ key, cost, max, binding }: CountTask): CountState | undefined {
    const known = binding ? full?.get(key) : undefined
    if (known === undefined || known.used + cost <= max) return undefined
    const resetMs = known.endsAt - Date.now()
    return resetMs > 0 && resetMs <= known.resetMs ? { allowed: false, used: known.used, resetMs } : undefined
  }

  return {
    remember(tasks: readonly CountTask[], states: readonly CountState[]): void {
      for (const [at, { allowed, used, resetMs }] of states.entries()) {
        const { key, limit, held, max } = tasks[at] as CountTask
        // A held cost may be given back at any time.
        if (limit?.kind !== 'fixed' || held || (allowed && used < max)) continue
        full ??= new LRUCache({ max: MAX_EXCEEDED })
        full.set(key, { used, resetMs, endsAt: Date.now() + resetMs })
      }
    },
    /** Finds the first task that is known not to fit, with its place. */
    findRefusal(tasks: readonly CountTask[]): readonly [at: number, refusal: CountState | undefined] {
      const at = full === undefined ? -1 : tasks.findIndex((task) => refuse(task) !== undefined)
      return [at, at < 0 ? undefined : refuse(tasks[at] as CountTask)]
    },
  }
}

/** Lists the keys of requests in flight that were entered. */
function listEntered(tasks: readonly CountTask[], states: readonly CountState[]): readonly string[] {
  return tasks.flatMap(({ key, limit }, at) => (limit === undefined && states[at]?.allowed ? [key] : []))
}

/** Lists the tasks that were taken until the answer is known. */
function listHeld(tasks: readonly CountTask[], states: readonly CountState[]): readonly CountTask[] {
  return tasks.filter(({ held }, at) => held && states[at]?.allowed)
}

function reduceTask(task: CountTask, share: number): CountTask {
  const max = scaleLimit(task.max, share)
  const { limit } = task
  return { ...task, max, ...(limit && { limit: { ...limit, max, refill: limit.refill * share } }) }
}

/**
 * Resolves to the answer, or to `undefined` when none comes in time. The time begins with the turn of the event loop in which the query is
 * written, and sockets are read once more at its end: an answer that a busy loop has not read yet is there. After a store that answered a
 * moment ago the time begins again, as a limit that is counted here lets a burst through on every machine.
 */
function awaitWithin<T>(ms: number, answer: Promise<T>, heardAt: () => number): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    let timer: NodeJS.Timeout | undefined
    const wait = (looks: number): void => {
      const look = () => {
        const isAnswering = performance.now() - heardAt() < Math.min(ms * MAX_LOOKS, SILENT_MS)
        if (looks > 1 && isAnswering) wait(looks - 1)
        else resolve(undefined)
      }
      timer = setTimeout(() => setImmediate(look), ms)
    }
    const written = setImmediate(wait, ms < SILENT_MS ? MAX_LOOKS : 1)
    const end = (): void => {
      clearImmediate(written)
      clearTimeout(timer)
    }
    answer.then(resolve, reject).finally(end)
  })
}
