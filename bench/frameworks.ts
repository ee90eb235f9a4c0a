import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { browserFields } from './browser.ts'
import { median } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const FRAMEWORKS = ['express', 'koa', 'fastify'] as const
const ROUNDS = 25
/** Short, so that both of a pair meet the same machine. */
const SHOT_SECONDS = 1
const CONNECTIONS = 32

interface App {
  readonly child: ChildProcess
  readonly url: string
}

interface Shot {
  readonly requestsPerSecond: number
  /** Microseconds of processor time of the server for one request: noise of the machine moves it least. */
  readonly cpu: number
}

/**
 * Each framework with the inspection against the same application without it: requests per second and processor time,
 * as a share of the plain one, the median of pairs of shots taken in turn.
 */
export async function benchFrameworks(): Promise<void> {
  const requests = visitorAddresses(500).map((address) => ({ path: '/', headers: headersOf(browserFields(address)) }))
  const rows: Record<string, object> = {}
  for (const framework of FRAMEWORKS) {
    const plain = await startApp(framework, 'plain')
    const inspected = await startApp(framework, 'inspected')
    const pairs: (readonly [plain: Shot, inspected: Shot])[] = []
    try {
      for (const app of [plain, inspected, plain, inspected]) await shoot(app, requests)
      for (let round = 0; round < ROUNDS; round++) {
        if (round % 2 === 0) pairs.push([await shoot(plain, requests), await shoot(inspected, requests)])
        else {
          const second = await shoot(inspected, requests)
          pairs.push([await shoot(plain, requests), second])
        }
      }
    } finally {
      plain.child.kill()
      inspected.child.kill()
    }
    const share = (of: (plain: Shot, inspected: Shot) => number) => {
      const values = pairs.map(([without, inside]) => of(without, inside))
      const sorted = values.toSorted((x, y) => x - y)
      const percent = (value: number | undefined) => ((value ?? 0) * 100).toFixed(0)
      // The middle half: a shared machine throws single pairs far out.
      const [low, high] = [sorted[sorted.length >> 2], sorted[(sorted.length * 3) >> 2]]
      return `${(median(values) * 100).toFixed(1)} % (${percent(low)} to ${percent(high)})`
    }
    rows[framework] = {
      'requests/s, of plain': share((without, inside) => inside.requestsPerSecond / without.requestsPerSecond),
      'by processor time, of plain': share((without, inside) => without.cpu / inside.cpu),
      'µs a request, plain': Number(median(pairs.map(([without]) => without.cpu)).toFixed(1)),
      'µs a request, inspected': Number(median(pairs.map(([, inside]) => inside.cpu)).toFixed(1)),
    }
  }
  console.log(`\nframeworks with the inspection, ${ROUNDS} pairs of ${SHOT_SECONDS} s, ${CONNECTIONS} connections`)
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

async function startApp(framework: string, kind: string): Promise<App> {
  const child = fork(join(import.meta.dirname, 'server.js'), [framework, kind])
  const [port] = await once(child, 'message')
  return { child, url: `http://127.0.0.1:${port}` }
}

async function shoot({ child, url }: App, requests: readonly object[]): Promise<Shot> {
  const before = await cpuOf(child)
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SHOT_SECONDS, requests: [...requests] })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} non-2xx, ${result.errors} errors`)
  const used = (await cpuOf(child)) - before
  return { requestsPerSecond: result.requests.total / result.duration, cpu: used / result.requests.total }
}

async function cpuOf(child: ChildProcess): Promise<number> {
  child.send('cpu')
  const [microseconds] = await once(child, 'message')
  return Number(microseconds)
}
