import { parentPort, workerData } from 'node:worker_threads'
import { inside, insideUntil } from '../src/ledger/exit-gate.ts'

/* A thread that is inside the gate for a while, twice if it may. `steps` counts where it has been. */
const { gate, steps, ms } = workerData
const pause = () => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const step = () => void Atomics.add(steps, 0, 1)

await insideUntil(gate, async () => {
  step()
  parentPort?.postMessage('inside')
  pause()
  step()
})
inside(gate, step)
