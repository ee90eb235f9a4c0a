import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { compilePolicy, createInspector, parseTrust, type Snapshot } from '@sallyport/core'
import { compileInWorker, type LoadedTables, loadTables, type ResolvedSource } from '@sallyport/datasets'
import { inspectionRequest } from '@sallyport/node/internal'

/*
 * A server that answers with its decision, told over its channel: `{ sources, dataDir }` compiles and starts it,
 * `reload` compiles everything again in a worker and swaps it in, `turns` asks for the turns of the event loop and the
 * processor time since the last time. Run by reload.ts.
 */
interface Start {
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
}

export interface Reload {
  readonly milliseconds: number
  /** Milliseconds of processor time of the whole process meanwhile, requests included. */
  readonly processor: number
  /** Requests that were answered meanwhile. */
  readonly requests: number
  /** Resident memory after, and the largest that it has ever been. */
  readonly megabytes: number
  readonly peak: number
}

export interface Turns {
  readonly p99: number
  readonly max: number
  /** Milliseconds of processor time of the whole process, and the requests that were answered. */
  readonly processor: number
  readonly requests: number
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
  let requests = 0
  const server = createServer((request, response) => {
    requests++
    const { action } = inspector.decide(inspectionRequest({}, request))
    response.setHeader('Content-Type', 'text/plain').end(action)
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  /** Processor time and requests from now on. */
  const account = () => {
    const before = { usage: process.cpuUsage(), requests }
    return () => {
      const { user, system } = process.cpuUsage(before.usage)
      return { processor: (user + system) / 1000, requests: requests - before.requests }
    }
  }
  let sinceLast = account()
  process.on('message', async (message) => {
    if (message === 'reload') {
      const began = performance.now()
      const taken = account()
      const { shared } = await compileInWorker(options)
      snapshot = snapshotOf(loadTables(shared))
      const told: Reload = {
        milliseconds: performance.now() - began,
        ...taken(),
        megabytes: process.memoryUsage().rss / 1e6,
        peak: process.resourceUsage().maxRSS / 1e3,
      }
      process.send?.(told)
    } else {
      const told: Turns = { p99: delays.percentile(99) / 1e6, max: delays.max / 1e6, ...sinceLast() }
      process.send?.(told)
      delays.reset()
      sinceLast = account()
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
