import { fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { benchReload } from './reload.ts'
import { computeSpread, type Figure, type Goal, makeFigure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { takeTurns } from './rounds.ts'
import { scratch } from './scratch.ts'

/** A process reports its own startup (startup-process.ts). */
interface Started {
  readonly milliseconds: number
  readonly processor: number
  readonly megabytes: number
}

interface Way {
  readonly name: string
  readonly kind: string
  readonly city?: boolean | undefined
  /** From an empty folder, in which everything is compiled first. */
  readonly isCold?: boolean | undefined
  /** Without what was before the import or `open()`. */
  readonly isAlone?: boolean | undefined
  readonly goals?: { readonly milliseconds: Goal; readonly megabytes: Goal } | undefined
}

const STARTS: readonly Way[] = [
  { name: '`node` alone', kind: 'node' },
  { name: '`maxmind`, both files of places', kind: 'maxmind' },
  { name: 'Sallyport, compiled data, without places', kind: 'sallyport' },
  { name: 'Sallyport, compiled data', kind: 'sallyport', city: true },
  { name: 'Sallyport, the first start, without places', kind: 'sallyport', isCold: true },
  { name: 'Sallyport, the first start', kind: 'sallyport', city: true, isCold: true },
]

const ADAPTER = { milliseconds: { atMost: 150 }, megabytes: { atMost: 25 } }
const OPENED = { milliseconds: { atMost: 700 }, megabytes: { atMost: 150 } }
const IMPORTS: readonly Way[] = [
  ...['node', 'express', 'koa', 'fastify', 'fetch'].map((name): Way => {
    return { name: `import of \`@sallyport/${name}\``, kind: `@sallyport/${name}`, isAlone: true, goals: ADAPTER }
  }),
  { name: 'import of `@sallyport/engine`', kind: '@sallyport/engine', isAlone: true },
  { name: '`open()`, cities among the data', kind: 'sallyport', city: true, isAlone: true, goals: OPENED },
]

/** Until a process can decide: with data that are compiled already, and the first time in a folder; what imports take; a reload. */
export async function benchStartup(run: Run): Promise<void> {
  await scratch(async (folder) => {
    const small = ({ city }: Way) => !run.quick || city !== true
    run.step('compiles the data')
    for (const city of run.pick([false, true], [false])) await start({ name: '', kind: 'sallyport', city }, folder)
    const figures = await compare(run, folder, STARTS.filter(small), ({ name }, started) => {
      const of = (read: (one: Started) => number) => computeSpread(started.map(read))
      return [
        { case: name, what: 'ready after', unit: 'ms', value: of(({ milliseconds }) => milliseconds) },
        { case: name, what: 'processor time', unit: 'ms', value: of(({ processor }) => processor) },
        { case: name, what: 'resident', unit: 'MB', value: of(({ megabytes }) => megabytes) },
      ]
    })
    run.table({ title: 'A process from its start, imports too', figures })
    const imports = await compare(run, folder, IMPORTS.filter(small), ({ name, goals }, started) => {
      const time = computeSpread(started.map(({ milliseconds }) => milliseconds))
      const memory = computeSpread(started.map(({ megabytes }) => megabytes))
      return [
        makeFigure(name, 'takes', 'ms', time, goals?.milliseconds),
        makeFigure(name, 'resident since', 'MB', memory, goals?.megabytes),
      ]
    })
    run.table({ title: 'Importing an adapter, and opening compiled data', figures: imports })
  })
  await benchReload(run)
}

/** Measures fresh processes in turn. */
async function compare(
  run: Run,
  folder: string,
  ways: readonly Way[],
  makeFigures: (way: Way, started: readonly Started[]) => readonly Figure[],
): Promise<readonly Figure[]> {
  const rounds = run.pick({ rounds: 7, warmUp: 1 }, { rounds: 1, warmUp: 0 })
  const names = ways.map(({ name }) => name)
  const taken = await takeTurns(run, names, rounds, (index) => start(ways[index] as Way, folder))
  return ways.flatMap((way, index) => makeFigures(way, taken[index] ?? []))
}

async function start({ kind, city = false, isCold = false, isAlone = false }: Way, folder: string): Promise<Started> {
  const place = join(folder, isCold ? 'cold' : 'warm')
  const child = fork(join(import.meta.dirname, 'startup-process.js'), [kind, place, String(city), String(isAlone)], {
    execArgv: ['--expose-gc', '--no-warnings'],
  })
  const exited = once(child, 'exit')
  const [started] = (await once(child, 'message')) as [Started]
  await exited
  if (isCold) await rm(place, { recursive: true })
  return started
}
