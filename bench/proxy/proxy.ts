import { counted, type Figure, type Goal, type Spread, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import { BASELINE, CONTENDERS, type Contender, OURS } from './contenders.ts'
import { inspectionTime } from './inspection.ts'
import { CONNECTIONS } from './load.ts'
import type { Program } from './program.ts'
import type { Size } from './servers.ts'
import { roundsOf, shoot, type Taken } from './shot.ts'
import { onStand, PROXY, type Stand } from './stand.ts'
import { benchWorkers } from './workers.ts'

/**
 * The hop: what a request costs that goes through each proxy to an nginx beside it, in processor time of the proxy, as a
 * multiple of nginx that only forwards. All of them stay up; each has one shot in every round, in shuffled order.
 */
export async function benchProxy(run: Run): Promise<void> {
  await onStand(run, [], async (stand) => {
    const contenders = CONTENDERS.filter(({ name, missing }) => {
      if (missing !== undefined) run.skip(`${name}: ${missing}`)
      return missing === undefined
    })
    const programs = await startAll(stand, contenders)
    const figures: Figure[] = []
    let hop = Number.NaN
    for (const size of run.pick<readonly Size[]>(['100 B', '100 kB'], ['100 B'])) {
      const { seconds, ...rounds } = roundsOf(run)
      const names = contenders.map(({ name }) => name)
      const taken = await takeTurns(run, names, rounds, (at) =>
        shoot(stand.load, programs[at] as Program, size, seconds),
      )
      figures.push(...hopFigures(names, taken, size))
      if (size === '100 B') hop = spreadOf((taken[names.indexOf(OURS)] ?? []).map(({ cpu }) => cpu)).median
    }
    for (const program of programs) await program.stop()
    const title = `The hop, by ${stand.load.name} with ${CONNECTIONS} connections`
    run.table({ title, chart: 'proxies', figures })
    const share: Spread = { median: ((await inspectionTime(run, stand.dataDir)) / hop) * 100, runs: 1 }
    const decision = { case: 'the decision', what: 'of our own hop at 100 B', unit: '%', value: share }
    run.table({ title: 'The decision within the hop', figures: [{ ...decision, goal: { atMost: 8 } }] })
    await benchWorkers(run, stand)
  })
}

/** All of them stay up. */
async function startAll(stand: Stand, contenders: readonly Contender[]): Promise<readonly Program[]> {
  const { folder, dataDir, origin, teardown } = stand
  const programs: Program[] = []
  for (const contender of contenders) {
    const program = await contender.start({ folder, dataDir, upstream: origin.url, processor: PROXY })
    teardown(() => program.stop())
    programs.push(program)
  }
  return programs
}

const GOALS: Readonly<Record<Size, Goal>> = { '100 B': { atMost: 4.5, of: 'ratio' }, '100 kB': {} }

function hopFigures(names: readonly string[], taken: readonly (readonly Taken[])[], size: Size): readonly Figure[] {
  const cpuOf = (name: string) => (taken[names.indexOf(name)] ?? []).map(({ cpu }) => cpu)
  return names.flatMap((name, at): readonly Figure[] => {
    const own = taken[at] ?? []
    const { atMost } = GOALS[size]
    const errors = own.reduce((sum, one) => sum + one.errors, 0)
    const isOurs = name === OURS
    return [
      {
        ...{ case: name, what: size, unit: 'µs', value: spreadOf(cpuOf(name)) },
        ...{ ratio: ratiosOf(cpuOf(name), cpuOf(BASELINE)), peer: BASELINE },
        ...(isOurs && atMost !== undefined ? { goal: GOALS[size] } : {}),
      },
      ...(size === '100 B'
        ? [{ case: name, what: `${size}, p99`, unit: 'ms', value: spreadOf(own.map(({ p99 }) => p99)) }]
        : []),
      ...(size === '100 kB'
        ? [
            {
              ...{ case: name, what: 'resident', unit: 'MB', value: spreadOf(own.map((one) => one.megabytes)) },
              ...(isOurs ? { goal: { atMost: 200 } } : {}),
            },
          ]
        : []),
      ...(errors > 0 ? [{ case: name, what: `${size}, errors`, unit: '', value: counted(errors) }] : []),
    ]
  })
}
