import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core/tables'
import type { CompiledCity } from '../geo/compile.ts'
import type { CompiledTables } from './compile.ts'
import type { Job, Report } from './in-worker.ts'

/* The whole of a worker thread that compiles: one job, told as `workerData`, reported to the thread that asked. */

const job = workerData as Job
const report = (message: Report) => parentPort?.postMessage(message)
const onProgress = (...progress: [stage: string, done: number, total: number]) => report({ progress })

// Requests come first. On Linux this is about the calling thread alone; elsewhere it would be about the whole process.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

try {
  report({ result: await run() })
} catch (error) {
  // A class does not survive the way to another thread: the code and the message do.
  if (!(error instanceof SallyportError)) throw error
  report({ refusal: { code: error.code, message: error.message, details: error.details } })
}

/** What one job does not need is not loaded for it. */
async function run(): Promise<CompiledTables | CompiledCity> {
  const { dataDir } = job
  if (job.kind === 'tables') {
    const { compileTables } = await import('./compile.ts')
    return compileTables({ dataDir, sources: job.sources, onProgress })
  }
  const { compileCity } = await import('../geo/compile.ts')
  return compileCity({ dataDir, source: job.source, onProgress })
}
