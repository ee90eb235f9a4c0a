import { join } from 'node:path'
import { numberFlag } from '../flags.ts'
import { type Figure, spreadOf } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { ratiosOf, takeTurns } from '../rounds.ts'
import { pacedLoad } from './load.ts'
import { type Sallyport, startSallyport } from './sallyport.ts'
import { roundsOf, shoot } from './shot.ts'
import { OTHERS, onStand, PROXY } from './stand.ts'

const RATE = numberFlag('rate', 1_000)
const READ_TOKEN = 'a-token-of-the-bench'
/** As often as the live view asks. */
const PAGE_MS = 2_000

const ROWS = [
  { name: 'console off', enabled: false, looks: false },
  { name: 'console on, nobody looks', enabled: true, looks: false },
  { name: 'console on, the live view open', enabled: true, looks: true },
  { name: 'two workers, console off', enabled: false, looks: false, workers: 2 },
  { name: 'two workers, the live view open', enabled: true, looks: true, workers: 2 },
] as const
/** The rows of `ROWS` that others are compared with. */
const ALONE = { one: 0, workers: 3 } as const

/** Processor time that the console adds to a request through the proxy at a given pace; all stay up, and take turns. */
export async function benchConsole(run: Run): Promise<void> {
  await onStand(run, [], async ({ folder, dataDir, origin, teardown }) => {
    const load = pacedLoad(OTHERS, RATE)
    const running: Sallyport[] = []
    const rows = ROWS.slice(0, run.pick(ROWS.length, ALONE.workers))
    for (const { enabled, ...row } of rows) {
      const place = { folder: join(folder, 'sallyport'), dataDir, upstream: origin.url, processor: PROXY }
      const workers = 'workers' in row ? { workers: row.workers } : {}
      const program = await startSallyport({
        ...place,
        ...workers,
        trustProxy: ['loopback'],
        raised: { console: { enabled, readToken: READ_TOKEN } },
      })
      teardown(() => program.stop())
      running.push(program)
    }
    const names = rows.map(({ name }) => name)
    const { seconds, ...rounds } = roundsOf(run)
    const taken = await takeTurns(run, names, rounds, async (at) => {
      const program = running[at] as Sallyport
      const leave = rows[at]?.looks ? look(program) : () => {}
      const { cpu, perSecond, errors } = await shoot(load, program, '100 B', seconds)
      leave()
      if (errors > 0 || perSecond < RATE * 0.9) console.log(`${names[at]}: ${perSecond}/s, ${errors} errors`)
      return cpu
    })
    const figures = rows.map((row, at): Figure => {
      const base = 'workers' in row ? ALONE.workers : ALONE.one
      const beside = at === base ? {} : { ratio: ratiosOf(taken[at] ?? [], taken[base] ?? []), peer: 'the console off' }
      return { case: row.name, what: 'a request of 100 B', unit: 'µs', value: spreadOf(taken[at] ?? []), ...beside }
    })
    run.table({ title: `The console at ${RATE.toLocaleString('en')} requests a second, by processor time`, figures })
  })
}

/** Looks as the live view does: a stream that is read, and the counts every so often; returns what ends it. */
function look({ admin }: Sallyport): () => void {
  const left = new AbortController()
  const read = async (path: string): Promise<void> => {
    const { body } = await fetch(`${admin}/console/api/${path}`, {
      ...{ headers: { authorization: `Bearer ${READ_TOKEN}` }, signal: left.signal },
    })
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
