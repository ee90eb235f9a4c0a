import { parentPort, workerData } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import { compileCity } from '../geo/compile.ts'
import { compileTables } from './compile.ts'
import type { Job, Report } from './in-worker.ts'

/* The whole of a worker thread that compiles: one job, told as `workerData`, reported to the thread that asked. */

const job = workerData as Job
const report = (message: Report) => parentPort?.postMessage(message)
const onProgress = (...progress: [stage: string, done: number, total: number]) => report({ progress })

try {
  const result =
    job.kind === 'tables'
      ? await compileTables({ dataDir: job.dataDir, sources: job.sources, onProgress })
      : compileCity({ dataDir: job.dataDir, source: job.source, onProgress })
  report({ result })
} catch (error) {
  // A class does not survive the way to another thread: the code and the message do.
  if (!(error instanceof SallyportError)) throw error
  report({ refusal: { code: error.code, message: error.message, details: error.details } })
}
