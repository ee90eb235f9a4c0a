import { join } from 'node:path'
import { type Figure, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import { familyOf, resident } from './processes.ts'
import { type Sallyport, startSallyport } from './sallyport.ts'
import { roundsOf, shoot } from './shot.ts'
import type { Stand } from './stand.ts'

const COUNTS = [1, 2] as const

/** Cost of a request through two workers and through one, on any processor, in turn; and what each process holds. */
export async function benchWorkers(run: Run, { folder, dataDir, origin, load, teardown }: Stand): Promise<void> {
  const started: Sallyport[] = []
  for (const workers of COUNTS) {
    const place = { folder: join(folder, `workers-${workers}`), dataDir, upstream: origin.url }
    const program = await startSallyport({ ...place, trustProxy: ['loopback'], workers })
    teardown(() => program.stop())
    started.push(program)
  }
  const names = COUNTS.map((workers) => `${workers} worker${workers === 1 ? '' : 's'}`)
  const { seconds, ...rounds } = roundsOf(run)
  const taken = await takeTurns(run, names, rounds, (at) => shoot(load, started[at] as Sallyport, '100 B', seconds))
  const cpuOf = (at: number) => (taken[at] ?? []).map(({ cpu }) => cpu)
  const figures = names.flatMap((name, at): readonly Figure[] => {
    const beside =
      at === 0
        ? {}
        : { ratio: ratiosOf(cpuOf(at), cpuOf(0)), peer: '1 worker', goal: { atMost: 1.15, of: 'ratio' } as const }
    const megabytes = familyOf(started[at]?.pid ?? 0).map((pid) => resident(pid))
    return [
      { case: name, what: 'a request of 100 B', unit: 'µs', value: spreadOf(cpuOf(at)), ...beside },
      {
        case: name,
        what: 'resident, the largest process',
        unit: 'MB',
        value: { median: Math.max(...megabytes), runs: 1 },
      },
    ]
  })
  run.table({ title: 'Workers, by processor time', figures })
}
