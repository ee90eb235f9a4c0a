import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import autocannon from 'autocannon'
import { visitorAddresses } from './visitors.ts'

const FRAMEWORKS = ['express', 'koa', 'fastify'] as const
const ROUNDS = 7
const SHOT_SECONDS = 2
const CONNECTIONS = 32

interface App {
  readonly child: ChildProcess
  readonly url: string
}

/** Requests per second of each framework with the inspection, as a share of the same application without it. */
export async function benchFrameworks(): Promise<void> {
  console.log(`\nframeworks: requests/s with the inspection over the same app without it, median of ${ROUNDS} pairs`)
  const requests = visitorAddresses(500).map((address) => ({
    path: '/',
    headers: {
      'x-forwarded-for': address,
      'user-agent': BROWSER,
      accept: 'text/html,*/*;q=0.8',
      'accept-language': 'en',
    },
  }))
  for (const framework of FRAMEWORKS) {
    const plain = await startApp(framework, 'plain')
    const inspected = await startApp(framework, 'inspected')
    const ratios: number[] = []
    try {
      for (const app of [plain, inspected]) await shoot(app.url, requests)
      for (let round = 0; round < ROUNDS; round++) {
        const first = round % 2 === 0 ? plain : inspected
        const second = first === plain ? inspected : plain
        const rates = new Map([[first, await shoot(first.url, requests)]])
        rates.set(second, await shoot(second.url, requests))
        ratios.push((rates.get(inspected) ?? 0) / (rates.get(plain) ?? Number.NaN))
      }
    } finally {
      plain.child.kill()
      inspected.child.kill()
    }
    ratios.sort((x, y) => x - y)
    const share = (ratio: number | undefined) => `${((ratio ?? 0) * 100).toFixed(1)} %`
    console.log(
      `  ${framework.padEnd(8)} ${share(ratios[ROUNDS >> 1])}   (${share(ratios[0])} to ${share(ratios.at(-1))})`,
    )
  }
}

const BROWSER =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36'

async function startApp(framework: string, kind: string): Promise<App> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'server.js'), framework, kind], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  return { child, url: `http://127.0.0.1:${String(line).trim()}` }
}

async function shoot(url: string, requests: readonly object[]): Promise<number> {
  const result = await autocannon({ url, connections: CONNECTIONS, duration: SHOT_SECONDS, requests: [...requests] })
  if (result.non2xx > 0 || result.errors > 0)
    throw new Error(`${url}: ${result.non2xx} non-2xx, ${result.errors} errors`)
  return result.requests.average
}
