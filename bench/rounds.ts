/** One way of doing a thing: `run` does it `operations` times, in a loop of its own, and gives back what it made. */
export interface Candidate {
  readonly name: string
  readonly operations: number
  readonly run: () => unknown
}

export interface Measured {
  readonly name: string
  /** Nanoseconds of processor time for one operation, the median of all rounds. */
  readonly nanoseconds: number
  /** How many times the baseline's time it takes: the median of the rounds' own ratios, which noise moves least. */
  readonly ratio: number
}

/**
 * Measures candidates against the first of them, the baseline: all run once in every round, in shuffled order, in one
 * process, so that what disturbs one disturbs all. Processor time counts, not the clock's: what other programs on the
 * machine take is not theirs. The first two rounds warm up and are not counted.
 */
export async function measure(candidates: readonly Candidate[], rounds = 11): Promise<readonly Measured[]> {
  const times = candidates.map((): number[] => [])
  for (let round = -2; round < rounds; round++) {
    for (const index of shuffled(candidates.length)) {
      const candidate = candidates[index] as Candidate
      const before = process.cpuUsage()
      await candidate.run()
      const { user, system } = process.cpuUsage(before)
      if (round >= 0) times[index]?.push(((user + system) * 1000) / candidate.operations)
    }
  }
  const baseline = times[0] as number[]
  return candidates.map(({ name }, index) => {
    const own = times[index] as number[]
    return {
      name,
      nanoseconds: median(own),
      ratio: median(own.map((time, round) => time / (baseline[round] as number))),
    }
  })
}

/** Prints measurements as a table, with the ratio to the first row. */
export function printMeasured(title: string, rows: readonly Measured[]): void {
  console.log(`\n${title}`)
  console.table(
    Object.fromEntries(
      rows.map(({ name, nanoseconds, ratio }) => [
        name,
        { 'ns/op': Number(nanoseconds.toPrecision(3)), 'times the first': Number(ratio.toPrecision(3)) },
      ]),
    ),
  )
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((x, y) => x - y)
  const middle = sorted.length >>> 1
  return sorted.length % 2 === 1
    ? (sorted[middle] as number)
    : ((sorted[middle - 1] as number) + (sorted[middle] as number)) / 2
}

/** The numbers below `count` in random order. */
export function shuffled(count: number): readonly number[] {
  return Array.from({ length: count }, (_, index) => ({ index, key: Math.random() }))
    .sort((x, y) => x.key - y.key)
    .map(({ index }) => index)
}
