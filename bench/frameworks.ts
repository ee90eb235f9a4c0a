import { browserFields, pairFields } from './browser.ts'
import { numberFlag } from './flags.ts'
import { computeSpread, type Figure, type Goal } from './report/result.ts'
import type { Run } from './report/run.ts'
import { median } from './report/statistics.ts'
import { type Load, shootInTurn, startApps } from './shots.ts'
import { siteVisitors } from './visitors.ts'

interface Framework {
  /** Selects the server that server.ts starts. */
  readonly kind: string
  readonly name: string
  /** Per cent of the bare framework's throughput that should be left. */
  readonly goal?: number | undefined
}

/** Those of a peer: what a middleware costs there that does nothing, and one that does one thing. */
const FRAMEWORKS: readonly Framework[] = [
  { kind: 'express-empty', name: 'Express, a middleware that does nothing' },
  { kind: 'express-isbot', name: 'Express, `isbot` alone' },
  { kind: 'express', name: 'Express, Sallyport', goal: 88 },
  { kind: 'koa', name: 'Koa, Sallyport', goal: 84 },
  { kind: 'fastify', name: 'Fastify, Sallyport', goal: 84 },
  { kind: 'node', name: '`node:http`, Sallyport', goal: 72 },
  { kind: 'hono', name: 'Hono on node-server, Sallyport', goal: 75 },
]
/** Fresh processes: how the compiler lays out a hot path differs from one process to the next by some per cent. */
const PROCESSES = numberFlag('processes', 6)

const LEFT = { what: 'left of the bare framework', unit: '%' } as const

/** One visitor in so many is flagged and writes a line. */
const ONE_FLAGGED_IN = 10

/**
 * Each framework with the inspection against the same application without it, in one process: processor time of a
 * request, and what is left of the plain one's throughput, in pairs of shots taken in turn, over several processes.
 */
export async function benchFrameworks(run: Run): Promise<void> {
  run.table({ title: 'A request by processor time', figures: await measureFigures(run, FRAMEWORKS, await requests()) })
}

async function measureFigures(run: Run, frameworks: readonly Framework[], load: readonly Load[]): Promise<Figure[]> {
  const figures: Figure[] = []
  for (const { kind, name, goal } of frameworks) {
    const processes: (readonly (readonly number[])[])[] = []
    for (let turn = 0; turn < run.pick(PROCESSES, 1); turn++) {
      run.step(`${name}, process ${turn + 1}`)
      processes.push(await shootInTurn(run, await startApps('server.js', kind), load))
    }
    const goals: { readonly goal?: Goal | undefined } = goal === undefined ? {} : { goal: { atLeast: goal } }
    // A shared machine throws single shots far out.
    const spreadPairs = (read: (plain: number, inside: number) => number) =>
      computeSpread(
        processes.map(([plain = [], inside = []]) =>
          median(plain.map((one, at) => read(one, inside[at] ?? Number.NaN))),
        ),
      )
    figures.push(
      { ...LEFT, case: name, value: spreadPairs((plain, inside) => (plain / inside) * 100), ...goals },
      { case: name, what: 'a request, plain', unit: 'µs', value: spreadPairs((plain) => plain) },
      { case: name, what: 'with it', unit: 'µs', value: spreadPairs((_, inside) => inside) },
    )
  }
  return figures
}

async function requests(): Promise<readonly Load[]> {
  const visitors = await siteVisitors(500, ONE_FLAGGED_IN)
  return visitors.map((address) => {
    const { Host, Connection, ...headers } = Object.fromEntries(pairFields(browserFields(address)))
    return { path: '/', headers }
  })
}
