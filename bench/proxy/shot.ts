import { numberFlag } from '../flags.ts'
import { counted, type Figure, type Goal, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import type { Shot } from './load.ts'
import { familyOf, processorTime, resident } from './processes.ts'
import type { Program } from './program.ts'

/** Cost of one proxy in one round. */
export interface Taken {
  /** Microseconds of processor time of all its processes for a request. */
  readonly cpu: number
  readonly p99: number
  /** Megabytes of its largest process after the shot. */
  readonly megabytes: number
  readonly errors: number
}

/** One shot of one proxy in a round, for so many seconds. */
export interface Target {
  readonly name: string
  readonly program: Program
  readonly ask: (url: string, seconds: number) => Promise<Shot>
}

/** All targets stay up; each has one shot in every round: `--rounds=N --seconds=N`. */
export function shootInTurn(run: Run, targets: readonly Target[]): Promise<readonly (readonly Taken[])[]> {
  const names = targets.map(({ name }) => name)
  const seconds = numberFlag('seconds', run.pick(2, 1))
  // In the first rounds much of the processor time is that of the compiler.
  const rounds = { rounds: numberFlag('rounds', run.pick(11, 1)), warmUp: run.pick(2, 0) }
  return takeTurns(run, names, rounds, async (at) => {
    const { name, program, ask } = targets[at] as Target
    const family = familyOf(program.pid)
    let before = processorTime(family)
    let shot = await ask(program.url, seconds)
    if (!(shot.requests > 0)) {
      // With thousands of connections on a busy machine, the first answers may come after the shot is over.
      before = processorTime(family)
      shot = await ask(program.url, seconds * 4)
    }
    const { requests, p99, errors } = shot
    if (!(requests > 0)) throw new Error(`no answer to ${name}`)
    const cpu = ((processorTime(family) - before) * 1e6) / requests
    return { cpu, p99, megabytes: Math.max(...family.map(resident)), errors }
  })
}

export interface Beside {
  readonly peer: string
  readonly taken: readonly Taken[] | undefined
  readonly goal?: Goal | undefined
}

/** The processor time of a request in all rounds, beside that of a peer, and the errors where there were any. */
export function costOf(
  row: Pick<Figure, 'case' | 'what' | 'at'>,
  taken: readonly Taken[] = [],
  beside?: Beside,
): readonly Figure[] {
  const cpuOf = (all: readonly Taken[]) => all.map(({ cpu }) => cpu)
  const errors = taken.reduce((sum, one) => sum + one.errors, 0)
  const value = spreadOf(cpuOf(taken))
  const figures: Figure[] = [
    beside?.taken === undefined
      ? { ...row, unit: 'µs', value }
      : {
          ...row,
          unit: 'µs',
          value,
          ratio: ratiosOf(cpuOf(taken), cpuOf(beside.taken)),
          peer: beside.peer,
          ...(beside.goal && { goal: beside.goal }),
        },
  ]
  if (errors > 0)
    figures.push({ ...row, what: [row.what, 'errors'].filter(Boolean).join(', '), unit: '', value: counted(errors) })
  return figures
}
