import { Worker } from 'node:worker_threads'
import { type Details, type ErrorCode, SallyportError } from '@sallyport/core'
import type { CompileCityOptions, CompiledCity } from './city.ts'
import type { CompiledTables, CompileOptions, OnProgress } from './tables.ts'

/** A job has plain values, which can be sent to another thread. */
export type Job =
  | ({ readonly kind: 'tables' } & Omit<CompileOptions, 'onProgress'>)
  | ({ readonly kind: 'city' } & Omit<CompileCityOptions, 'onProgress'>)

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
  const { onProgress, signal, ...job } = options
  return run<CompiledTables>({ kind: 'tables', ...job }, onProgress, signal)
}

/** Runs `compileCity` in a worker thread, as `compileInWorker` does. */
export function compileCityInWorker(options: CompileCityOptions & WorkerOptions): Promise<CompiledCity> {
  const { onProgress, signal, ...job } = options
  return run<CompiledCity>({ kind: 'city', ...job }, onProgress, signal)
}

async function run<Result>(
  job: Job,
  onProgress: OnProgress | undefined,
  signal: AbortSignal | undefined,
): Promise<Result> {
  signal?.throwIfAborted()
  const worker = new Worker(new URL('./worker.js', import.meta.url), {
    workerData: job,
    // Flags of the process, such as a profiler's or an inline script's, are not for this thread.
    execArgv: [],
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
  })
  const ended = new AbortController()
  try {
    return await new Promise<Result>((resolve, reject) => {
      signal?.addEventListener('abort', () => reject(signal.reason), { signal: ended.signal })
      worker.on('message', (report: Report) => {
        if ('progress' in report) onProgress?.(...report.progress)
        else if ('result' in report) resolve(report.result as Result)
        else reject(new SallyportError(report.refusal.code, report.refusal.message, report.refusal.details))
      })
      worker.on('error', reject)
      worker.on('exit', (code) => reject(new Error(`the compilation thread ended early with exit code ${code}`)))
    })
  } finally {
    ended.abort()
    await worker.terminate()
  }
}
