import { Worker } from 'node:worker_threads'
import { type Details, type ErrorCode, SallyportError } from '@sallyport/core'
import type { CityJob, CompileCityOptions, CompiledCity } from './city.ts'
import type { CompiledTables, CompileOptions, OnProgress, TablesJob } from './tables.ts'

export type Job = ({ readonly kind: 'tables' } & TablesJob) | ({ readonly kind: 'city' } & CityJob)

/** A thread sends progress, and then one result or refusal. */
export type Report =
  | { readonly progress: Parameters<OnProgress> }
  | { readonly result: CompiledTables | CompiledCity }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string; readonly details?: Details | undefined } }

export interface WorkerOptions {
  /** Ends the thread; the call then rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined
}

/** The younger generation of a thread that makes some million short-lived objects, in megabytes. */
const YOUNG_GENERATION_MB = 24

/**
 * Runs `compileTables` in a worker thread, with the same options and result, while the calling thread goes on. Calls `onProgress` in the
 * calling thread. Rejects as `compileTables` does.
 */
export function compileInWorker(options: CompileOptions & WorkerOptions): Promise<CompiledTables> {
  const { dataDir, sources } = options
  return run<CompiledTables>({ kind: 'tables', dataDir, sources }, options)
}

/** Runs `compileCity` in a worker thread, as `compileInWorker` does. */
export function compileCityInWorker(options: CompileCityOptions & WorkerOptions): Promise<CompiledCity> {
  const { dataDir, source } = options
  return run<CompiledCity>({ kind: 'city', dataDir, source }, options)
}

interface RunOptions extends WorkerOptions {
  readonly onProgress?: OnProgress | undefined
}

async function run<Result extends CompiledTables | CompiledCity>(
  job: Job,
  { signal, onProgress }: RunOptions,
): Promise<Result> {
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: job,
    // Flags of the process, such as a profiler's or an inline script's, are not for this thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  let cancel: (() => void) | undefined
  try {
    return await new Promise<Result>((resolve, reject) => {
      cancel = () => reject(signal?.reason)
      signal?.addEventListener('abort', cancel, { once: true })
      worker.on('message', (report: Report) => {
        if ('progress' in report) onProgress?.(...report.progress)
        else if ('result' in report) resolve(report.result as Result)
        else reject(new SallyportError(report.refusal.code, report.refusal.message, report.refusal.details))
      })
      worker.on('error', reject)
      worker.on('exit', (code) => reject(new Error(`the compilation thread ended early with exit code ${code}`)))
    })
  } finally {
    if (cancel !== undefined) signal?.removeEventListener('abort', cancel)
    await worker.terminate()
  }
}
