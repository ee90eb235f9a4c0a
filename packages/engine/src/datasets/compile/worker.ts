import { constants, setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import { SallyportError } from '@sallyport/core'
import type { CompiledCity } from './city.ts'
import type { Job, Report } from './in-worker.ts'
import type { CompiledTables } from './tables.ts'

/* The entry of a worker thread that compiles: one job, given as `workerData`. */

const job = workerData as Job
const report = (message: Report) => parentPort?.postMessage(message)
const onProgress = (...progress: [stage: string, done: number, total: number]) => report({ progress })

// Requests come first. Linux sets the priority of the calling thread; elsewhere it would be the whole process's.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_BELOW_NORMAL)

try {
  report({ result: await run() })
} catch (error) {
  // A class does not survive the way to another thread: the code and the message do.
  if (!(error instanceof SallyportError)) throw error
  report({ refusal: { code: error.code, message: error.message, details: error.details } })
}

/** Code that a job does not need is not loaded for it. */
async function run(): Promise<CompiledTables | CompiledCity> {
  if (job.kind === 'city') return (await import('./city.ts')).compileCity({ ...job, onProgress })
  return (await import('./tables.ts')).compileTables({ ...job, onProgress })
}
