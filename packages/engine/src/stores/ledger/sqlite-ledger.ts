import { Worker } from 'node:worker_threads'
import type { LedgerStore } from '@sallyport/ledger'
import { threadFlags } from '#files'
import { createExitDrain, drainOnExit, type ThreadInput } from './exit-drain.ts'
import type { Erasure } from './ledger-writes.ts'
import type { LedgerFile } from './sqlite-file.ts'
import type { Call, Operation, Reply } from './sqlite-worker.ts'

/** Longest that an operation of a request takes: a disk that hangs is a store that is down. */
const CALL_MS = 5_000

interface Pending {
  resolve(result: unknown): void
  reject(error: Error): void
  readonly timer: NodeJS.Timeout | undefined
}

/** Opens the ledger in the SQLite file at `path`, for any number of processes. Its own thread syncs every commit in full. */
export async function openSqliteLedger(path: string): Promise<LedgerStore> {
  const thread = await startThread(path)
  const { call } = thread

  async function erase(erasure: Erasure): Promise<number> {
    let erased = 0
    for (let after: number | undefined = 0; after !== undefined; ) {
      const step: ReturnType<LedgerFile['eraseStep']> = await call('eraseStep', erasure, after)
      erased += step.erased
      after = step.last
    }
    if (erased > 0) await call('truncateWal')
    return erased
  }

  type Called = Pick<LedgerStore, (typeof CALLED)[number]>
  const called = CALLED.map((name) => [name, (...values: Parameters<LedgerFile[typeof name]>) => call(name, ...values)])
  return {
    origin: thread.origin,
    ...(Object.fromEntries(called) as Called),
    eraseSubject: (address) => erase({ address }),
    eraseBefore: (before) => erase({ before }),
    close: thread.close,
  }
}

/** Operations that the thread runs as they are. */
const CALLED = [
  ...(['heads', 'commit', 'logs', 'find', 'records', 'tile', 'subjects', 'recordsAbout', 'uncovered'] as const),
  ...(['putCheckpoint', 'checkpoints', 'allCheckpoints', 'putDocument', 'document'] as const),
] as const

/** Starts the thread that has the file, and calls its operations. */
async function startThread(path: string) {
  const drain = createExitDrain()
  const worker = new Worker(new URL('./sqlite-worker.js', import.meta.url), {
    workerData: { path, drain } satisfies ThreadInput,
    execArgv: threadFlags(),
  })
  const forgetExit = drainOnExit(drain)
  const pending = new Map<number, Pending>()
  let calls = 0
  let ended: Error | undefined

  function settle(id: number): Pending | undefined {
    const found = pending.get(id)
    if (found === undefined) return undefined
    pending.delete(id)
    clearTimeout(found.timer)
    // The thread keeps the process alive only while a call waits for it.
    if (pending.size === 0) worker.unref()
    return found
  }

  function fail(error: Error): void {
    ended ??= error
    for (const id of [...pending.keys()]) settle(id)?.reject(ended)
  }

  worker.on('message', ({ id, result, error }: Reply) => {
    const waiting = settle(id)
    if (error === undefined) waiting?.resolve(result)
    else waiting?.reject(new Error(error))
  })
  worker.on('error', fail)
  worker.on('exit', () => {
    forgetExit()
    fail(new Error('The ledger is closed.'))
  })

  function expect(id: number, timed: boolean): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const expire = () => settle(id)?.reject(new Error(`The ledger has not responded for ${CALL_MS} ms.`))
      pending.set(id, { resolve, reject, timer: timed ? setTimeout(expire, CALL_MS) : undefined })
      worker.ref()
    })
  }

  async function call<Name extends Operation>(
    operation: Name,
    ...values: Parameters<LedgerFile[Name]>
  ): Promise<ReturnType<LedgerFile[Name]>> {
    if (ended !== undefined) throw ended
    const id = ++calls
    // `truncateWal` has no deadline here: it waits for every reader.
    const answer = expect(id, operation !== 'truncateWal')
    worker.postMessage({ id, operation, values } satisfies Call)
    return (await answer) as ReturnType<LedgerFile[Name]>
  }

  return {
    origin: String(await expect(0, false)),
    call,
    async close(): Promise<void> {
      if (ended === undefined) await call('close').catch(() => {})
      await worker.terminate()
    },
  }
}
