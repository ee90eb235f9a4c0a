import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import t from 'tap'
import { createExitDrain, drainCalls, inFlight } from '../../src/stores/ledger/exit-drain.ts'
import { temporaryFolder } from './processes.ts'

/** So many processes exit; `npm run fault` has more of them. */
const EXITS = process.env['TEST_LENGTH'] === 'full' ? 6 : 2

/** Runs a call that ends a while after the drain began, and then a second one. `steps` counts the calls that ended. */
const CALLS = `const { parentPort, workerData } = require('node:worker_threads')
  const { drain, steps, url } = workerData
  const { inFlight } = await import(url)
  inFlight(drain, () => {
    parentPort.postMessage('inside')
    while (Atomics.load(drain, 0) === 0);
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50)
    Atomics.add(steps, 0, 1)
  })
  inFlight(drain, () => Atomics.add(steps, 0, 1))`

t.test('a drain waits for the call in flight and lets none begin', async (t) => {
  const [drain, steps] = [createExitDrain(), new Int32Array(new SharedArrayBuffer(4))]
  const url = new URL('../../src/stores/ledger/exit-drain.js', import.meta.url).href
  const thread = new Worker(`(async () => {${CALLS}})()`, { eval: true, workerData: { drain, steps, url } })
  t.teardown(() => thread.terminate())
  await once(thread, 'message')
  t.equal(drainCalls(drain), true)
  t.equal(Atomics.load(steps, 0), 1, 'the call has ended')
  await delay(100)
  t.equal(Atomics.load(steps, 0), 1, 'and no other has begun')
})

t.test('a call that does not end is not waited for without end', async (t) => {
  const drain = createExitDrain()
  void inFlight(drain, () => new Promise(() => {}))
  t.equal(drainCalls(drain, 50), false)
})

t.test('a process that exits while its ledger is written ends with its own exit code', async (t) => {
  const exits = await Promise.all(
    Array.from({ length: EXITS }, async (_, index) => {
      const args = [await temporaryFolder(t), `${400 + index * 120}`]
      const child = fork(join(import.meta.dirname, 'exiting-child.js'), args)
      return new Promise((resolve) => child.once('exit', (code, signal) => resolve([code, signal])))
    }),
  )
  t.same(exits, Array(EXITS).fill([7, null]))
})
