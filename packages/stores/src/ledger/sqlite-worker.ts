import { availableParallelism } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { type ExitGate, inside, insideUntil } from './exit-gate.ts'
import { createLogFolder } from './log-folder.ts'
import type { SharedRecords } from './shared-records.ts'
import { type LedgerFile, openLedgerFile } from './sqlite-file.ts'
import { memoryOf } from './transit.ts'
import { createWakefulness } from './wakefulness.ts'

/* The thread that has the ledger's file: requests never wait for a sync to the disk. Started by openSqliteLedger. */

/**
 * How long this thread stays awake for callers whose records it wrote together, and who come back together. Not where
 * there is one processor, which they need themselves.
 */
const AWAKE_MS = availableParallelism() > 1 ? 0.4 : 0
const TOGETHER = 16

/** Operations of the file, and what they are called with. */
export type Operation = Exclude<keyof LedgerFile, 'origin'>

export interface Call {
  readonly id: number
  readonly operation: Operation
  readonly values: readonly unknown[]
}

export interface WorkerInput {
  readonly path: string
  readonly gate: ExitGate
  readonly shared: SharedRecords
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
  const { path, gate, shared } = workerData as WorkerInput
  const file = await insideUntil(gate, () => openLedgerFile(path, shared))
  const folder = createLogFolder(path, file, gate)
  const stayAwake = createWakefulness()
  let closed = false

  function run({ operation, values }: Call): unknown {
    if (closed) throw new Error('The ledger is closed.')
    const work = file[operation] as (...given: readonly unknown[]) => unknown
    if (operation !== 'write') return work(...values)
    try {
      const written = work(...values)
      if ((written as ReturnType<LedgerFile['write']>) >= TOGETHER) stayAwake(AWAKE_MS)
      return written
    } finally {
      // Before it is answered: then the next may be placed in that memory.
      Atomics.add(shared.done, values[0] as number, 1)
    }
  }

  function answer(call: Call): void {
    const { id } = call
    try {
      const result = run(call)
      port.postMessage({ id, result } satisfies Reply, memoryOf(result))
    } catch (error) {
      port.postMessage({ id, error: String(error) } satisfies Reply)
    }
  }

  port.on('message', async (call: Call) => {
    // The last connection that is closed takes the log with it: this one.
    if (call.operation === 'close') await folder.close()
    inside(gate, () => answer(call))
    if (call.operation !== 'close') return folder.wrote()
    closed = true
    port.close()
  })
  port.postMessage({ id: 0, result: file.origin } satisfies Reply)
} catch (error) {
  port.postMessage({ id: 0, error: String(error) } satisfies Reply)
  port.close()
}
