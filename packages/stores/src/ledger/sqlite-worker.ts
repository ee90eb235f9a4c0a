import { parentPort, workerData } from 'node:worker_threads'
import { createPartsReader, type PartsReaderData } from './parts.ts'
import { type LedgerFile, openLedgerFile } from './sqlite-file.ts'
import { memoryOf, type PackedDrafts } from './transit.ts'

/* The thread that has the ledger's file: requests never wait for a sync to the disk. Started by openSqliteLedger. */

/** Operations of the file, and what they are called with. */
export type Operation = Exclude<keyof LedgerFile, 'origin'>

export interface Call {
  readonly id: number
  readonly operation: Operation
  readonly values: readonly unknown[]
  /** The rest of what is to be appended comes in parts of its own, an `undefined` behind the last. */
  readonly continued?: true
}

export interface WorkerInput {
  readonly path: string
  readonly parts: PartsReaderData
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
  const { path, parts } = workerData as WorkerInput
  const file = await openLedgerFile(path)
  const nextPart = createPartsReader(parts)
  port.on('message', ({ id, operation, values, continued }: Call) => {
    try {
      const run = file[operation] as (...given: readonly unknown[]) => unknown
      const rest = () => nextPart(id) as PackedDrafts | undefined
      const result = continued === true ? run(values[0], undefined, rest) : run(...values)
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
