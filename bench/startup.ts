import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { scratch } from './fault/scratch.ts'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { takeTurns } from './rounds.ts'

interface Started {
  readonly milliseconds: number
  readonly processor: number
  readonly megabytes: number
}

interface Way {
  readonly name: string
  readonly kind: 'node' | 'maxmind' | 'sallyport'
  readonly city?: boolean
  /** From an empty folder, in which everything is compiled first. */
  readonly isCold?: boolean
}

const WAYS: readonly Way[] = [
  { name: '`node` alone', kind: 'node' },
  { name: '`maxmind`, both files of places', kind: 'maxmind' },
  { name: 'Sallyport, compiled data, without places', kind: 'sallyport', city: false },
  { name: 'Sallyport, compiled data', kind: 'sallyport', city: true },
  { name: 'Sallyport, the first start, without places', kind: 'sallyport', city: false, isCold: true },
  { name: 'Sallyport, the first start', kind: 'sallyport', city: true, isCold: true },
]

/** From the start of a process until it can decide: with data that are compiled already, and the first time in a folder. */
export async function benchStartup(run: Run): Promise<void> {
  await scratch(async (folder) => {
    const warm = join(folder, 'warm')
    const ways = WAYS.filter(({ city }) => !run.quick || city !== true)
    run.step('compiles the data')
    for (const city of run.pick([false, true], [false])) await start('sallyport', warm, city)
    const rounds = run.pick({ rounds: 7, warmUp: 1 }, { rounds: 1, warmUp: 0 })
    const names = ways.map(({ name }) => name)
    const taken = await takeTurns(run, names, rounds, async (index) => {
      const { kind, city = false, isCold = false } = ways[index] as Way
      const place = isCold ? join(folder, 'cold') : warm
      const started = await start(kind, place, city)
      if (isCold) await rm(place, { recursive: true })
      return started
    })
    const figures = names.flatMap((name, index): readonly Figure[] => {
      const of = (read: (started: Started) => number) => spreadOf((taken[index] ?? []).map(read))
      return [
        { case: name, what: 'ready after', unit: 'ms', value: of(({ milliseconds }) => milliseconds) },
        { case: name, what: 'processor time', unit: 'ms', value: of(({ processor }) => processor) },
        { case: name, what: 'resident', unit: 'MB', value: of(({ megabytes }) => megabytes) },
      ]
    })
    run.table({ title: 'A process from its start, imports too', figures })
  })
}

async function start(kind: Way['kind'], dataDir: string, city: boolean): Promise<Started> {
  const child = fork(join(import.meta.dirname, 'startup-process.js'), [kind, dataDir, String(city)], {
    execArgv: ['--expose-gc', '--no-warnings'],
  })
  const exited = once(child, 'exit')
  const [started] = (await once(child, 'message')) as [Started]
  await exited
  return started
}
