import { parentPort, workerData } from 'node:worker_threads'
import { type ExitDrain, inFlight } from '../../src/stores/ledger/exit-drain.ts'

/* A thread with a call in flight until a while after the drain began, and then a second one. `steps` counts what it did. */
const { drain, steps, ms }: { drain: ExitDrain; steps: Int32Array<SharedArrayBuffer>; ms: number } = workerData
const wait = (ms: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
const step = () => void Atomics.add(steps, 0, 1)

await inFlight(drain, async () => {
  step()
  parentPort?.postMessage('inside')
  while (Atomics.load(drain, 0) === 0) wait(1)
  wait(ms)
  step()
})
inFlight(drain, step)
