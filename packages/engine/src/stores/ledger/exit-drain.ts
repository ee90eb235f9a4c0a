/*
 * Node ends the threads of an exiting process wherever they are. One that is inside the packaged SQLite takes the process
 * with it: the driver cannot throw and aborts. So the exit drains the calls in flight and lets no new one begin.
 */

const CLOSED = 0
const IN_FLIGHT = 1

/** Longest that an exit waits, in milliseconds: a disk that hangs must not hang the process. */
const EXIT_WAIT_MS = 2_000

/** The threads of one ledger share it. */
export type ExitDrain = Int32Array<SharedArrayBuffer>

/** A thread receives the ledger's file, and the drain that its calls pass. */
export interface ThreadInput {
  readonly path: string
  readonly drain: ExitDrain
}

export function createExitDrain(): ExitDrain {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
}

/** Runs a call of a thread; a promise that it returns counts until it settles. Does not return once the process exits. */
export function inFlight<T>(drain: ExitDrain, call: () => T): T {
  // Counted before the look at the flag: an exit that sees none in flight can rely on it.
  Atomics.add(drain, IN_FLIGHT, 1)
  if (Atomics.load(drain, CLOSED) !== 0) {
    leave(drain)
    Atomics.wait(drain, CLOSED, 1)
  }
  let result: T | undefined
  try {
    result = call()
    return result instanceof Promise ? (result.finally(() => leave(drain)) as T) : result
  } finally {
    if (!(result instanceof Promise)) leave(drain)
  }
}

function leave(drain: ExitDrain): void {
  Atomics.sub(drain, IN_FLIGHT, 1)
  Atomics.notify(drain, IN_FLIGHT)
}

/** Lets no call begin and waits, blocking, for those in flight; returns false when they did not end in time. */
export function drainCalls(drain: ExitDrain, waitMs = EXIT_WAIT_MS): boolean {
  Atomics.store(drain, CLOSED, 1)
  const deadline = performance.now() + waitMs
  for (;;) {
    const count = Atomics.load(drain, IN_FLIGHT)
    if (count === 0) return true
    if (Atomics.wait(drain, IN_FLIGHT, count, Math.max(0, deadline - performance.now())) === 'timed-out') return false
  }
}

/** Drains the calls when this process exits; returns a function that takes that back. */
export function drainOnExit(drain: ExitDrain): () => void {
  const exit = () => void drainCalls(drain)
  process.on('exit', exit)
  return () => void process.off('exit', exit)
}
