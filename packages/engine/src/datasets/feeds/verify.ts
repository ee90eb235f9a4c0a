import { Worker } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import type { SourceRow } from '@sallyport/data/sources'
import { threadFlags } from '#files'
import type { Contents } from './count-entries.ts'

/** Reads a whole file as the given source; rejects with `corrupt_data` when it cannot be that source. */
export type Verify = (row: SourceRow, path: string) => Promise<Contents>

/** The thread receives a task and sends an answer. */
export interface VerifyTask {
  readonly row: SourceRow
  readonly path: string
}
export type VerifyAnswer = { readonly contents: Contents } | { readonly refused: string }

/** A city database of 130 MB is walked in some seconds. */
const TIMEOUT_MS = 120_000
const LIMITS = { maxOldGenerationSizeMb: 1024 }
const THREAD = new URL('./verify-thread.js', import.meta.url)

/**
 * Verifies downloads in a worker thread, one after the other. Parsing them does not delay requests, and a file that makes the parser run
 * without end or out of memory ends only that thread and is refused.
 */
export function openVerifier() {
  let worker: Worker | undefined
  let last: Promise<unknown> = Promise.resolve()

  function thread(): Worker {
    worker ??= new Worker(THREAD, { execArgv: threadFlags(), resourceLimits: LIMITS }).on('error', () => undefined)
    worker.unref()
    return worker
  }

  async function ask(task: VerifyTask): Promise<Contents> {
    const reader = thread()
    reader.ref()
    const answer = await new Promise<VerifyAnswer | { readonly lost: string }>((resolve) => {
      const done = (answer: VerifyAnswer | { readonly lost: string }) => {
        clearTimeout(timer)
        reader.off('exit', onExit).off('message', done)
        resolve(answer)
      }
      const onExit = () => done({ lost: 'reading the file takes too much memory' })
      const timer = setTimeout(() => done({ lost: 'reading the file takes too long' }), TIMEOUT_MS)
      reader.once('exit', onExit).once('message', done)
      reader.postMessage(task)
    })
    reader.unref()
    if ('contents' in answer) return answer.contents
    if ('refused' in answer) throw new SallyportError('corrupt_data', answer.refused)
    // A thread that has ended, or is still reading the file, is not used again.
    worker = undefined
    await reader.terminate()
    throw new SallyportError('corrupt_data', `${task.path}: ${answer.lost}`)
  }

  return {
    verify(row: SourceRow, path: string): Promise<Contents> {
      const next = last.then(() => ask({ row, path }))
      last = next.catch(() => undefined)
      return next
    },
    async close(): Promise<void> {
      await last
      await worker?.terminate()
      worker = undefined
    },
  }
}
