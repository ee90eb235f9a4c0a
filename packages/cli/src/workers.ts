import cluster, { type Worker } from 'node:cluster'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { ExitError } from './exit.ts'
import { untilStopped } from './stop.ts'
import type { Terminal } from './terminal.ts'
import { questionRelay } from './worker-questions.ts'

/** Back-off before a dead worker is replaced; it doubles until one has lived for `STEADY_MS`. */
const RESTART_MS = { first: 100, max: 10_000 }
const STEADY_MS = 10_000

const READY = 'ready'

/** Whether this process is one of several workers. */
export function isWorker(): boolean {
  return cluster.isWorker
}

/** Whether this process prints for all: a single process, or the first worker. */
export function isLeader(): boolean {
  return cluster.worker === undefined || cluster.worker.id === 1
}

/** Reports to the primary that this worker serves. */
export function workerIsReady(): void {
  process.send?.(READY)
}

/** Disconnects a worker, so that it can exit. */
export function leavePrimary(): void {
  cluster.worker?.disconnect()
}

/**
 * Runs this command line in `count` worker processes that share their listeners, until the first SIGINT or SIGTERM. The
 * first worker starts alone, compiles the data and prints; if it cannot start, the command ends with its exit code. A
 * worker that dies later is replaced.
 */
export async function runWorkers(count: number, terminal: Terminal): Promise<void> {
  const stopped = untilStopped(terminal)
  let stopping = false
  const workers = new Set<Worker>()
  const ready = new Set<Worker>()
  const relay = questionRelay()
  // A worker that does not listen to the signal yet would end by it; it is asked as soon as it serves.
  let asked = 0
  process.on('SIGHUP', () => {
    asked++
    for (const worker of ready) worker.process.kill('SIGHUP')
  })

  function start(): Worker {
    const worker = cluster.fork()
    const before = asked
    workers.add(worker)
    worker.on('message', (message) => {
      if (message !== READY) return
      relay(worker)
      ready.add(worker)
      if (asked > before) worker.process.kill('SIGHUP')
    })
    worker.once('exit', () => {
      workers.delete(worker)
      ready.delete(worker)
    })
    return worker
  }

  async function keepAlive(worker: Worker): Promise<void> {
    for (let pause = RESTART_MS.first, current = worker; ; current = start()) {
      const startedAt = performance.now()
      const [code, signal] = await once(current, 'exit')
      if (stopping) return
      if (performance.now() - startedAt > STEADY_MS) pause = RESTART_MS.first
      terminal.err(`sallyport: worker ${current.process.pid} ended (${signal ?? `exit ${code}`}); starting another.`)
      await delay(pause)
      if (stopping) return
      pause = Math.min(pause * 2, RESTART_MS.max)
    }
  }

  const first = start()
  const code = await Promise.race([readyOf(first), exitOf(first), stopped.then(() => 0)])
  if (code !== undefined && workers.size === 0) throw new ExitError(code)
  const kept = [first, ...Array.from({ length: count - 1 }, start)].map(keepAlive)
  const signal = await stopped
  stopping = true
  terminal.err('Finishing what is in flight; once more to stop now.')
  const ended = Promise.all([...workers].map((worker) => once(worker, 'exit')))
  for (const worker of workers) worker.process.kill(signal)
  await ended
  await Promise.all(kept)
}

function readyOf(worker: Worker): Promise<undefined> {
  return new Promise((resolve) => worker.on('message', (message) => message === READY && resolve(undefined)))
}

async function exitOf(worker: Worker): Promise<number> {
  const [code] = await once(worker, 'exit')
  return Number(code ?? 1)
}
