import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { Pool } from 'undici'
import type { Run } from './report/run.ts'
import { takeTurns } from './rounds.ts'

/** Requests of one shot: some tens of milliseconds, so that both of a pair meet the same machine. */
const SHOT_REQUESTS = 512
const CONNECTIONS = 32

const FULL = { rounds: 150, warmUp: 80 }
const QUICK = { rounds: 2, warmUp: 0 }

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

/** Returns the microseconds of processor time that servers took for a request, in shots that take turns; their processes are ended. */
export async function shootInTurn(
  run: Run,
  apps: readonly App[],
  load: readonly Load[],
): Promise<readonly (readonly number[])[]> {
  const shooters = apps.map((app) => openShooter(app, load))
  try {
    const names = apps.map(({ url }) => url)
    return await takeTurns(run, names, run.pick(FULL, QUICK), (at) => (shooters[at] as Shooter).shoot())
  } finally {
    for (const { close } of shooters) await close()
    for (const { child } of apps) child.kill()
  }
}

type Shooter = ReturnType<typeof openShooter>

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
