import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { median } from './rounds.ts'

/** Short, so that both of a pair meet the same machine. */
const SHOT_SECONDS = 1
const CONNECTIONS = 32

/** Shots of each before any is counted: until then much of the processor time is that of the compiler. */
const WARM_UP = 6

/** A server, and the process it is in. */
export interface App {
  readonly child: ChildProcess
  readonly url: string
}

export interface Shot {
  readonly requestsPerSecond: number
  /** Microseconds of processor time of the server for one request: noise of the machine moves it least. */
  readonly cpu: number
}

/** Starts a program of this folder that calls `report`; the servers in its process. */
export async function startApps(program: string, ...args: readonly string[]): Promise<readonly App[]> {
  const child = fork(join(import.meta.dirname, program), args)
  const [ports] = (await once(child, 'message')) as [readonly number[]]
  return ports.map((port) => ({ child, url: `http://127.0.0.1:${port}` }))
}

/** What a started program answers with: sends its ports, and its processor time (microseconds) whenever it is asked. */
export function report(...ports: readonly number[]): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.(ports)
}

/** Shots of two servers in turn, `rounds` pairs after a warm-up; their processes are ended. */
export async function shootPairs(
  [first, second]: readonly [App, App],
  requests: readonly object[],
  rounds: number,
): Promise<readonly (readonly [Shot, Shot])[]> {
  const pairs: (readonly [Shot, Shot])[] = []
  try {
    for (let round = 0; round < WARM_UP; round++) for (const app of [first, second]) await shoot(app, requests)
    for (let round = 0; round < rounds; round++) {
      if (round % 2 === 0) pairs.push([await shoot(first, requests), await shoot(second, requests)])
      else {
        const ofSecond = await shoot(second, requests)
        pairs.push([await shoot(first, requests), ofSecond])
      }
    }
  } finally {
    first.child.kill()
    second.child.kill()
  }
  return pairs
}

/** The median over pairs, with the middle half of them: a shared machine throws single pairs far out. */
export function spread(pairs: readonly (readonly [Shot, Shot])[], of: (first: Shot, second: Shot) => number) {
  const sorted = pairs.map(([first, second]) => of(first, second)).toSorted((x, y) => x - y)
  return { median: median(sorted), low: sorted[sorted.length >> 2] ?? 0, high: sorted[(sorted.length * 3) >> 2] ?? 0 }
}

async function shoot({ child, url }: App, requests: readonly object[]): Promise<Shot> {
  const before = await cpuOf(child)
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SHOT_SECONDS, requests: [...requests] })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} non-2xx, ${result.errors} errors`)
  const used = (await cpuOf(child)) - before
  return { requestsPerSecond: result.requests.total / result.duration, cpu: used / result.requests.total }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [microseconds] = await once(child, 'message')
  return Number(microseconds)
}

/** What is measured, for the head of a table. */
export const SHOTS = `pairs of ${SHOT_SECONDS} s, ${CONNECTIONS} connections`
