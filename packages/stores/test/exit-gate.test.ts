import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { closeGate, createExitGate, type ExitGate } from '../src/ledger/exit-gate.ts'
import { temporaryFolder } from './processes.ts'

/** A thread that is inside for `ms`; `steps[0]` is 1 while it is, and 2 when it was. */
async function startInside(t: Test, ms: number) {
  const gate: ExitGate = createExitGate()
  const steps = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(new URL('./exit-gate-thread.js', import.meta.url), { workerData: { gate, steps, ms } })
  t.teardown(() => thread.terminate())
  await once(thread, 'message')
  return { gate, steps }
}

t.test('a gate that closes waits for who is inside, and lets nobody in again', async (t) => {
  const { gate, steps } = await startInside(t, 300)
  t.equal(Atomics.load(steps, 0), 1)
  t.equal(closeGate(gate), true)
  t.equal(Atomics.load(steps, 0), 2, 'who was inside has come out')
  await delay(100)
  t.equal(Atomics.load(steps, 0), 2, 'and does not go in again')
  t.equal(closeGate(gate), true)
})

t.test('who does not come out is not waited for without end', async (t) => {
  const { gate } = await startInside(t, 1_000)
  t.equal(closeGate(gate, 50), false)
})

t.test('a process that exits while its ledger is written ends as it was told to', async (t) => {
  const exits = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const child = fork(join(import.meta.dirname, 'exiting-child.js'), [
        await temporaryFolder(t),
        `${400 + index * 120}`,
      ])
      return new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
    }),
  )
  t.same(exits, Array(6).fill([7, null]))
})
