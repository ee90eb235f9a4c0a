import { type Figure, type Goal, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'
import { ratiosOf, takeTurns } from './rounds.ts'

/** Each way is measured so long in a round, and all ways take turns. */
const ROUND_MS = 1000
const ROUNDS = 6
export const CALLERS = 64

/** A way of keeping one record durably, for so many callers at once. */
export interface Way {
  readonly name: string
  readonly callers: number
  /** Records that one call keeps; absent: 1. */
  readonly rows?: number | undefined
  /** Records a second at the least, and milliseconds of the slow ones at the most. */
  readonly goals?: { readonly rate?: Goal | undefined; readonly p99?: Goal | undefined } | undefined
  keep(): Promise<unknown>
}

/** Records a second of each way, and how long one record takes. */
export async function compareWays(run: Run, title: string, ways: readonly Way[]): Promise<void> {
  const names = ways.map(({ name }) => name)
  const rounds = run.pick({ rounds: ROUNDS, warmUp: 1 }, { rounds: 1, warmUp: 0 })
  const taken = await takeTurns(run, names, rounds, (index) => drive(ways[index] as Way, run))
  const ratesOf = (index: number) => (taken[index] ?? []).map(({ rate }) => rate)
  const figures = ways.flatMap(({ name, goals }, index): readonly Figure[] => {
    const of = (share: number) => spreadOf((taken[index] ?? []).map(({ times }) => quantile(times, share)))
    const beside = index === 0 ? {} : { ratio: ratiosOf(ratesOf(index), ratesOf(0)), peer: names[0] as string }
    return [
      {
        case: name,
        what: '',
        unit: 'records/s',
        value: spreadOf(ratesOf(index)),
        ...beside,
        ...(goals?.rate && { goal: goals.rate }),
      },
      { case: name, what: 'median', unit: 'ms', value: of(0.5) },
      { case: name, what: 'p99', unit: 'ms', value: of(0.99), ...(goals?.p99 && { goal: goals.p99 }) },
    ]
  })
  run.table({ title, figures })
}

/** All callers of a way for one round. */
export async function drive({ callers, rows = 1, keep }: Way, run: Run) {
  const times: number[] = []
  const start = performance.now()
  const end = start + run.pick(ROUND_MS, 100)
  const call = async () => {
    for (let before = performance.now(); before < end; ) {
      await keep()
      const after = performance.now()
      times.push(after - before)
      before = after
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  return { rate: (times.length * rows) / ((performance.now() - start) / 1000), times }
}
