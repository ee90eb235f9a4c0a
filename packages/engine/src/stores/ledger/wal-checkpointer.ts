import { Worker } from 'node:worker_threads'
import { type ExitDrain, inFlight, type ThreadInput } from './exit-drain.ts'
import type { Wal } from './wal.ts'

/** Pages from which on a log is checkpointed: some twenty thousand records. */
const CHECKPOINT_PAGES = 4000

/** Writes between two looks at the log: a look costs as much as ten records. */
const LOOK_EVERY = 16

/** Keeps the write-ahead log short. */
export interface WalCheckpointer {
  /** To be called after each write. */
  wrote(): void
  /** Resolves when no checkpoint is under way any more. */
  close(): Promise<void>
}

export type CheckpointOrder = 'checkpoint' | 'end'

/**
 * Checkpoints the write-ahead log of the file at `path` in a thread of its own, because that takes tens of milliseconds,
 * for which records would wait. The writer, to whom `wal` belongs, finishes it: SQLite restarts a log only when all of it
 * is in the file. Where the thread fails, the writer does everything.
 */
export function createWalCheckpointer(
  path: string,
  wal: Pick<Wal, 'pendingPages' | 'finishCheckpoint'>,
  drain: ExitDrain,
  { checkpointPages = CHECKPOINT_PAGES, lookEvery = LOOK_EVERY } = {},
): WalCheckpointer {
  let thread: Worker | undefined
  let running = false
  let closed = false
  let writes = 0

  function finish(): void {
    running = false
    try {
      inFlight(drain, wal.finishCheckpoint)
    } catch {
      // Nothing is lost: what a full disk could not take stays in the log, and is tried again.
    }
  }

  function start(): Worker {
    const workerData: ThreadInput = { path, drain }
    const started = new Worker(new URL('./wal-checkpoint-thread.js', import.meta.url), { workerData })
    const onEnd = () => {
      if (thread !== started) return
      thread = undefined
      if (!closed) finish()
    }
    return started.on('message', finish).on('error', onEnd).on('exit', onEnd)
  }

  return {
    wrote() {
      writes++
      if (writes % lookEvery !== 0 || running || closed) return
      try {
        if (inFlight(drain, wal.pendingPages) < checkpointPages) return
        running = true
        thread ??= start()
        thread.postMessage('checkpoint' satisfies CheckpointOrder)
      } catch {
        finish()
      }
    },
    async close() {
      closed = true
      const last = thread
      if (last === undefined) return
      await new Promise((resolve) => {
        last.once('exit', resolve)
        last.postMessage('end' satisfies CheckpointOrder)
      })
    },
  }
}
