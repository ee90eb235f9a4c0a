import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BROWSER } from './browser.ts'
import { median } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const FORGED = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const FLOOD = 10_000
const PER_SECOND = 2000
const ROUNDS = 5
/** A request of the other traffic so often, in milliseconds. */
const OTHERS_EVERY = 4

/**
 * What other visitors of an Express application wait while 10,000 requests come from 10,000 addresses: those of
 * browsers, and those of forged Googlebots, each of which costs a question of DNS. In turn, with new addresses each time.
 */
export async function benchFlood(dataDir: string): Promise<void> {
  const dns = fork(join(import.meta.dirname, 'name-server.js'))
  const [nameServer] = await once(dns, 'message')
  const child = fork(join(import.meta.dirname, 'server.js'), ['express', dataDir, String(nameServer)])
  const [[, port]] = await once(child, 'message')
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const addresses = visitorAddresses(FLOOD * 2 * (ROUNDS + 1))
  const shots: Record<string, Shot[]> = { [BROWSER]: [], [FORGED]: [] }
  try {
    for (let round = 0; round <= ROUNDS; round++) {
      for (const [turn, userAgent] of [BROWSER, FORGED].entries()) {
        const from = (round * 2 + turn) * FLOOD
        const before = await answerOf(child)
        const waits = await shoot(Number(port), agent, addresses.slice(from, from + FLOOD), userAgent)
        const cpu = (Number(await answerOf(child)) - Number(before)) / (FLOOD + waits.length)
        if (round > 0) shots[userAgent]?.push({ waits, cpu })
      }
    }
    console.log(`\nother visitors while ${FLOOD} requests come at ${PER_SECOND} a second, ${ROUNDS} rounds`)
    console.table({ 'of browsers': rowOf(shots[BROWSER]), 'of forged Googlebots': rowOf(shots[FORGED]) })
    console.log(await answerOf(dns))
  } finally {
    child.kill()
    dns.kill()
    agent.destroy()
  }
}

interface Shot {
  /** Milliseconds of each request of the other traffic. */
  readonly waits: readonly number[]
  /** Microseconds of processor time of the server for one request. */
  readonly cpu: number
}

function rowOf(shots: readonly Shot[] = []) {
  const of = (share: number) => median(shots.map(({ waits }) => percentile(waits, share)))
  return {
    'median, ms': Number(of(0.5).toFixed(2)),
    'p99, ms': Number(of(0.99).toFixed(2)),
    'µs of processor a request': Number(median(shots.map(({ cpu }) => cpu)).toFixed(1)),
  }
}

async function answerOf(child: ChildProcess): Promise<unknown> {
  child.send('')
  const [answer] = await once(child, 'message')
  return answer
}

/** Sends the flood, and beside it the other traffic, of which it gives the waits in milliseconds. */
async function shoot(port: number, agent: Agent, addresses: readonly string[], userAgent: string): Promise<number[]> {
  const waits: number[] = []
  const others: Promise<void>[] = []
  let over = false
  const steady = (async () => {
    for (let due = performance.now(); !over; due += OTHERS_EVERY) {
      await delay(Math.max(0, due - performance.now()))
      const start = performance.now()
      others.push(ask(port, agent, '73.162.10.20', BROWSER).then(() => void waits.push(performance.now() - start)))
    }
  })()
  const flood: Promise<void>[] = []
  const start = performance.now()
  for (const address of addresses) {
    const early = (flood.length * 1000) / PER_SECOND - (performance.now() - start)
    if (early > 2) await delay(early)
    flood.push(ask(port, agent, address, userAgent))
  }
  await Promise.all(flood)
  over = true
  await steady
  await Promise.all(others)
  return waits
}

function ask(port: number, agent: Agent, address: string, userAgent: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'x-forwarded-for': address, 'user-agent': userAgent }
    get({ port, host: '127.0.0.1', agent, headers }, (response) => {
      response.resume()
      response.on('end', resolve)
    }).on('error', reject)
  })
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((x, y) => x - y)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
