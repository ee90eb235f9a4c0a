import { EventEmitter } from 'node:events'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { queryObjects } from 'node:v8'
import { isMainThread } from 'node:worker_threads'

/*
 * Loaded before the program (`--import`), with `--expose-gc`: at SIGUSR2 the process collects its garbage and writes a line of what it
 * holds. It is asked by a signal so that nothing of this is a connection, a descriptor or a timer of its own.
 */

/** What a process holds once its garbage is collected. */
export interface Sample {
  /** Bytes of the heap, and with what is outside of it. */
  readonly heap: number
  readonly external: number
  readonly timers: number
  /** Handles that keep a process alive, by their kinds. */
  readonly resources: Readonly<Record<string, number>>
  /** Listeners on the process itself. */
  readonly listeners: number
  /** Objects that can have listeners. */
  readonly emitters: number
}

function sample(): Sample {
  globalThis.gc?.()
  const { heapUsed: heap, external } = process.memoryUsage()
  const resources: Record<string, number> = {}
  for (const kind of process.getActiveResourcesInfo()) resources[kind] = (resources[kind] ?? 0) + 1
  const names = [...process.eventNames()] as string[]
  return {
    ...{ heap, external, resources, timers: resources['Timeout'] ?? 0 },
    listeners: names.reduce((sum, name) => sum + process.listenerCount(name), 0),
    emitters: queryObjects(EventEmitter, { format: 'count' }) as unknown as number,
  }
}

const folder = process.env['SOAK_PROBES']
if (isMainThread && folder !== undefined) {
  process.on('SIGUSR2', () => appendFileSync(join(folder, String(process.pid)), `${JSON.stringify(sample())}\n`))
}
