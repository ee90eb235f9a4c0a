import { join, resolve } from 'node:path'
import { freePort } from '@sallyport/engine/testing'
import { browserFields } from './browser.ts'
import { numberFlag, textFlag } from './flags.ts'
import { openLoad, type Shoot } from './proxy/load.ts'
import { isInstalled, startProgram } from './proxy/program.ts'
import { shootInTurn, type Taken } from './proxy/shot.ts'
import { OTHERS, PROXY } from './proxy/stand.ts'
import { computeSpread, type Figure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { median } from './report/statistics.ts'
import { scratch } from './scratch.ts'
import { siteVisitors } from './visitors.ts'

interface Framework {
  /** Selects the server that server.ts starts. */
  readonly kind: string
  readonly name: string
  /** Per cent of the bare framework's throughput that should be left. */
  readonly goal?: number | undefined
  /** The server of an earlier state runs in a folder of its own, because it compiles its data there. */
  readonly earlier?: { readonly file: string; readonly folder: string } | undefined
}

/** Those of a peer: what a middleware costs there that does nothing, and one that does one thing. */
const FRAMEWORKS: readonly Framework[] = [
  { kind: 'express-empty', name: 'Express, a middleware that does nothing' },
  { kind: 'express-isbot', name: 'Express, `isbot` alone' },
  { kind: 'express', name: 'Express, Sallyport', goal: 85 },
  { kind: 'koa', name: 'Koa, Sallyport', goal: 65 },
  { kind: 'fastify', name: 'Fastify, Sallyport', goal: 65 },
  { kind: 'node', name: '`node:http`, Sallyport', goal: 65 },
  { kind: 'hono', name: 'Hono on node-server, Sallyport', goal: 65 },
]
/** Fresh processes: how the compiler lays out a hot path differs from one process to the next by some per cent. */
const PROCESSES = numberFlag('processes', 4)

const LEFT = { what: 'left of the bare framework', unit: '%' } as const

/** One visitor in so many is flagged and writes a line. */
const ONE_FLAGGED_IN = 10

/**
 * Each framework with the inspection against the same application without it, in one process: processor time of a
 * request, and what is left of the plain one's throughput, in pairs of shots taken in turn, over several processes.
 * The load is wrk's, which waits for either application: a client that the plain one keeps awake would sleep beside
 * the other, and the kernel counts the waking of a client as the server's time.
 */
export async function benchFrameworks(run: Run): Promise<void> {
  const missing = ['taskset', 'wrk'].filter((command) => !isInstalled(command))
  if (missing.length > 0) return run.skip(`it needs ${missing.join(', ')}`)
  const visitors = await siteVisitors(500, ONE_FLAGGED_IN)
  await scratch(async (folder) => {
    const fields = visitors.map((address) => browserFields(address))
    const shoot = await openLoad(folder, OTHERS, fields)
    const figures: Figure[] = []
    for (const framework of listFrameworks(folder)) figures.push(...(await measureFramework(run, framework, shoot)))
    run.table({ title: 'A request by processor time', figures })
  })
}

/** Lists the servers. `--before=FOLDER` adds those of an earlier state, which is built in that folder. */
function listFrameworks(folder: string): readonly Framework[] {
  const checkout = textFlag('before')
  if (checkout === undefined) return FRAMEWORKS
  const earlier = { file: resolve(checkout, 'bench/dist/server.js'), folder }
  return FRAMEWORKS.flatMap(({ kind, name, goal }) => {
    const own = { kind, name, goal }
    return goal === undefined ? [own] : [own, { kind, name: `${name}, before`, earlier }]
  })
}

async function measureFramework(run: Run, framework: Framework, shoot: Shoot): Promise<readonly Figure[]> {
  const { name, goal } = framework
  const processes: (readonly (readonly number[])[])[] = []
  for (let turn = 0; turn < run.pick(PROCESSES, 1); turn++) {
    const taken = await shootApplications(run, framework, shoot)
    processes.push(taken.map((shots) => shots.map(({ cpu }) => cpu)))
  }
  const least = goal === undefined ? undefined : { atLeast: goal }
  // A shared machine throws single shots far out.
  const spreadPairs = (read: (plain: number, inside: number) => number) =>
    computeSpread(
      processes.map(([plain = [], inside = []]) => median(plain.map((one, at) => read(one, inside[at] ?? Number.NaN)))),
    )
  return [
    { ...LEFT, case: name, value: spreadPairs((plain, inside) => (plain / inside) * 100), goal: least },
    { case: name, what: 'a request, plain', unit: 'µs', value: spreadPairs((plain) => plain) },
    { case: name, what: 'with it', unit: 'µs', value: spreadPairs((_, inside) => inside) },
  ]
}

/** Returns the shots at both applications of one process, which ends after them. */
async function shootApplications(
  run: Run,
  { kind, name, earlier }: Framework,
  shoot: Shoot,
): Promise<readonly (readonly Taken[])[]> {
  const [plain, inside] = [await freePort(), await freePort()]
  const { file, folder } = earlier ?? { file: join(import.meta.dirname, 'server.js') }
  const args = [file, kind, String(plain), String(inside)]
  const program = await startProgram({ command: process.execPath, args, port: inside, folder, processor: PROXY })
  const targets = [plain, inside].map((port) => ({
    name: `${name}, port ${port}`,
    program: { ...program, url: `http://127.0.0.1:${port}` },
    ask: (url: string, seconds: number) => shoot(url, '/', seconds),
  }))
  try {
    const taken = await shootInTurn(run, targets)
    if (taken.flat().some(({ errors }) => errors > 0)) throw new Error(`${name}: a request was not answered with 200`)
    return taken
  } finally {
    await program.stop()
  }
}
