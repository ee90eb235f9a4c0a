import { join } from 'node:path'
import { type Figure, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import { BASELINE, CONTENDERS, OURS } from './contenders.ts'
import type { Program } from './program.ts'
import { startSallyport } from './sallyport.ts'
import { roundsOf, shoot } from './shot.ts'
import { onStand, PROXY } from './stand.ts'

const PEERS: readonly string[] = [BASELINE, 'HAProxy', 'http-proxy 1.18, keep-alive']

/** A request waits on every connection: above what a site allows without being asked. */
const LIMITS = { connections: 20_000, inFlight: 20_000, originQueue: 20_000 }

/** Processor time of a request in each proxy as connections grow, each of which has a request under way. */
export async function benchConnections(run: Run): Promise<void> {
  await onStand(run, [], async ({ folder, dataDir, origin, load, teardown }) => {
    const place = { folder, dataDir, upstream: origin.url, processor: PROXY }
    const running = new Map<string, Program>()
    for (const contender of CONTENDERS.filter(({ name, missing }) => PEERS.includes(name) && missing === undefined)) {
      running.set(contender.name, await contender.start(place))
    }
    const own = { ...place, folder: join(folder, 'sallyport'), trustProxy: ['loopback'], raised: { limits: LIMITS } }
    running.set(OURS, await startSallyport(own))
    for (const program of running.values()) teardown(() => program.stop())
    const names = [...running.keys()]
    const figures: Figure[] = []
    for (const count of run.pick([10, 100, 1_000, 5_000], [100])) {
      const { seconds, ...rounds } = roundsOf(run)
      const taken = await takeTurns(run, names, rounds, (at) =>
        shoot(load, running.get(names[at] ?? '') as Program, '100 B', seconds, count),
      )
      const cpuOf = (at: number) => (taken[at] ?? []).map(({ cpu }) => cpu)
      names.forEach((name, at) => {
        const errors = (taken[at] ?? []).reduce((sum, one) => sum + one.errors, 0)
        if (errors > 0) run.skip(`${errors} answers of ${name} over ${count} connections were errors`)
        const beside =
          name === BASELINE ? {} : { ratio: ratiosOf(cpuOf(at), cpuOf(names.indexOf(BASELINE))), peer: BASELINE }
        figures.push({ case: name, at: count, what: '', unit: 'µs', value: spreadOf(cpuOf(at)), ...beside })
      })
    }
    const title = 'A request of 100 B through a proxy as connections grow, by processor time'
    run.table({ title, work: 'connections', chart: 'proxy-connections', figures })
  })
}
