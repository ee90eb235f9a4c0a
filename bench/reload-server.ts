import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { compilePolicy, createInspector, parseTrust, type Snapshot } from '@sallyport/core'
import { compileInWorker, type LoadedTables, loadTables, type ResolvedSource } from '@sallyport/datasets'
import { inspectionRequest } from '@sallyport/node'

/*
 * A server that answers with its decision, told over its channel: `{ sources, dataDir }` compiles and starts it,
 * `reload` compiles everything anew in a worker and swaps it in, `delay` asks for the longest turn of the event loop since
 * the last time. Run by reload.ts.
 */
interface Start {
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
}

export interface Reload {
  readonly milliseconds: number
  /** Milliseconds of processor time of the whole process meanwhile, requests included. */
  readonly processor: number
  /** Resident memory after. */
  readonly megabytes: number
}

process.once('message', (start: Start) => void serve(start))

async function serve(options: Start): Promise<void> {
  let snapshot = snapshotOf(loadTables((await compileInWorker(options)).shared))
  const inspector = createInspector({
    clock: { now: () => Date.now() },
    snapshots: { current: () => snapshot },
    trust: parseTrust(['loopback'], 'x-forwarded-for'),
    policy: compilePolicy({ preset: 'low-friction', rules: [] }),
    mode: 'enforce',
  })
  const server = createServer((request, response) => {
    const { action } = inspector.decide(inspectionRequest(request))
    response.setHeader('Content-Type', 'text/plain').end(action)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  process.on('message', async (message) => {
    if (message === 'reload') {
      const began = performance.now()
      const before = process.cpuUsage()
      const { shared } = await compileInWorker(options)
      snapshot = snapshotOf(loadTables(shared))
      const { user, system } = process.cpuUsage(before)
      const told: Reload = {
        milliseconds: performance.now() - began,
        processor: (user + system) / 1000,
        megabytes: process.memoryUsage().rss / 1e6,
      }
      process.send?.(told)
    } else {
      process.send?.({ p99: delays.percentile(99) / 1e6, max: delays.max / 1e6 })
      delays.reset()
    }
  })
  process.send?.({ port: (server.address() as AddressInfo).port })
}

function snapshotOf({ networks, systems, rangesLoaded, proxiesLoaded, sources }: LoadedTables): Snapshot {
  return {
    ...(networks === undefined ? {} : { networks }),
    ...(systems === undefined ? {} : { systems }),
    rangesLoaded,
    proxiesLoaded,
    sources,
  }
}
