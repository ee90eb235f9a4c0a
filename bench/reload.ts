import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, createServer, get } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { compilePolicy, createInspector, parseTrust, type Snapshot } from '@sallyport/core'
import { compileInWorker, type LoadedTables, loadTables, type ResolvedSource } from '@sallyport/engine'
import { receive } from '@sallyport/node/internal'
import { fullSources } from './full-tables.ts'
import { computeSpread, type Figure, type Goal, makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'
import { scratch } from './scratch.ts'
import { visitorAddresses } from './visitors.ts'

/* A server that reloads while it answers. As a process of its own this file is that server. */

const CONNECTIONS = 16
const QUIET_MS = 5_000
const RELOADS = 5

/** Reports an action of the server, or the time since the last report. */
interface Turn {
  readonly milliseconds: number
  /** The whole process took this many milliseconds of processor time and answered this many requests meanwhile. */
  readonly processor: number
  readonly requests: number
  /** The longest turn of the event loop took this many milliseconds. */
  readonly longest: number
}

/**
 * All sources but the city databases, with lists of full size, compiled and swapped in a server that answers meanwhile:
 * how long that takes, and how long requests take with and without. On Linux the server has one processor.
 */
export async function benchReload(run: Run): Promise<void> {
  await scratch(async (dataDir) => {
    const pinned = process.platform === 'linux'
    const child = fork(import.meta.filename, ['serve'], {
      ...(pinned ? { execPath: 'taskset', execArgv: ['--cpu-list', '0', process.execPath] } : {}),
    })
    try {
      child.send({ dataDir, sources: await fullSources(dataDir, run.pick(1, 0.02)) } satisfies Options)
      const load = startLoad(await ask<number>(child))
      await delay(run.pick(1_000, 100))
      await ask<Turn>(child, 'nothing')
      load.take()
      await delay(run.pick(QUIET_MS, 200))
      const without = await ask<Turn>(child, 'nothing')
      const quiet = load.take()
      const reloads: Turn[] = []
      const count = run.pick(RELOADS, 1)
      for (let round = 1; round <= count; round++) {
        run.step(`reload ${round} of ${count}`)
        reloads.push(await ask<Turn>(child, 'reload'))
      }
      const busy = load.take()
      await load.stop()
      const title = `${count} reloads of all sources but the city databases${pinned ? ', one processor' : ''}`
      run.table({ title, figures: reloadFigures(reloads, without.processor / without.requests) })
      const longest = Math.max(...reloads.map((reload) => reload.longest))
      const figures = [
        ...waitFigures('without a reload', quiet, without.longest),
        ...waitFigures('while reloading', busy, longest, { atMost: 10 }),
      ]
      run.table({ title: 'Requests meanwhile', figures })
    } finally {
      child.kill()
    }
  })
}

async function ask<Told>(child: ChildProcess, what?: string): Promise<Told> {
  const told = once(child, 'message')
  if (what !== undefined) child.send(what)
  return (await told)[0] as Told
}

function reloadFigures(reloads: readonly Turn[], perRequest: number): readonly Figure[] {
  const row = (name: string, unit: string, read: (reload: Turn) => number, goal?: Goal) =>
    makeFigure(name, '', unit, computeSpread(reloads.map(read)), goal)
  const own = ({ processor, requests }: Turn) => processor - requests * perRequest
  return [
    row('from the beginning to the swap', 'ms', ({ milliseconds }) => milliseconds),
    row('processor time without the requests', 'ms', own, { atMost: 2_000 }),
  ]
}

function waitFigures(name: string, times: readonly number[], longest: number, goal?: Goal): readonly Figure[] {
  const row = (what: string, median: number, goal?: Goal) => makeFigure(name, what, 'ms', { median, runs: 1 }, goal)
  return [
    row('median', quantile(times, 0.5)),
    row('p99', quantile(times, 0.99), goal),
    row('longest turn of the loop', longest),
  ]
}

/** Sends requests over kept connections with short pauses, and returns their milliseconds. */
function startLoad(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const visitors = visitorAddresses(2_000)
  let times: number[] = []
  let sent = 0
  let going = true
  const visit = () =>
    new Promise<void>((resolve, reject) => {
      const began = performance.now()
      const headers = { 'X-Forwarded-For': visitors[sent++ % visitors.length] }
      get({ port, host: '127.0.0.1', agent, headers }, (response) => {
        response.resume().once('end', () => {
          times.push(performance.now() - began)
          resolve()
        })
      }).once('error', reject)
    })
  const lanes = Array.from({ length: CONNECTIONS }, async () => {
    while (going) {
      await visit()
      await delay(5)
    }
  })
  return {
    take() {
      const taken = times
      times = []
      return taken
    },
    async stop() {
      going = false
      await Promise.all(lanes)
      agent.destroy()
    },
  }
}

interface Options {
  readonly dataDir: string
  readonly sources: readonly ResolvedSource[]
}

/** Says its port, then after each message what has happened since the last one; `reload` compiles everything again in a worker first. */
async function serve(options: Options): Promise<void> {
  const load = async () => joinSnapshot(loadTables((await compileInWorker(options)).shared))
  let snapshot = await load()
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
    const { action } = inspector.decide(receive({}, request).head)
    response.setHeader('Content-Type', 'text/plain').end(action)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const delays = monitorEventLoopDelay({ resolution: 1 })
  delays.enable()
  let last = { at: performance.now(), usage: process.cpuUsage() }
  process.on('message', async (message) => {
    if (message === 'reload') snapshot = await load()
    const { user, system } = process.cpuUsage(last.usage)
    process.send?.({
      milliseconds: performance.now() - last.at,
      processor: (user + system) / 1000,
      requests,
      longest: delays.max / 1e6,
    } satisfies Turn)
    delays.reset()
    requests = 0
    last = { at: performance.now(), usage: process.cpuUsage() }
  })
  process.send?.((server.address() as AddressInfo).port)
}

function joinSnapshot({ networks, systems, rangesLoaded, proxiesLoaded, sources }: LoadedTables): Snapshot {
  return { ...(networks && { networks }), ...(systems && { systems }), rangesLoaded, proxiesLoaded, sources }
}

if (process.argv[2] === 'serve') {
  const [options] = (await once(process, 'message')) as [Options]
  await serve(options)
}
