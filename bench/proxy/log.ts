import { join } from 'node:path'
import { spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import type { Program } from './program.ts'
import { type Raised, startSallyport } from './sallyport.ts'
import { roundsOf, shoot } from './shot.ts'
import { onStand, PROXY } from './stand.ts'

/** The first is what the others are compared with. */
const LOGS: Readonly<Record<string, (folder: string) => NonNullable<Raised['log']>>> = {
  '`requests: off`': () => ({ requests: 'off' }),
  '`requests: decided`, to a file': (folder) => ({ requests: 'decided', file: join(folder, 'decided.log') }),
  '`requests: all`, to a file': (folder) => ({ requests: 'all', file: join(folder, 'all.log') }),
  '`requests: all`, to standard output': () => ({ requests: 'all' }),
}

/** Processor time of the decision log for a request through the proxy, metrics on; all stay up, and take turns. */
export async function benchLog(run: Run): Promise<void> {
  await onStand(run, [], async ({ folder, dataDir, origin, load, teardown }) => {
    const running: Program[] = []
    for (const logOf of Object.values(LOGS)) {
      const raised = { log: logOf(folder) }
      const place = { folder: join(folder, 'sallyport'), dataDir, upstream: origin.url, processor: PROXY }
      const program = await startSallyport({ ...place, trustProxy: ['loopback'], raised })
      teardown(() => program.stop())
      running.push(program)
    }
    const names = Object.keys(LOGS)
    const { seconds, ...rounds } = roundsOf(run)
    const taken = await takeTurns(run, names, rounds, async (at) => {
      return (await shoot(load, running[at] as Program, '100 B', seconds)).cpu
    })
    const [off = []] = taken
    const figures = names.map((name, at) => {
      const own = taken[at] ?? []
      const beside = at === 0 ? {} : { ratio: ratiosOf(own, off), peer: names[0] as string }
      const goal = name.includes('all') ? ({ goal: { atMost: 1.08, of: 'ratio' } } as const) : {}
      return { case: name, what: 'a request of 100 B', unit: 'µs', value: spreadOf(own), ...beside, ...goal }
    })
    run.table({ title: 'The decision log, by processor time, metrics on', figures })
  })
}
