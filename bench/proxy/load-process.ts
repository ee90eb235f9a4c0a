import { browserFields } from '../browser.ts'
import { quantile } from '../report/statistics.ts'
import { visitorAddresses } from '../visitors.ts'
import { CONNECTIONS, type Shot, VISITORS } from './load.ts'

/* `node load-process.js URL PATH SECONDS`: one shot, which it sends to the process that started it. */
const [url = '', path = '', seconds] = process.argv.slice(2)

const { Agent, request }: Pick<typeof import('node:https'), 'Agent' | 'request'> = await import(
  url.startsWith('https:') ? 'node:https' : 'node:http'
)
const visitors = visitorAddresses(VISITORS).map((address) => browserFields(address))
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS, rejectUnauthorized: false })
const latencies: number[] = []
let [sent, errors] = [0, 0]

function ask(): Promise<void> {
  const begun = performance.now()
  const headers = visitors[sent++ % visitors.length] as string[]
  return new Promise((resolve) => {
    const end = (isGood: boolean): void => {
      if (!isGood) errors++
      latencies.push(performance.now() - begun)
      resolve()
    }
    request(`${url}${path}`, { agent, headers, timeout: 10_000 }, (response) => {
      response.resume()
      response.once('end', () => end((response.statusCode ?? 500) < 400))
    })
      .once('error', () => end(false))
      .end()
  })
}

const until = performance.now() + Number(seconds) * 1_000
const lane = async (): Promise<void> => {
  while (performance.now() < until) await ask()
}
await Promise.all(Array.from({ length: CONNECTIONS }, lane))
process.send?.({ requests: latencies.length, p99: quantile(latencies, 0.99), errors } satisfies Shot)
agent.destroy()
