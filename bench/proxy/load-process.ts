import { setTimeout as delay } from 'node:timers/promises'
import { browserFields } from '../browser.ts'
import { quantile } from '../report/statistics.ts'
import { visitorAddresses } from '../visitors.ts'
import { type Shot, VISITORS } from './load.ts'

/*
 * `node load-process.js URL PATH SECONDS CONNECTIONS RATE`: one shot, which it sends to the process that started it. The rate is requests
 * a second; 0 is as many as come over that many connections.
 */
const [url = '', path = '', seconds, connections, rate] = process.argv.slice(2)
const TURN_MS = 10

const { Agent, request }: Pick<typeof import('node:https'), 'Agent' | 'request'> = await import(
  url.startsWith('https:') ? 'node:https' : 'node:http'
)
const visitors = visitorAddresses(VISITORS).map((address) => browserFields(address))
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections), rejectUnauthorized: false })
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

const begun = performance.now()
const until = begun + Number(seconds) * 1_000
const answers: Promise<void>[] = []
if (rate === '0') {
  const lane = async () => {
    while (performance.now() < until) await ask()
  }
  answers.push(...Array.from({ length: Number(connections) }, lane))
} else {
  for (let now = begun; now < until; now = performance.now()) {
    const due = ((now - begun) / 1_000) * Number(rate)
    while (sent < due) answers.push(ask())
    await delay(TURN_MS)
  }
}
await Promise.all(answers)
process.send?.({ requests: latencies.length, p99: quantile(latencies, 0.99), errors } satisfies Shot)
agent.destroy()
