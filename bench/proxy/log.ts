import { join } from 'node:path'
import { numberFlag } from '../flags.ts'
import { median, shuffled } from '../rounds.ts'
import type { Program } from './program.ts'
import { type Raised, startSallyport } from './sallyport.ts'
import { shoot } from './shot.ts'
import { onStand, PROXY } from './stand.ts'

const ROUNDS = numberFlag('rounds', 11)
const SECONDS = numberFlag('seconds', 2)
const WARM_UP_ROUNDS = 2

/** The first is what the others are compared with. */
const LOGS: Readonly<Record<string, (folder: string) => NonNullable<Raised['log']>>> = {
  'requests: off': () => ({ requests: 'off' }),
  'requests: decided, to a file': (folder) => ({ requests: 'decided', file: join(folder, 'decided.log') }),
  'requests: all, to a file': (folder) => ({ requests: 'all', file: join(folder, 'all.log') }),
  'requests: all, to standard output': () => ({ requests: 'all' }),
}

/** What the decision log adds to a request through the proxy, metrics on, in processor time; all stay up, and take turns. */
export async function benchLog(): Promise<void> {
  await onStand('log', [], async ({ folder, dataDir, origin, load, teardown }) => {
    const running: Program[] = []
    for (const logOf of Object.values(LOGS)) {
      const raised = { log: logOf(folder) }
      const place = { folder: join(folder, 'sallyport'), dataDir, upstream: origin.url, processor: PROXY }
      const program = await startSallyport({ ...place, trustProxy: ['loopback'], raised })
      teardown(() => program.stop())
      running.push(program)
    }
    const taken = running.map((): number[] => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const at of shuffled(running.length)) {
        const { cpu } = await shoot(load, running[at] as Program, '100 B', SECONDS)
        if (round >= 0) taken[at]?.push(cpu)
      }
    }
    const [off = []] = taken
    console.log(
      `\nthe decision log, by ${load.name}, ${ROUNDS} rounds of ${SECONDS} s; processor time of a request of 100 B`,
    )
    console.table(
      Object.fromEntries(
        Object.keys(LOGS).map((name, at) => {
          const own = taken[at] ?? []
          const ratio = median(own.map((cpu, round) => cpu / (off[round] as number)))
          return [name, { 'times off': Number(ratio.toFixed(3)), 'µs a request': Number(median(own).toPrecision(3)) }]
        }),
      ),
    )
  })
}
