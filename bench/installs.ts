import { rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { listening } from '@sallyport/engine/testing'
import { decideRecorded, findNode, installWorkspaces } from '@sallyport/test/dist/packaging/installs.js'
import { pack } from '@sallyport/test/dist/packaging/npm.js'
import { openProgram, programs } from '@sallyport/test/dist/packaging/programs.js'
import { resident } from './proxy/processes.ts'
import { computeSpread, counted, type Figure, type Goal } from './report/result.ts'
import type { Run } from './report/run.ts'
import { scratch } from './scratch.ts'

interface Row {
  readonly name: string
  readonly rooms: readonly string[]
  readonly installed: Goal
  readonly foreign: Goal
  /** The arguments of the process that decides. */
  readonly program: (origin: string) => readonly string[]
}

const PROXY = 'node_modules/.bin/sallyport proxy --listen 127.0.0.1:0 --admin 127.0.0.1:0 --upstream'.split(' ')
const ALONE = { installed: { atMost: 40 }, foreign: { atMost: 25 } }
const BOTH = { installed: { atMost: 60 }, foreign: { atMost: 45 } }
const ROWS: readonly Row[] = [
  ...['express', 'koa', 'fastify', 'node', 'fetch'].map(
    (name): Row => ({
      ...ALONE,
      name: `\`@sallyport/${name}\``,
      rooms: [`adapters/${name}`],
      program: () => [`${name}.mjs`],
    }),
  ),
  {
    ...BOTH,
    name: '`sallyport` beside `@sallyport/express`, the proxy',
    rooms: ['packages/sallyport', 'adapters/express'],
    program: (origin) => [...PROXY, origin],
  },
]
const LINES = [20, 22, 24]
const CLONE = join(import.meta.dirname, '..')
const SETTINGS = 'dataDir: data\ndata: { refresh: false, city: false }\n'

/** Installs packed tarballs in empty folders, weighs them, and starts a program of each. */
export async function benchInstalls(run: Run): Promise<void> {
  await scratch(async (folder, cleanup) => {
    const origin = `http://127.0.0.1:${await listening(
      cleanup,
      createServer((_, response) => response.end('origin')),
    )}`
    const tarballs = await pack(join(folder, 'tarballs'))
    const nodes: { readonly line: number; readonly node: string; readonly expected: string }[] = []
    for (const line of LINES) {
      const node = await findNode(line, join(folder, `node-${line}`))
      if (node === undefined) run.skip(`Node ${line}, which npm cannot install`)
      else {
        const expected = await decideRecorded(node, ['adapters/express'], CLONE, join(folder, 'data'))
        nodes.push({ line, node, expected })
      }
    }
    const figures: Figure[] = []
    for (const [at, { name, rooms, program, ...goals }] of run.pick(ROWS, ROWS.slice(0, 1)).entries()) {
      run.step(name)
      const project = join(folder, `${at}`)
      const { megabytes, foreign } = await installWorkspaces(project, rooms, tarballs)
      figures.push({ case: name, what: 'installed', unit: 'MB', value: counted(megabytes), goal: goals.installed })
      figures.push({ case: name, what: 'foreign packages', unit: '', value: counted(foreign), goal: goals.foreign })
      await writeFile(join(project, 'sallyport.yaml'), SETTINGS)
      for (const [file, text] of programs()) await writeFile(join(project, file), text)
      for (const { line, node, expected } of nodes) {
        if ((await decideRecorded(node, rooms, project, join(folder, `data-${at}`))) !== expected)
          throw new Error(`${name} on Node ${line} does not decide the recorded requests as the clone does`)
        const started: Started[] = []
        for (let round = 0; round < run.pick(3, 1); round++) started.push(await start(node, program(origin), project))
        const of = (read: (one: Started) => number) => computeSpread(started.map(read))
        figures.push({ case: name, what: `Node ${line}`, unit: 's', value: of(({ seconds }) => seconds) })
        const value = of(({ megabytes }) => megabytes)
        figures.push({ case: name, what: `Node ${line}`, unit: 'MB', value, goal: { atMost: 130 } })
      }
    }
    run.table({ title: 'Packed tarballs in an empty folder', figures })
  })
}

interface Started {
  readonly seconds: number
  readonly megabytes: number
}

/** Starts a program without data that are compiled, until it has decided its first request. */
async function start(node: string, args: readonly string[], project: string): Promise<Started> {
  await rm(join(project, 'data'), { recursive: true, force: true })
  const began = performance.now()
  const program = await openProgram(node, args, project)
  try {
    const { status, headers } = await fetch(program.url)
    if (status !== 200 || !headers.has('x-request-id')) throw new Error(`${args}: ${status}`)
    return { seconds: (performance.now() - began) / 1000, megabytes: resident(program.pid) }
  } finally {
    await program.stop()
  }
}
