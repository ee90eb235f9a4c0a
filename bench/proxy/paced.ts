import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { browserFields } from '../browser.ts'
import { visitorAddresses } from '../visitors.ts'
import { type Shot, VISITORS } from './load.ts'

// `node paced.js URL PATH SECONDS CONNECTIONS REQUESTS-A-SECOND`: one shot, which it sends to the process that started it.
const [url = '', path = '', seconds, connections, rate] = process.argv.slice(2)
const TURN_MS = 10

const visitors = visitorAddresses(VISITORS).map((address) => browserFields(address))
const agent = new Agent({ keepAlive: true, maxSockets: Number(connections) })
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
for (let now = begun; now < until; now = performance.now()) {
  const due = ((now - begun) / 1_000) * Number(rate)
  while (sent < due) answers.push(ask())
  await delay(TURN_MS)
}
await Promise.all(answers)
latencies.sort((x, y) => x - y)
const at = (share: number): number => latencies[Math.floor(latencies.length * share)] ?? 0
const took = (performance.now() - begun) / 1_000
process.send?.({ requests: latencies.length, seconds: took, p50: at(0.5), p99: at(0.99), errors } satisfies Shot)
agent.destroy()
