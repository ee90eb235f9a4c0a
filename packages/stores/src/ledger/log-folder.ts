import { Worker } from 'node:worker_threads'
import { type ExitGate, inside } from './exit-gate.ts'
import type { WriteAheadLog } from './write-ahead-log.ts'

/** Pages from which on a log is folded: some twenty thousand records. */
const FOLD_PAGES = 4000

/** Writes after which the log is looked at: to look takes as long as to insert ten records. */
const LOOK_EVERY = 16

/** Sees to it that a log is folded before it grows long. */
export interface LogFolder {
  /** To be called after writing. */
  wrote(): void
  /** Resolves when nobody folds any more. */
  close(): Promise<void>
}

export interface FoldInput {
  readonly path: string
  readonly gate: ExitGate
}

/** What the thread is told: to fold, or to end. It answers when it has folded. */
export type FoldOrder = 'fold' | 'end'

/**
 * Folds the log of the file at `path` in a thread of its own, which is started when there is something to fold: that
 * takes tens of milliseconds, for which records would wait. What is written meanwhile is left, and is folded by the
 * writer, to whom `log` belongs: only when all of it is in the file does SQLite begin the log anew. Where the thread
 * fails, the writer does it all.
 */
export function createLogFolder(
  path: string,
  log: Pick<WriteAheadLog, 'unfolded' | 'foldEnd'>,
  gate: ExitGate,
  { foldPages = FOLD_PAGES, lookEvery = LOOK_EVERY } = {},
): LogFolder {
  let thread: Worker | undefined
  let folding = false
  let closed = false
  let writes = 0

  function foldEnd(): void {
    folding = false
    try {
      inside(gate, log.foldEnd)
    } catch {
      // Nothing is lost: what a full disk could not take stays in the log, and is tried again.
    }
  }

  function start(): Worker {
    const workerData: FoldInput = { path, gate }
    const started = new Worker(new URL('./fold-worker.js', import.meta.url), { workerData })
    // A thread that fails is not asked again, not even before it has ended.
    const lose = () => {
      if (thread !== started) return
      thread = undefined
      if (!closed) foldEnd()
    }
    started.on('message', foldEnd)
    started.on('error', lose)
    started.on('exit', lose)
    return started
  }

  return {
    wrote() {
      writes++
      if (writes % lookEvery !== 0 || folding || closed) return
      try {
        if (inside(gate, log.unfolded) < foldPages) return
        folding = true
        thread ??= start()
        thread.postMessage('fold' satisfies FoldOrder)
      } catch {
        foldEnd()
      }
    },
    async close() {
      closed = true
      const last = thread
      if (last === undefined) return
      await new Promise((resolve) => {
        last.once('exit', resolve)
        last.postMessage('end' satisfies FoldOrder)
      })
    },
  }
}
