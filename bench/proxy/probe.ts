import cluster, { Worker } from 'node:cluster'
import { EventEmitter } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded before the program (`--import`), with `--expose-gc`: at SIGUSR2 the process collects its garbage and writes a line of what it
 * holds. It is asked by a signal so that nothing of this is a connection, a descriptor or a timer of its own.
 */

/** Reports the memory of a process after its garbage is collected. */
export interface Sample {
  /** Counts the bytes of the heap, and of the heap with memory outside of it. */
  readonly heap: number
  readonly external: number
  readonly timers: number
  /** Handles that keep a process alive, by their kinds. */
  readonly resources: Readonly<Record<string, number>>
  /** Counts the listeners of the process itself. */
  readonly listeners: number
  /** Objects that can have listeners, without those that Node keeps of workers that are dead. */
  readonly emitters: number
}

/**
 * A worker that is killed while a connection is handed to it stays in a map of Node's own (internal/cluster/utils, `callbacks`), with its
 * process and its channel: no other code can remove it.
 */
const EMITTERS_OF_A_WORKER = 3

function keptByNode(): number {
  if (!cluster.isPrimary) return 0
  return (countObjects(Worker) - Object.keys(cluster.workers ?? {}).length) * EMITTERS_OF_A_WORKER
}

function countObjects(kind: Parameters<typeof queryObjects>[0]): number {
  return queryObjects(kind, { format: 'count' }) as unknown as number
}

function sample(): Sample {
  globalThis.gc?.()
  const { heapUsed: heap, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const names = [...process.eventNames()] as string[]
  return {
    heap,
    external,
    resources,
    timers: resources['Timeout'] ?? 0,
    listeners: names.reduce((sum, name) => sum + process.listenerCount(name), 0),
    emitters: countObjects(EventEmitter) - keptByNode(),
  }
}

const folder = process.env['BENCH_PROBES']
if (isMainThread && folder !== undefined) {
  process.on('SIGUSR2', () => appendFileSync(join(folder, String(process.pid)), `${JSON.stringify(sample())}\n`))
}
