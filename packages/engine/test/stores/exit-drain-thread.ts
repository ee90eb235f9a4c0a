import { parentPort, workerData } from 'node:worker_threads'
import { inFlight } from '../../src/stores/ledger/exit-drain.ts'

/* A thread with a call in flight for a while, and then a second one. `steps` counts what it did. */
const { drain, steps, ms } = workerData
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const step = () => void Atomics.add(steps, 0, 1)

await inFlight(drain, async () => {
  step()
  parentPort?.postMessage('inside')
  pause()
  step()
})
inFlight(drain, step)
