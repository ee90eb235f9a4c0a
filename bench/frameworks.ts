import { browserFields } from './browser.ts'
import { numberFlag } from './flags.ts'
import { canCount, countInstructions } from './instructions.ts'
import { counted, type Figure, type Goal } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type App, type Load, type Pair, shootPairs, spreadOfPairs, startApps } from './shots.ts'
import { siteVisitors } from './visitors.ts'

interface Framework {
  /** The kind of server (server.ts). */
  readonly kind: string
  readonly name: string
  /** Per cent of the bare framework that should be left. */
  readonly goal?: number | undefined
}

/** Those of a peer: what a middleware costs there that does nothing, and three that do one thing each. */
const FRAMEWORKS: readonly Framework[] = [
  { kind: 'express-empty', name: 'Express, a middleware that does nothing' },
  { kind: 'express-isbot', name: 'Express, `isbot` alone' },
  { kind: 'express-rate-limit', name: 'Express, `express-rate-limit` alone' },
  { kind: 'express-arcjet', name: "Express, Arcjet's local rule for bots alone" },
  { kind: 'express', name: 'Express, Sallyport', goal: 88 },
  { kind: 'koa', name: 'Koa, Sallyport', goal: 84 },
  { kind: 'fastify', name: 'Fastify, Sallyport', goal: 84 },
  { kind: 'node', name: '`node:http`, Sallyport', goal: 72 },
  { kind: 'hono', name: 'Hono on node-server, Sallyport', goal: 75 },
]
/** Fresh processes: how the compiler lays out a hot path differs from one process to the next by some per cent. */
const PROCESSES = numberFlag('processes', 6)

const LEFT = { what: 'left of the bare framework', unit: '%' } as const

/** One visitor in so many is flagged and writes a line: at a site that is visited, and at one that is scraped. */
const VISITED = 10
const SCRAPED = 2

/** Instructions that the inspection adds, by callgrind. */
async function benchInstructions(run: Run): Promise<void> {
  if (!canCount()) return run.skip('instructions are counted by valgrind, which is not installed')
  const load = await requests(VISITED)
  const figures: Figure[] = []
  // Arcjet's rule takes milliseconds of a processor: a day under valgrind.
  for (const { kind, name } of FRAMEWORKS.filter(({ kind }) => kind !== 'express-arcjet')) {
    run.step(name)
    const [plain, inside] = await countInstructions('server.js', kind, load)
    figures.push(
      { ...LEFT, case: name, value: counted((plain / inside) * 100) },
      { case: name, what: 'a request, plain', unit: 'instructions', value: counted(Math.round(plain)) },
      { case: name, what: 'with it', unit: 'instructions', value: counted(Math.round(inside)) },
    )
  }
  run.table({ title: 'Instructions of a request', figures })
}

/**
 * Each framework with the inspection against the same application without it, in one process: processor time of a
 * request, and what is left of the plain one's throughput, in pairs of shots taken in turn, over several processes.
 */
export async function benchFrameworks(run: Run): Promise<void> {
  const visited = await figuresOf(run, FRAMEWORKS, await requests(VISITED))
  const title = 'A request by processor time'
  if (run.quick) {
    run.table({ title, figures: visited })
    return run.skip('instructions: a server starts for minutes under valgrind')
  }
  const ours = FRAMEWORKS.filter(({ goal }) => goal !== undefined).map(({ kind, name }) => ({ kind, name }))
  const scraped = (await figuresOf(run, ours, await requests(SCRAPED))).filter(({ what }) => what === LEFT.what)
  const figures = [...visited, ...scraped.map((figure) => ({ ...figure, what: 'left where every second is flagged' }))]
  run.table({ title, figures })
  await benchInstructions(run)
}

async function figuresOf(run: Run, frameworks: readonly Framework[], load: readonly Load[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { kind, name, goal } of frameworks) {
    const processes: (readonly Pair[])[] = []
    for (let turn = 0; turn < run.pick(PROCESSES, 1); turn++) {
      run.step(`${name}, process ${turn + 1}`)
      const apps = (await startApps('server.js', kind)) as readonly [App, App]
      processes.push(await shootPairs(run, apps, load))
    }
    const goals: { readonly goal?: Goal | undefined } = goal === undefined ? {} : { goal: { atLeast: goal } }
    const of = (read: (...pair: Pair) => number) => spreadOfPairs(processes, read)
    figures.push(
      { ...LEFT, case: name, value: of((plain, inside) => (plain.cpu / inside.cpu) * 100), ...goals },
      { case: name, what: 'a request, plain', unit: 'µs', value: of((plain) => plain.cpu) },
      { case: name, what: 'with it', unit: 'µs', value: of((_, inside) => inside.cpu) },
    )
  }
  return figures
}

async function requests(oneFlaggedIn: number): Promise<readonly Load[]> {
  const visitors = await siteVisitors(500, oneFlaggedIn)
  return visitors.map((address) => ({ path: '/', headers: headersOf(browserFields(address)) }))
}

function headersOf(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    if (name !== 'Host' && name !== 'Connection') headers[name] = fields[at + 1] as string
  }
  return headers
}
