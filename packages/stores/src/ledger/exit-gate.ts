/*
 * Node ends the threads of a process that exits wherever they are, and one that is inside the packaged SQLite takes the
 * process with it: the driver cannot throw what it has to throw, and aborts. So the exit waits until they are outside,
 * and nobody goes in again.
 */

const CLOSED = 0
const INSIDE = 1

/** Longest that an exit is held up, in milliseconds: a disk that hangs must not hang the process. */
const EXIT_WAIT_MS = 2_000

/** Shared by the threads of one ledger. */
export type ExitGate = Int32Array<SharedArrayBuffer>

export function createExitGate(): ExitGate {
  return new Int32Array(new SharedArrayBuffer(2 * Int32Array.BYTES_PER_ELEMENT))
}

/** Runs work of a thread inside the gate. Does not return where the gate is closed: the thread is about to be ended. */
export function inside<T>(gate: ExitGate, work: () => T): T {
  enter(gate)
  try {
    return work()
  } finally {
    leave(gate)
  }
}

/** The same for work that is done when its promise settles. */
export async function insideUntil<T>(gate: ExitGate, work: () => Promise<T>): Promise<T> {
  enter(gate)
  try {
    return await work()
  } finally {
    leave(gate)
  }
}

function enter(gate: ExitGate): void {
  // First in, then a look: whoever closes the gate and sees nobody inside can rely on it.
  Atomics.add(gate, INSIDE, 1)
  if (Atomics.load(gate, CLOSED) === 0) return
  leave(gate)
  Atomics.wait(gate, CLOSED, 1)
}

function leave(gate: ExitGate): void {
  Atomics.sub(gate, INSIDE, 1)
  Atomics.notify(gate, INSIDE)
}

/** Lets nobody in any more, and waits, blocking, for those who are inside; false where they did not come out in time. */
export function closeGate(gate: ExitGate, waitMs = EXIT_WAIT_MS): boolean {
  Atomics.store(gate, CLOSED, 1)
  const deadline = performance.now() + waitMs
  for (;;) {
    const count = Atomics.load(gate, INSIDE)
    if (count === 0) return true
    if (Atomics.wait(gate, INSIDE, count, Math.max(0, deadline - performance.now())) === 'timed-out') return false
  }
}

/** Closes the gate when this process exits; gives what takes that back. */
export function closeOnExit(gate: ExitGate): () => void {
  const close = () => void closeGate(gate)
  process.on('exit', close)
  return () => void process.off('exit', close)
}
