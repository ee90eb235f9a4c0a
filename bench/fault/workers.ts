import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { childrenOf } from '../proxy/processes.ts'
import { type Sallyport, startSallyport } from '../proxy/sallyport.ts'
import { NO_DATA } from './gate.ts'
import { startChild } from './proxy/child.ts'
import { scratch } from './scratch.ts'

const WORKERS = 3
const DRAIN_S = 2
/** Until one that is killed has been replaced, beside other work on the machine. */
const REPLACED_S = 30
/** A hang is waited for; then one that hangs is replaced. */
const HANG_REPLACED_S = 90
/** Longer than a hang is waited for. */
const SLEEP_S = numberFlag('sleep-seconds', 30)
const DEATHS = numberFlag('deaths', 20)

/** Workers are killed, cannot start, hang, and sleep with the whole machine. */
export function faultWorkers(): Promise<Measured> {
  return scratch(async (folder, { teardown }) => {
    const origin = await startChild<number>('origin.js')
    teardown(() => origin.stop())
    const proxy = await startSallyport({
      folder,
      dataDir: join(folder, 'data'),
      upstream: `http://127.0.0.1:${origin.ready}`,
      workers: WORKERS,
      raised: { data: { refresh: false, sources: NO_DATA }, timeouts: { drain: `${DRAIN_S}s` } },
    })
    teardown(() => {
      if (proxy.running()) for (const pid of [proxy.pid, ...childrenOf(proxy.pid)]) process.kill(pid, 'SIGKILL')
    })
    const seen = watchCounts(proxy)
    const broken: string[] = []
    const need = async (what: string, seconds: number, holds: () => Promise<boolean> | boolean): Promise<number> => {
      const began = performance.now()
      while (!(await holds())) {
        if (performance.now() - began > seconds * 1_000) {
          broken.push(`not within ${seconds} s: ${what}`)
          break
        }
        await delay(50)
      }
      return (performance.now() - began) / 1_000
    }
    const whole = async () => {
      const { serving, silent } = await workersOf(proxy)
      return serving === WORKERS && silent === 0
    }
    const ended = (pid: number) => () => proxy.said().includes(`worker ${pid} ended`)
    await need('all workers serve', REPLACED_S, whole)

    const slowest = await deaths(proxy, need, { whole, ended })
    const faulty = await faultyFile(proxy, need, { whole, ended })
    const [hanging = 0] = childrenOf(proxy.pid)
    process.kill(hanging, 'SIGSTOP')
    const seenIn = await need('/readyz sees a worker that hangs', REPLACED_S, async () => {
      return (await workersOf(proxy)).silent === 1
    })
    const replacedIn = seenIn + (await need('one that hangs is killed', HANG_REPLACED_S, ended(hanging)))
    await need('all serve after a hang', REPLACED_S, whole)

    const family = [proxy.pid, ...childrenOf(proxy.pid)]
    for (const pid of family) process.kill(pid, 'SIGSTOP')
    await delay(SLEEP_S * 1_000)
    for (const pid of family.toReversed()) process.kill(pid, 'SIGCONT')
    await need('all serve after a sleep', REPLACED_S, whole)
    const awake = [proxy.pid, ...childrenOf(proxy.pid)]
    if (String(awake) !== String(family)) broken.push('a sleep of all processes was taken for a hang')

    const { falls, scrapes } = await seen.stop()
    if (falls.length > 0) broken.push(`counters fell: ${falls.slice(0, 3).join(', ')}`)
    const [last = 0] = childrenOf(proxy.pid)
    process.kill(last, 'SIGSTOP')
    const began = performance.now()
    process.kill(proxy.pid, 'SIGTERM')
    await need('SIGTERM ends all, one that hangs too', DRAIN_S + 10, () => !proxy.running())
    const stopped = (performance.now() - began) / 1_000
    return {
      measured: `${DEATHS} deaths, the slowest replaced in ${slowest.toFixed(1)} s; served under a faulty file in ${faulty.toFixed(1)} s; a hang seen in ${seenIn.toFixed(1)} s and ended in ${replacedIn.toFixed(1)} s; a sleep of ${SLEEP_S} s: the same ${family.length} processes; ${scrapes} scrapes, no counter fell; SIGTERM with one that hangs: ${stopped.toFixed(1)} s`,
      broken,
    }
  })
}

type Need = (what: string, seconds: number, holds: () => Promise<boolean> | boolean) => Promise<number>

interface Looks {
  whole(): Promise<boolean>
  ended(pid: number): () => boolean
}

/** Kills who leads, again and again; each time a reload is said once. Gives the slowest replacement, seconds. */
async function deaths(proxy: Sallyport, need: Need, { whole, ended }: Looks): Promise<number> {
  let slowest = 0
  for (let death = 1; death <= DEATHS; death++) {
    const [leader = 0] = childrenOf(proxy.pid)
    process.kill(leader, 'SIGKILL')
    await need('a death is said', REPLACED_S, ended(leader))
    slowest = Math.max(slowest, await need('one that died is replaced', REPLACED_S, whole))
    process.kill(proxy.pid, 'SIGHUP')
    const said = () => proxy.said().split('configuration read again').length - 1
    await need('a reload is said, by one', REPLACED_S, () => said() === death)
  }
  return slowest
}

/** Kills all under a file that cannot be read; gives how long the gate was down, seconds. */
async function faultyFile(proxy: Sallyport, need: Need, { whole, ended }: Looks): Promise<number> {
  const right = readFileSync(proxy.file)
  writeFileSync(proxy.file, '{ "mode": "loud", ')
  const all = childrenOf(proxy.pid)
  for (const pid of all) process.kill(pid, 'SIGKILL')
  const down = await need('all deaths are said', REPLACED_S, () => all.every((pid) => ended(pid)()))
  const up = await need('they serve with what was in force', REPLACED_S, whole)
  writeFileSync(proxy.file, right)
  return down + up
}

async function workersOf(
  proxy: Sallyport,
): Promise<{ readonly serving?: number | undefined; readonly silent?: number | undefined }> {
  const body = await bodyOf(`${proxy.admin}/readyz`)
  return body === undefined ? {} : (JSON.parse(body).workers ?? {})
}

/** Visits and scrapes until stopped; a counter that is less than before is a fall. */
function watchCounts(proxy: Sallyport) {
  const last = new Map<string, number>()
  const falls: string[] = []
  let scrapes = 0
  const stopping = new AbortController()
  const running = (async () => {
    while (!stopping.signal.aborted) {
      await bodyOf(proxy.url)
      const scraped = await bodyOf(`${proxy.admin}/metrics`)
      const counters = countersIn(scraped ?? '')
      for (const [name, value] of counters) {
        const before = last.get(name) ?? 0
        if (value < before) falls.push(`${name} ${before} to ${value}`)
        last.set(name, value)
      }
      if (scraped !== undefined) {
        scrapes++
        for (const name of last.keys()) if (!counters.has(name)) falls.push(`${name} is gone`)
      }
      await delay(50)
    }
  })()
  return {
    async stop() {
      stopping.abort()
      await running
      return { falls, scrapes }
    },
  }
}

/** By name and labels; some gauges of Node have names of counters. */
function countersIn(scraped: string): ReadonlyMap<string, number> {
  const counters = new Map<string, number>()
  let isCounted = false
  for (const line of scraped.split('\n')) {
    if (line.startsWith('# TYPE ')) isCounted = !line.endsWith(' gauge')
    const space = line.lastIndexOf(' ')
    if (isCounted && space > 0 && !line.startsWith('#')) counters.set(line.slice(0, space), Number(line.slice(space)))
  }
  return counters
}

/** Over a connection of its own; `undefined` where no answer comes in time, or none with 200. */
async function bodyOf(url: string): Promise<string | undefined> {
  const sent = request(url, { agent: false, signal: AbortSignal.timeout(2_000) }).end()
  try {
    const [response] = await once(sent, 'response')
    const body = await text(response)
    return response.statusCode === 200 ? body : undefined
  } catch {
    return undefined
  }
}
