import { browserFields } from './browser.ts'
import { canCount, countInstructions } from './instructions.ts'
import { type App, type Pair, SHOTS, shootPairs, spread, startApps } from './shots.ts'
import { visitorAddresses } from './visitors.ts'

/** `express-empty`: what a middleware costs there that does nothing; beside it three that do one thing each. */
const FRAMEWORKS = [
  ...['express-empty', 'express-rate-limit', 'express-isbot', 'express-arcjet'],
  ...['express', 'koa', 'fastify', 'node', 'hono'],
]
/** Fresh processes: how the compiler lays out a hot path differs from one process to the next by some per cent. */
const PROCESSES = process.argv.includes('--quick') ? 1 : 6

/** What the inspection adds in instructions, by callgrind: `npm run bench -- frameworks --instructions`, some 15 minutes. */
async function benchInstructions(requests: readonly object[]): Promise<void> {
  if (!canCount()) throw new Error('--instructions needs valgrind')
  const rows: Record<string, object> = {}
  for (const framework of FRAMEWORKS) {
    const [plain, inspected] = await countInstructions('server.js', framework, requests)
    rows[framework] = {
      'of plain': `${((plain / inspected) * 100).toFixed(1)} %`,
      'a request, plain': Math.round(plain),
      'a request, inspected': Math.round(inspected),
    }
  }
  console.log('\ninstructions of frameworks with the inspection')
  console.table(rows)
}

/**
 * Each framework with the inspection against the same application without it, in one process: time and processor time
 * of a request, as a share of the plain one's, in pairs of shots taken in turn, over several processes.
 */
export async function benchFrameworks(): Promise<void> {
  const requests = visitorAddresses(500).map((address) => ({ path: '/', headers: headersOf(browserFields(address)) }))
  if (process.argv.includes('--instructions')) return benchInstructions(requests)
  const rows: Record<string, object> = {}
  for (const framework of FRAMEWORKS) {
    const processes: (readonly Pair[])[] = []
    for (let run = 0; run < PROCESSES; run++) {
      const apps = (await startApps('server.js', framework)) as readonly [App, App]
      processes.push(await shootPairs(apps, requests))
    }
    const share = (of: (...pair: Pair) => number) => {
      const { median, low, high } = spread(processes, of)
      return `${(median * 100).toFixed(1)} % (${(low * 100).toFixed(1)} to ${(high * 100).toFixed(1)})`
    }
    rows[framework] = {
      'by time, of plain': share((plain, inspected) => plain.time / inspected.time),
      'by processor time, of plain': share((plain, inspected) => plain.cpu / inspected.cpu),
      'µs a request, plain': Number(spread(processes, (plain) => plain.cpu).median.toFixed(1)),
      'µs a request, inspected': Number(spread(processes, (_, inspected) => inspected.cpu).median.toFixed(1)),
    }
  }
  console.log(
    `\nframeworks with the inspection, ${PROCESSES} processes, ${SHOTS} each; in brackets the lowest and the highest`,
  )
  console.table(rows)
}

function headersOf(fields: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < fields.length; at += 2) {
    const name = fields[at] as string
    if (name !== 'Host' && name !== 'Connection') headers[name] = fields[at + 1] as string
  }
  return headers
}
