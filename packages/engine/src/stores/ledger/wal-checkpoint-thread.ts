import { parentPort, workerData } from 'node:worker_threads'
import { connect } from '../sqlite/driver.ts'
import { makeDurable } from '../sqlite/open-database.ts'
import { inFlight, type ThreadInput } from './exit-drain.ts'
import { createWal } from './wal.ts'
import type { CheckpointOrder } from './wal-checkpointer.ts'

/* The thread that checkpoints a ledger's log while another writes it. Started by createWalCheckpointer. */

/** Pages written during one pass are copied in the next, until so few are left that the writer may do it. */
const FEW_PAGES = 100
const MAX_PASSES = 4

const port = parentPort
if (port === null) throw new Error('not a worker')

const { path, drain } = workerData as ThreadInput
const database = await inFlight(drain, () => connect(path, 0))
const wal = inFlight(drain, () => {
  makeDurable(database)
  return createWal(database)
})

function checkpoint(): void {
  try {
    for (let pass = 0; pass < MAX_PASSES && wal.pendingPages() >= FEW_PAGES; pass++) wal.checkpoint()
  } catch {
    // The writer gets the same error and keeps what is left.
  }
}

port.on('message', (order: CheckpointOrder) => {
  if (order === 'checkpoint') {
    inFlight(drain, checkpoint)
    port.postMessage('done')
    return
  }
  inFlight(drain, () => database.close())
  port.close()
})
