import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { Agent, get } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fullSources } from './full-tables.ts'
import type { Reload, Turns } from './reload-server.ts'
import { median } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const CONNECTIONS = 16
const QUIET_MS = 5_000
const RELOADS = 5

/**
 * All sources but the city databases, with lists of full size, compiled and swapped in a server that answers meanwhile:
 * how long that takes, and how long requests take with and without. On Linux the server has one processor.
 */
export async function benchReload(): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-bench-'))
  const pinned = process.platform === 'linux'
  const child = fork(join(import.meta.dirname, 'reload-server.js'), {
    ...(pinned ? { execPath: 'taskset', execArgv: ['--cpu-list', '0', process.execPath] } : {}),
  })
  try {
    child.send({ dataDir, sources: await fullSources(dataDir) })
    const [{ port }] = (await once(child, 'message')) as [{ port: number }]
    const load = startLoad(port)
    await delay(1_000)
    await takeTurns(child)
    load.take()
    await delay(QUIET_MS)
    const quietTurns = await takeTurns(child)
    const quiet = { ...summary(load.take()), ...shown(quietTurns) }
    const reloads: Reload[] = []
    for (let round = 0; round < RELOADS; round++) {
      child.send('reload')
      const [told] = (await once(child, 'message')) as [Reload]
      reloads.push(told)
    }
    const reloading = { ...summary(load.take()), ...shown(await takeTurns(child)) }
    await load.stop()
    const perRequest = quietTurns.processor / quietTurns.requests
    const told = (name: string, read: (reload: Reload) => number) => {
      const values = reloads.map(read)
      console.log(`${name}: median ${median(values).toFixed(0)}, largest ${Math.max(...values).toFixed(0)}`)
    }
    console.log(`\n${RELOADS} reloads of all sources but the city databases${pinned ? ', one processor' : ''}`)
    told('ms from the beginning to the swap', ({ milliseconds }) => milliseconds)
    told('ms of processor time, requests included', ({ processor }) => processor)
    told(
      `ms of processor time without the requests, ${(perRequest * 1000).toFixed(0)} µs for each of them as before`,
      ({ processor, requests }) => processor - requests * perRequest,
    )
    console.log(`MB resident after each: ${reloads.map(({ megabytes }) => megabytes.toFixed(0)).join(', ')}`)
    console.log(`MB resident at the most: ${reloads.at(-1)?.peak.toFixed(0)}`)
    console.table({ 'without a reload': quiet, 'while reloading': reloading })
  } finally {
    child.kill()
    await rm(dataDir, { recursive: true })
  }
}

/** Requests over kept connections with short pauses between them; what they took, in milliseconds. */
function startLoad(port: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const visitors = visitorAddresses(2_000)
  let times: number[] = []
  let sent = 0
  let going = true
  const ask = () =>
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
      await ask()
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

function summary(times: readonly number[]) {
  const sorted = times.toSorted((x, y) => x - y)
  const at = (share: number) => Number((sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(2))
  return { requests: times.length, 'p50 ms': at(0.5), 'p99 ms': at(0.99), 'p99.9 ms': at(0.999) }
}

/** The turns of the server's event loop since it was asked last, and what they took. */
async function takeTurns(child: ChildProcess): Promise<Turns> {
  child.send('turns')
  const [told] = (await once(child, 'message')) as [Turns]
  return told
}

function shown({ p99, max }: Turns) {
  return { 'turn p99 ms': Number(p99.toFixed(1)), 'longest turn ms': Number(max.toFixed(1)) }
}
