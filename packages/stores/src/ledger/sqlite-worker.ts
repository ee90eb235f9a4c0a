import { parentPort, workerData } from 'node:worker_threads'
import { type LedgerFile, openLedgerFile } from './sqlite-file.ts'
import { memoryOf } from './transit.ts'

/* The thread that has the ledger's file: requests never wait for a sync to the disk. Started by openSqliteLedger. */

/** Operations of the file, and what they are called with. */
export type Operation = Exclude<keyof LedgerFile, 'origin'>

export interface Call {
  readonly id: number
  readonly operation: Operation
  readonly values: readonly unknown[]
}

export interface Reply {
  /** 0 is the opening itself, whose result is the origin. */
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

const port = parentPort
if (port === null) throw new Error('not a worker')

try {
  const file = await openLedgerFile(String(workerData))
  port.on('message', ({ id, operation, values }: Call) => {
    try {
      const run = file[operation] as (...given: readonly unknown[]) => unknown
      const result = run(...values)
      port.postMessage({ id, result } satisfies Reply, memoryOf(result))
    } catch (error) {
      port.postMessage({ id, error: String(error) } satisfies Reply)
    }
    if (operation === 'close') port.close()
  })
  port.postMessage({ id: 0, result: file.origin } satisfies Reply)
} catch (error) {
  port.postMessage({ id: 0, error: String(error) } satisfies Reply)
  port.close()
}
