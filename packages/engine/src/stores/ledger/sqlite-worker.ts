import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { errorText } from '@sallyport/core'
import { RESERVE_MS } from '@sallyport/ledger'
import { inFlight, type ThreadInput } from './exit-drain.ts'
import { type LedgerFile, openLedgerFile } from './sqlite-file.ts'

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
  readonly error?: string | undefined
}

if (parentPort === null) throw new Error('not a worker')
const port: MessagePort = parentPort

try {
  const { path, drain } = workerData as ThreadInput
  const file = await inFlight(drain, () => openLedgerFile(path))
  let reservation: NodeJS.Timeout | undefined
  let closed = false

  function answer({ id, operation, values }: Call): void {
    try {
      if (closed) throw new Error('The ledger is closed.')
      const result = (file[operation] as (...given: readonly unknown[]) => unknown)(...values)
      port.postMessage({ id, result } satisfies Reply)
    } catch (error) {
      port.postMessage({ id, error: errorText(error) } satisfies Reply)
    }
  }

  /** A reservation that no commit follows must not hold others up. */
  function limitReservation(): void {
    clearTimeout(reservation)
    if (!closed && file.isReserved()) reservation = setTimeout(() => inFlight(drain, file.release), RESERVE_MS)
  }

  port.on('message', (call: Call) => {
    inFlight(drain, () => answer(call))
    closed ||= call.operation === 'close'
    limitReservation()
    if (closed) port.close()
    else if (!file.isReserved()) inFlight(drain, file.keepShort)
  })
  port.postMessage({ id: 0, result: file.origin } satisfies Reply)
} catch (error) {
  port.postMessage({ id: 0, error: errorText(error) } satisfies Reply)
  port.close()
}
