import { join } from 'node:path'
import type { Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { BASELINE, CONTENDERS, OURS } from './contenders.ts'
import type { Program } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { pathOf } from './servers.ts'
import { costOf, shootInTurn } from './shot.ts'
import { PROXY, type Stand } from './stand.ts'

const PEERS: readonly string[] = [BASELINE, 'HAProxy', 'http-proxy 1.18, keep-alive']

/** A request waits on every connection: above what a site allows without being asked, and none is refused as it waits. */
const LIMITS = { connections: 20_000, inFlight: 20_000, originQueue: 20_000, eventLoopDelay: '1m' }

/** Processor time of a request in each proxy as connections grow, each of which has a request under way. */
export async function benchConnections(run: Run, { folder, dataDir, origin, load }: Stand): Promise<void> {
  const place = { folder, dataDir, upstream: origin.url, processor: PROXY }
  const running = new Map<string, Program>()
  for (const { name, missing, start } of CONTENDERS) {
    if (PEERS.includes(name) && missing === undefined) running.set(name, await start(place))
  }
  const own = { ...place, folder: join(folder, 'sallyport'), trustProxy: ['loopback'], raised: { limits: LIMITS } }
  running.set(OURS, await startSallyport(own))
  const figures: Figure[] = []
  for (const at of run.pick([10, 100, 1_000, 5_000], [100])) {
    const targets = [...running].map(([name, program]) => {
      return {
        name,
        program,
        ask: (url: string, seconds: number) => load.shoot(url, pathOf('100 B'), seconds, at),
      }
    })
    const taken = await shootInTurn(run, targets)
    targets.forEach(({ name }, index) => {
      const beside = index === 0 ? undefined : { peer: BASELINE, taken: taken[0] }
      figures.push(...costOf({ case: name, at, what: '' }, taken[index], beside))
    })
  }
  for (const program of running.values()) await program.stop()
  const title = 'A request of 100 B, by processor time'
  run.table({ title, work: 'connections', figures })
}
