import { join } from 'node:path'
import { numberFlag } from '../flags.ts'
import type { Figure, Goal } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { type Load, pacedLoad } from './load.ts'
import { familyOf, resident } from './processes.ts'
import { type Options, type Sallyport, startSallyport } from './sallyport.ts'
import { pathOf } from './servers.ts'
import { costOf, shootInTurn, type Target } from './shot.ts'
import { OTHERS, PROXY, type Stand } from './stand.ts'

/** One setting of the proxy, which is compared with the row of the name `peer`. */
interface Setting {
  readonly name: string
  readonly options: Pick<Options, 'workers' | 'processor' | 'raised'>
  readonly peer?: string | undefined
  readonly goal?: Goal | undefined
  /** The work of an operator while it is measured; returns what ends it. */
  readonly beside?: ((program: Sallyport) => () => void) | undefined
}

/** Cost of a request under each setting; all proxies stay up, and take turns. */
async function compareSettings(run: Run, stand: Stand, title: string, settings: readonly Setting[], load: Load) {
  const targets: Target[] = []
  for (const { name, options, beside } of settings) {
    const place = { folder: join(stand.folder, 'sallyport'), dataDir: stand.dataDir, upstream: stand.origin.url }
    const program = await startSallyport({ ...place, trustProxy: ['loopback'], ...options })
    const ask = async (url: string, seconds: number) => {
      const leave = beside?.(program)
      const shot = await load.shoot(url, pathOf('100 B'), seconds)
      leave?.()
      return shot
    }
    targets.push({ name, program, ask })
  }
  const taken = await shootInTurn(run, targets)
  const figures = settings.flatMap(({ name, peer, goal, options }, at): readonly Figure[] => {
    const peerAt = settings.findIndex((other) => other.name === peer)
    const beside = peer === undefined ? undefined : { peer, taken: taken[peerAt], goal }
    const cost = costOf({ case: name, what: 'a request of 100 B' }, taken[at], beside)
    if (options.processor !== undefined) return cost
    const megabytes = Math.max(...familyOf(targets[at]?.program.pid ?? 0).map(resident))
    const what = 'resident, the largest process'
    return [...cost, { case: name, what, unit: 'MB', value: { median: megabytes, runs: 1 } }]
  })
  for (const { program } of targets) await program.stop()
  run.table({ title, figures })
}

/** Two workers beside one, on any processor, and what each process holds. */
export function benchWorkers(run: Run, stand: Stand): Promise<void> {
  const settings: readonly Setting[] = [
    { name: '1 worker', options: { workers: 1 } },
    { name: '2 workers', options: { workers: 2 }, peer: '1 worker', goal: { atMost: 1.15, of: 'ratio' } },
  ]
  return compareSettings(run, stand, 'Workers, by processor time', settings, stand.load)
}

/** Cost of the decision log for a request, metrics on. */
export function benchLog(run: Run, stand: Stand): Promise<void> {
  const setting = (name: string, log: NonNullable<NonNullable<Options['raised']>['log']>): Setting => {
    return { name, options: { processor: PROXY, raised: { log } } }
  }
  const off = setting('`requests: off`', { requests: 'off' })
  const file = (name: string) => join(stand.folder, `${name}.log`)
  const peer = off.name
  const goal = { atMost: 1.08, of: 'ratio' } as const
  const settings = [
    off,
    { ...setting('`requests: decided`, to a file', { requests: 'decided', file: file('decided') }), peer },
    { ...setting('`requests: all`, to a file', { requests: 'all', file: file('all') }), peer, goal },
    { ...setting('`requests: all`, to standard output', { requests: 'all' }), peer, goal },
  ]
  return compareSettings(run, stand, 'The decision log, by processor time, metrics on', settings, stand.load)
}

const RATE = numberFlag('rate', 1_000)
const READ_TOKEN = 'a-token-of-the-bench'
/** As often as the live view asks. */
const PAGE_MS = 2_000

/** Cost of the console for a request at a steady pace. */
export function benchConsole(run: Run, stand: Stand): Promise<void> {
  const console = (enabled: boolean, workers = 1): Setting['options'] => {
    return { workers, processor: PROXY, raised: { console: { enabled, readToken: READ_TOKEN } } }
  }
  const [off, off2] = ['console off', 'two workers, console off']
  const settings: readonly Setting[] = [
    { name: off, options: console(false) },
    { name: 'console on, nobody looks', options: console(true), peer: off },
    { name: 'console on, the live view open', options: console(true), peer: off, beside: look },
    { name: off2, options: console(false, 2) },
    { name: 'two workers, the live view open', options: console(true, 2), peer: off2, beside: look },
  ]
  const title = `The console at ${RATE.toLocaleString('en')} requests a second, by processor time`
  return compareSettings(run, stand, title, settings.slice(0, run.pick(settings.length, 3)), pacedLoad(OTHERS, RATE))
}

/** Looks as the live view does: a stream that is read, and the counts every so often; returns what ends it. */
function look({ admin }: Sallyport): () => void {
  const left = new AbortController()
  const read = async (path: string): Promise<void> => {
    const headers = { authorization: `Bearer ${READ_TOKEN}` }
    const { body } = await fetch(`${admin}/console/api/${path}`, { headers, signal: left.signal })
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
