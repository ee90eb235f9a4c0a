import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { scratch } from './fault/scratch.ts'
import { fullSources } from './full-tables.ts'
import type { Reload, Turns } from './reload-server.ts'
import { type Figure, type Goal, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'
import { visitorAddresses } from './visitors.ts'

const CONNECTIONS = 16
const QUIET_MS = 5_000
const RELOADS = 5

/**
 * All sources but the city databases, with lists of full size, compiled and swapped in a server that answers meanwhile:
 * how long that takes, and how long requests take with and without. On Linux the server has one processor.
 */
export async function benchReload(run: Run): Promise<void> {
  await scratch(async (dataDir) => {
    const pinned = process.platform === 'linux'
    const child = fork(join(import.meta.dirname, 'reload-server.js'), {
      ...(pinned ? { execPath: 'taskset', execArgv: ['--cpu-list', '0', process.execPath] } : {}),
    })
    try {
      const sources = await fullSources(dataDir, run.pick(1, 0.02))
      child.send({ dataDir, sources })
      const [{ port }] = (await once(child, 'message')) as [{ port: number }]
      const load = startLoad(port)
      await delay(run.pick(1_000, 100))
      await takeTurns(child)
      load.take()
      await delay(run.pick(QUIET_MS, 200))
      const quietTurns = await takeTurns(child)
      const quiet = load.take()
      const reloads: Reload[] = []
      const count = run.pick(RELOADS, 1)
      for (let round = 0; round < count; round++) {
        run.step(`reload ${round + 1} of ${count}`)
        child.send('reload')
        const [told] = (await once(child, 'message')) as [Reload]
        reloads.push(told)
      }
      const busy = load.take()
      const busyTurns = await takeTurns(child)
      await load.stop()
      const title = `${count} reloads of all sources but the city databases${pinned ? ', one processor' : ''}`
      const perRequest = quietTurns.processor / quietTurns.requests
      run.table({ title, figures: reloadFigures(reloads, perRequest) })
      run.table({
        title: 'Requests meanwhile',
        figures: [
          ...waitFigures('without a reload', quiet, quietTurns),
          ...waitFigures('while reloading', busy, busyTurns, { atMost: 10 }),
        ],
      })
    } finally {
      child.kill()
    }
  })
}

function reloadFigures(reloads: readonly Reload[], perRequest: number): readonly Figure[] {
  const of = (read: (reload: Reload) => number) => spreadOf(reloads.map(read))
  const one = { what: '', case: '' }
  return [
    { ...one, case: 'from the beginning to the swap', unit: 'ms', value: of(({ milliseconds }) => milliseconds) },
    { ...one, case: 'processor time, requests included', unit: 'ms', value: of(({ processor }) => processor) },
    {
      ...{ ...one, case: 'processor time without the requests', unit: 'ms', goal: { atMost: 2_000 } },
      value: of(({ processor, requests }) => processor - requests * perRequest),
    },
    { ...one, case: 'resident after', unit: 'MB', value: of(({ megabytes }) => megabytes) },
    { ...one, case: 'resident at the most', unit: 'MB', value: { median: reloads.at(-1)?.peak ?? 0, runs: 1 } },
  ]
}

function waitFigures(name: string, times: readonly number[], turns: Turns, goal?: Goal): readonly Figure[] {
  const once = (median: number) => ({ median, runs: 1 })
  return [
    { case: name, what: 'median', unit: 'ms', value: once(quantile(times, 0.5)) },
    { case: name, what: 'p99', unit: 'ms', value: once(quantile(times, 0.99)), ...(goal && { goal }) },
    { case: name, what: 'p99.9', unit: 'ms', value: once(quantile(times, 0.999)) },
    { case: name, what: 'longest turn of the loop', unit: 'ms', value: once(turns.max) },
  ]
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

/** The turns of the server's event loop since it was asked last, and what they took. */
async function takeTurns(child: ChildProcess): Promise<Turns> {
  child.send('turns')
  const [told] = (await once(child, 'message')) as [Turns]
  return told
}
