import { parentPort, workerData } from 'node:worker_threads'
import { connect } from '../driver.ts'
import { makeDurable } from '../open-database.ts'
import { inside, insideUntil } from './exit-gate.ts'
import type { FoldInput, FoldOrder } from './log-folder.ts'
import { createWriteAheadLog } from './write-ahead-log.ts'

/* The thread that folds a ledger's log while another writes it. Started by createLogFolder. */

/** What is written during a pass is folded in the next, until so few pages are left that the writer may do it. */
const FEW_PAGES = 100
const MOST_PASSES = 4

const port = parentPort
if (port === null) throw new Error('not a worker')

const { path, gate } = workerData as FoldInput
const database = await insideUntil(gate, () => connect(path, 0))
const log = inside(gate, () => {
  makeDurable(database)
  return createWriteAheadLog(database)
})

function fold(): void {
  try {
    for (let pass = 0; pass < MOST_PASSES && log.unfolded() >= FEW_PAGES; pass++) log.fold()
  } catch {
    // The writer meets the same.
  }
}

port.on('message', (order: FoldOrder) => {
  if (order === 'fold') {
    inside(gate, fold)
    port.postMessage('folded')
    return
  }
  inside(gate, () => database.close())
  port.close()
})
