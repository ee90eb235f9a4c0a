import { numberFlag } from '../flags.ts'
import { median, shuffled } from '../rounds.ts'
import { BASELINE, CONTENDERS, type Contender, OURS } from './contenders.ts'
import { inspectionTime } from './inspection.ts'
import { CONNECTIONS, type Load } from './load.ts'
import type { Program } from './program.ts'
import { SIZES, type Size } from './servers.ts'
import { shoot, type Taken } from './shot.ts'
import { onStand, PROXY } from './stand.ts'
import { benchWorkers } from './workers.ts'

const ROUNDS = numberFlag('rounds', 11)
const SECONDS = numberFlag('seconds', 2)
/** Until then much of the processor time is that of the compiler. */
const WARM_UP_ROUNDS = 2

type Results = ReadonlyMap<string, Taken[]>

/**
 * The hop: what a request costs that goes through each proxy to an nginx beside it, in processor time of the proxy, as a
 * multiple of nginx that only forwards. All of them stay up; each has one shot in every round, in shuffled order.
 */
export async function benchProxy(): Promise<void> {
  await onStand('proxy', [], async ({ folder, dataDir, origin, load, teardown }) => {
    const running = new Map<Contender, Program>()
    for (const contender of CONTENDERS) {
      if (contender.missing !== undefined) {
        console.log(`proxy: ${contender.name} is skipped: ${contender.missing}`)
        continue
      }
      const program = await contender.start({ folder, dataDir, upstream: origin.url, processor: PROXY })
      teardown(() => program.stop())
      running.set(contender, program)
    }
    const hop = await compareHops(load, running)
    for (const program of running.values()) await program.stop()
    const inspection = await inspectionTime(dataDir)
    console.log(
      `\ndecide() of the same requests takes ${inspection.toFixed(2)} µs, ${((inspection / hop) * 100).toFixed(1)} % of our hop at 100 B`,
    )
    await benchWorkers({ folder, dataDir, upstream: origin.url }, load, {
      rounds: ROUNDS,
      warmUp: WARM_UP_ROUNDS,
      seconds: SECONDS,
    })
  })
}

/** Prints a table for each size; microseconds of our hop for a small answer. */
async function compareHops(load: Load, running: ReadonlyMap<Contender, Program>): Promise<number> {
  let hop = Number.NaN
  for (const size of Object.keys(SIZES) as Size[]) {
    const results = new Map([...running.keys()].map(({ name }): [string, Taken[]] => [name, []]))
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const at of shuffled(running.size)) {
        const [{ name }, program] = [...running][at] as [Contender, Program]
        const taken = await shoot(load, program, size, SECONDS)
        if (round >= 0) results.get(name)?.push(taken)
      }
    }
    console.log(
      `\nthe hop, ${size}, by ${load.name} with ${CONNECTIONS} connections, ${ROUNDS} rounds of ${SECONDS} s; what was compared is the processor time`,
    )
    console.table(Object.fromEntries([...results].map(([name]) => [name, rowOf(results, name)])))
    if (size === '100 B') hop = median((results.get(OURS) ?? []).map(({ cpu }) => cpu))
  }
  return hop
}

function rowOf(results: Results, name: string): object {
  const own = results.get(name) ?? []
  const baseline = results.get(BASELINE) ?? []
  const middle = (read: (taken: Taken) => number) => Number(median(own.map(read)).toPrecision(3))
  const ratio = median(own.map(({ cpu }, round) => cpu / (baseline[round] as Taken).cpu))
  return {
    'times nginx': Number(ratio.toFixed(2)),
    'µs a request': middle(({ cpu }) => cpu),
    'requests/s': Math.round(middle(({ perSecond }) => perSecond)),
    'p50 ms': middle(({ p50 }) => p50),
    'p99 ms': middle(({ p99 }) => p99),
    MB: Math.round(middle(({ megabytes }) => megabytes)),
    errors: own.reduce((sum, { errors }) => sum + errors, 0),
  }
}
