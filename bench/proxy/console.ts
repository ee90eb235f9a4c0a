import { join } from 'node:path'
import { numberFlag } from '../flags.ts'
import { median, shuffled } from '../rounds.ts'
import { pacedLoad } from './load.ts'
import { type Sallyport, startSallyport } from './sallyport.ts'
import { shoot } from './shot.ts'
import { OTHERS, onStand, PROXY } from './stand.ts'

const ROUNDS = numberFlag('rounds', 11)
const SECONDS = numberFlag('seconds', 4)
const RATE = numberFlag('rate', 1_000)
const WARM_UP_ROUNDS = 1
/** As often as the live view asks. */
const PAGE_MS = 2_000

/** Of each number of workers the first is what the others are compared with. */
const ROWS = [
  { name: 'console off', enabled: false, looks: false },
  { name: 'console on, nobody looks', enabled: true, looks: false },
  { name: 'console on, the live view open', enabled: true, looks: true },
  { name: 'two workers, console off', enabled: false, looks: false, workers: 2 },
  { name: 'two workers, the live view open', enabled: true, looks: true, workers: 2 },
] as const

/** What the console adds to a request through the proxy at a given pace, in processor time; all stay up, and take turns. */
export async function benchConsole(): Promise<void> {
  await onStand('console', [], async ({ folder, dataDir, origin, teardown }) => {
    const load = pacedLoad(OTHERS, RATE)
    const running: Sallyport[] = []
    for (const { enabled, ...row } of ROWS) {
      const place = { folder: join(folder, 'sallyport'), dataDir, upstream: origin.url, processor: PROXY }
      const workers = 'workers' in row ? { workers: row.workers } : {}
      const program = await startSallyport({
        ...place,
        ...workers,
        trustProxy: ['loopback'],
        raised: { console: { enabled } },
      })
      teardown(() => program.stop())
      running.push(program)
    }
    const taken = running.map((): number[] => [])
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round++) {
      for (const at of shuffled(running.length)) {
        const program = running[at] as Sallyport
        const leave = ROWS[at]?.looks ? look(program) : () => {}
        const { cpu, perSecond, errors } = await shoot(load, program, '100 B', SECONDS)
        leave()
        if (errors > 0 || perSecond < RATE * 0.9) console.log(`${ROWS[at]?.name}: ${perSecond}/s, ${errors} errors`)
        if (round >= 0) taken[at]?.push(cpu)
      }
    }
    const baseOf = (at: number) => taken['workers' in (ROWS[at] ?? {}) ? 3 : 0] ?? []
    console.log(
      `\nthe console at ${RATE} requests/s, ${ROUNDS} rounds of ${SECONDS} s; processor time of a request of 100 B`,
    )
    console.table(
      Object.fromEntries(
        ROWS.map(({ name }, at) => {
          const own = taken[at] ?? []
          const ratio = median(own.map((cpu, round) => cpu / (baseOf(at)[round] as number)))
          return [name, { 'times off': Number(ratio.toFixed(3)), 'µs a request': Number(median(own).toPrecision(3)) }]
        }),
      ),
    )
  })
}

/** Looks as the live view does: a stream that is read, and the counts every so often; returns what ends it. */
function look({ admin }: Sallyport): () => void {
  const left = new AbortController()
  const read = async (path: string): Promise<void> => {
    const { body } = await fetch(`${admin}/console/api/${path}`, { signal: left.signal })
    for await (const _ of body ?? []);
  }
  const ask = (path: string): void => void read(path).catch(() => {})
  ask('stream')
  ask('live?span=5m')
  const timer = setInterval(ask, PAGE_MS, 'live?span=5m')
  return () => {
    clearInterval(timer)
    left.abort()
  }
}
