import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Pool } from 'undici'
import { computeSpread, type Spread } from './report/result.ts'
import type { Run } from './report/run.ts'
import { median } from './report/statistics.ts'

/** Requests of one shot: some tens of milliseconds, so that both of a pair meet the same machine. */
const SHOT_REQUESTS = 512
const CONNECTIONS = 32

/** The bench counts nothing during `warmUpMs`: until then the compiler takes much of the processor time. */
const FULL = { warmUpMs: 8_000, measureMs: 15_000 }
const QUICK = { warmUpMs: 0, measureMs: 300 }

/** A server, and the process it is in. */
export interface App {
  readonly child: ChildProcess
  readonly url: string
}

/** Starts a program of this folder that calls `report`; the servers in its process. */
export async function startApps(program: string, ...args: readonly string[]): Promise<readonly App[]> {
  // A decision log goes to standard output, where it would drown the tables.
  const child = fork(join(import.meta.dirname, program), args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const [ports] = (await once(child, 'message')) as [readonly number[]]
  return ports.map((port) => ({ child, url: `http://127.0.0.1:${port}` }))
}

/** A started program's answers: sends its ports, and its processor time (microseconds) whenever it is asked. */
export function report(...ports: readonly number[]): void {
  process.on('message', () => {
    const { user, system } = process.cpuUsage()
    process.send?.(user + system)
  })
  process.send?.(ports)
}

/** A request of the load. */
export interface Load {
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
}

/** Microseconds of processor time that two servers took for a request, one shot behind the other: noise of the machine moves it least. */
export type Pair = readonly [first: number, second: number]

/** Shots of two servers in turn, after a warm-up; their processes are ended. */
export async function shootPairs(
  run: Run,
  [first, second]: readonly [App, App],
  load: readonly Load[],
): Promise<readonly Pair[]> {
  const { warmUpMs, measureMs } = run.pick(FULL, QUICK)
  const pairs: Pair[] = []
  const [ofFirst, ofSecond] = [openShooter(first, load), openShooter(second, load)]
  const start = performance.now()
  try {
    for (let round = 0; pairs.length === 0 || performance.now() - start < warmUpMs + measureMs; round++) {
      const before = round % 2 === 0 ? await ofFirst.shoot() : undefined
      const shot = await ofSecond.shoot()
      const pair: Pair = [before ?? (await ofFirst.shoot()), shot]
      if (performance.now() - start > warmUpMs) pairs.push(pair)
    }
  } finally {
    for (const { close } of [ofFirst, ofSecond]) await close()
    first.child.kill()
    second.child.kill()
  }
  return pairs
}

/**
 * Summary of pairs over several processes. Within a process it is the median of the pairs: a shared machine throws
 * single ones far out.
 */
export function spreadOfPairs(processes: readonly (readonly Pair[])[], of: (...pair: Pair) => number): Spread {
  return computeSpread(processes.map((pairs) => median(pairs.map((pair) => of(...pair)))))
}

/** Sends the requests of a load in turn over kept connections; a shot is the processor time that one request took of the server. */
function openShooter({ child, url }: App, load: readonly Load[]) {
  const pool = new Pool(url, { connections: CONNECTIONS })
  const requests = load.map(({ path, headers }) => ({ path, method: 'GET' as const, headers }))
  let next = 0

  async function send(): Promise<void> {
    const request = requests[next++ % requests.length] as (typeof requests)[0]
    const { statusCode, body } = await pool.request(request)
    await body.dump()
    if (statusCode !== 200) throw new Error(`${url}: status ${statusCode}`)
  }

  return {
    async shoot(): Promise<number> {
      const before = await readCpu(child)
      const lane = async () => {
        for (let sent = 0; sent < SHOT_REQUESTS / CONNECTIONS; sent++) await send()
      }
      await Promise.all(Array.from({ length: CONNECTIONS }, lane))
      return ((await readCpu(child)) - before) / SHOT_REQUESTS
    },
    close: () => pool.destroy(),
  }
}

async function readCpu(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [microseconds] = await once(child, 'message')
  return Number(microseconds)
}
