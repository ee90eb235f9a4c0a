import { computeSpread, type Figure, type Goal, type Spread } from './report/result.ts'
import type { Run } from './report/run.ts'

/** One way of doing a thing: `run` does it `operations` times, in a loop of its own, and gives back what it made. */
export interface Candidate {
  readonly name: string
  readonly operations: number
  readonly run: () => unknown
}

/** Makes a candidate that calls `work` with every number below `operations`. */
export function repeat(name: string, operations: number, work: (at: number) => unknown): Candidate {
  return {
    name,
    operations,
    run() {
      let last: unknown
      for (let at = 0; at < operations; at++) last = work(at)
      return last
    },
  }
}

export interface Measured {
  readonly name: string
  /** Holds the processor time of one operation, in nanoseconds. */
  readonly nanoseconds: Spread
  /** Holds the nanoseconds of each round. */
  readonly rounds: readonly number[]
  /** How many times the first candidate's time it takes: of the rounds' own ratios, which noise moves least. */
  readonly ratio: Spread
}

export interface Rounds {
  readonly rounds: number
  /** Rounds before, which are not counted: until then the compiler is at work. */
  readonly warmUp: number
}

/** Figures of contenders in each round: all take turns in shuffled order, so that what disturbs one disturbs all. */
export async function takeTurns<T>(
  run: Run,
  contenders: readonly string[],
  { rounds, warmUp }: Rounds,
  take: (index: number) => T | Promise<T>,
): Promise<readonly (readonly T[])[]> {
  const taken = contenders.map((): T[] => [])
  for (let round = -warmUp; round < rounds; round++) {
    for (const index of shuffle(contenders.length)) {
      run.step(`round ${round + warmUp + 1} of ${rounds + warmUp}, ${contenders[index]}`)
      const one = await take(index)
      if (round >= 0) taken[index]?.push(one)
    }
  }
  return taken
}

/** Computes how many times the baseline's rounds the contender's own rounds take. */
export function compareRounds(own: readonly number[], baseline: readonly number[]): Spread {
  return computeSpread(own.map((value, round) => value / (baseline[round] as number)))
}

/**
 * Measures candidates against the first of them, in one process; a quick run takes `few` rounds. Processor time counts, not the clock's: what other
 * programs on the machine take is not theirs.
 */
export async function measure(
  run: Run,
  candidates: readonly Candidate[],
  few: Rounds = { rounds: 1, warmUp: 0 },
): Promise<readonly Measured[]> {
  const names = candidates.map(({ name }) => name)
  const rounds = run.pick({ rounds: 11, warmUp: 2 }, few)
  const times = await takeTurns(run, names, rounds, async (index) => {
    const candidate = candidates[index] as Candidate
    const before = process.cpuUsage()
    await candidate.run()
    const { user, system } = process.cpuUsage(before)
    return ((user + system) * 1000) / candidate.operations
  })
  const [baseline = []] = times
  return names.map((name, index) => {
    const own = times[index] ?? []
    return { name, nanoseconds: computeSpread(own), rounds: own, ratio: compareRounds(own, baseline) }
  })
}

/** Figures of what was measured: microseconds, and how many times the first's, of which there is no ratio. */
export function listCosts(rows: readonly Measured[], goals: Readonly<Record<string, Goal>> = {}): readonly Figure[] {
  const peer = rows[0]?.name ?? ''
  return rows.map(({ name, nanoseconds, ratio }, index) => ({
    case: name,
    what: 'processor time',
    unit: 'µs',
    value: scaled(nanoseconds, 1e-3),
    ...(index === 0 ? {} : { ratio, peer }),
    ...(goals[name] === undefined ? {} : { goal: goals[name] }),
  }))
}

export function scaled({ median, low = median, high = median, ...rest }: Spread, factor: number): Spread {
  return { median: median * factor, low: low * factor, high: high * factor, ...rest }
}

/** Returns the numbers below `count` in random order. */
function shuffle(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => ({ index, key: Math.random() }))
    .sort((x, y) => x.key - y.key)
    .map(({ index }) => index)
}
