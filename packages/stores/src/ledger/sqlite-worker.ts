import { availableParallelism } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type ExitGate, inside, insideUntil } from './exit-gate.ts'
import { createLogFolder } from './log-folder.ts'
import { createPartsReader, type PartsReaderData } from './parts.ts'
import { type LedgerFile, openLedgerFile } from './sqlite-file.ts'
import { memoryOf, type PackedDrafts } from './transit.ts'
import { createWakefulness } from './wakefulness.ts'

/* The thread that has the ledger's file: requests never wait for a sync to the disk. Started by openSqliteLedger. */

/**
 * How long this thread stays awake for callers whose records it wrote together, and who come back together. Not where
 * there is one processor, which they need themselves.
 */
const AWAKE_MS = availableParallelism() > 1 ? 0.4 : 0

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
  readonly gate: ExitGate
  readonly parts: PartsReaderData
}

export interface Reply {
  /** 0 is the opening itself, whose result is the origin. */
  readonly id: number
  readonly result?: unknown
  readonly error?: string
}

if (parentPort === null) throw new Error('not a worker')
const port: MessagePort = parentPort

try {
  const { path, gate, parts } = workerData as WorkerInput
  const file = await insideUntil(gate, () => openLedgerFile(path))
  const nextPart = createPartsReader(parts)
  const folder = createLogFolder(path, file, gate)
  const stayAwake = createWakefulness()
  let closed = false

  function answer({ id, operation, values, continued }: Call): void {
    try {
      if (closed) throw new Error('The ledger is closed.')
      const run = file[operation] as (...given: readonly unknown[]) => unknown
      const rest = () => nextPart(id) as PackedDrafts | undefined
      const result = continued === true ? run(values[0], undefined, rest) : run(...values)
      port.postMessage({ id, result } satisfies Reply, memoryOf(result))
    } catch (error) {
      port.postMessage({ id, error: String(error) } satisfies Reply)
    }
  }

  port.on('message', async (call: Call) => {
    // The last connection that is closed takes the log with it: this one.
    if (call.operation === 'close') await folder.close()
    inside(gate, () => answer(call))
    if (call.continued === true) stayAwake(AWAKE_MS)
    if (call.operation !== 'close') return folder.wrote()
    closed = true
    port.close()
  })
  port.postMessage({ id: 0, result: file.origin } satisfies Reply)
} catch (error) {
  port.postMessage({ id: 0, error: String(error) } satisfies Reply)
  port.close()
}
