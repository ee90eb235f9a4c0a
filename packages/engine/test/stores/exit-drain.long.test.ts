import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { createExitDrain, drainCalls, type ExitDrain } from '../../src/stores/ledger/exit-drain.ts'
import { temporaryFolder } from './processes.ts'

/** So many processes exit; `npm run fault` has more of them. */
const EXITS = process.env['TEST_LENGTH'] === 'full' ? 6 : 2

/** Starts a thread whose call ends `ms` after the drain began; `steps[0]` is 1 while it is in flight, and 2 when it has ended. */
async function startCall(t: Test, ms: number) {
  const drain: ExitDrain = createExitDrain()
  const steps = new Int32Array(new SharedArrayBuffer(4))
  const thread = new Worker(new URL('./exit-drain-thread.js', import.meta.url), { workerData: { drain, steps, ms } })
  t.teardown(() => thread.terminate())
  await once(thread, 'message')
  return { drain, steps }
}

t.test('a drain waits for the call in flight and lets none begin', async (t) => {
  const { drain, steps } = await startCall(t, 50)
  t.equal(Atomics.load(steps, 0), 1)
  t.equal(drainCalls(drain), true)
  t.equal(Atomics.load(steps, 0), 2, 'the call has ended')
  await delay(100)
  t.equal(Atomics.load(steps, 0), 2, 'and no other has begun')
  t.equal(drainCalls(drain), true)
})

t.test('a call that does not end is not waited for without end', async (t) => {
  const { drain } = await startCall(t, 60_000)
  t.equal(drainCalls(drain, 50), false)
})

t.test('a process that exits while its ledger is written ends with its own exit code', async (t) => {
  const exits = await Promise.all(
    Array.from({ length: EXITS }, async (_, index) => {
      const child = fork(join(import.meta.dirname, 'exiting-child.js'), [
        await temporaryFolder(t),
        `${400 + index * 120}`,
      ])
      return new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
    }),
  )
  t.same(exits, Array(EXITS).fill([7, null]))
})
