import { numberFlag } from '../flags.ts'
import { computeSpread, counted, type Figure, type Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { compareRounds, takeTurns } from '../rounds.ts'
import type { Shot } from './load.ts'
import { listFamily, processorTime, resident } from './processes.ts'
import type { Program } from './program.ts'

/** Holds the cost of one proxy in one round. */
export interface Taken {
  /** Counts the microseconds of processor time of all its processes per request. */
  readonly cpu: number
  readonly p99: number
  /** The largest process held this many megabytes after the shot. */
  readonly megabytes: number
  readonly errors: number
}

/** A proxy takes one shot of some seconds in each round. */
export interface Target {
  readonly name: string
  readonly program: Program
  readonly ask: (url: string, seconds: number) => Promise<Shot>
}

/** All targets stay up; each has one shot in every round: `--rounds=N --seconds=N`. */
export function shootInTurn(run: Run, targets: readonly Target[]): Promise<readonly (readonly Taken[])[]> {
  const names = targets.map(({ name }) => name)
  const seconds = numberFlag('seconds', run.pick(2, 1))
  // In the first rounds the compiler takes much of the processor time.
  const rounds = { rounds: numberFlag('rounds', run.pick(11, 1)), warmUp: run.pick(2, 0) }
  return takeTurns(run, names, rounds, async (at) => {
    const { name, program, ask } = targets[at] as Target
    const family = listFamily(program.pid)
    let before = processorTime(family)
    let shot = await ask(program.url, seconds)
    if (!(shot.requests > 0)) {
      // On a busy machine, the first answers may come after the shot is over.
      before = processorTime(family)
      shot = await ask(program.url, seconds * 4)
    }
    const { requests, p99, errors } = shot
    if (!(requests > 0)) throw new Error(`no answer to ${name}`)
    const cpu = ((processorTime(family) - before) * 1e6) / requests
    return { cpu, p99, megabytes: Math.max(...family.map(resident)), errors }
  })
}

interface Beside {
  readonly peer: string
  readonly taken: readonly Taken[]
  readonly goal?: Goal | undefined
}

/** Reports the processor time of a request in all rounds beside a peer's, and errors if there were any. */
export function computeCost(
  row: Pick<Figure, 'case' | 'what'>,
  taken: readonly Taken[] = [],
  beside?: Beside,
): readonly Figure[] {
  const readCpu = (all: readonly Taken[]) => all.map(({ cpu }) => cpu)
  const compared = beside && {
    ratio: compareRounds(readCpu(taken), readCpu(beside.taken)),
    peer: beside.peer,
    goal: beside.goal,
  }
  return [{ ...row, unit: 'µs', value: computeSpread(readCpu(taken)), ...compared }, ...reportErrors(row, taken)]
}

/** Reports how many requests were not answered as expected, if there were any. */
export function reportErrors(row: Pick<Figure, 'case' | 'what'>, taken: readonly Taken[]): readonly Figure[] {
  const errors = taken.reduce((sum, one) => sum + one.errors, 0)
  return errors === 0 ? [] : [{ ...row, what: `${row.what}, errors`, unit: '', value: counted(errors) }]
}
