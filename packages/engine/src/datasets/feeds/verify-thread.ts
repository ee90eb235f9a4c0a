import { parentPort } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import { countEntries } from './count-entries.ts'
import type { VerifyAnswer, VerifyTask } from './verify.ts'

/* The thread of `openVerifier`: one answer a task. A bug ends the thread, and the file counts as refused. */
parentPort?.on('message', (task: VerifyTask) => parentPort?.postMessage(verifyRow(task)))

function verifyRow({ row, path }: VerifyTask): VerifyAnswer {
  try {
    return { contents: countEntries(row, path) }
  } catch (error) {
    if (!(error instanceof SallyportError)) throw error
    return { refused: error.message }
  }
}
