import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { Agent, get } from 'node:http'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { BROWSER } from './browser.ts'
import { counted, type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'
import { ratiosOf, takeTurns } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const FORGED = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const FLOOD = 10_000
const PER_SECOND = 2000
const ROUNDS = 5
/** A request of the other traffic so often, in milliseconds. */
const OTHERS_EVERY = 4

/**
 * Waits of other visitors of an Express application while 10,000 requests come from 10,000 addresses: those of
 * browsers, and those of forged Googlebots, each of which costs a question of DNS. In turn, with new addresses each
 * time.
 */
export async function benchFlood(run: Run, dataDir: string): Promise<void> {
  const flood = run.pick(FLOOD, FLOOD / 10)
  const rounds = run.pick({ rounds: ROUNDS, warmUp: 1 }, { rounds: 1, warmUp: 0 })
  const dns = fork(join(import.meta.dirname, 'name-server.js'))
  const [nameServer] = await once(dns, 'message')
  const child = fork(join(import.meta.dirname, 'server.js'), ['express', dataDir, String(nameServer)], {
    // Its decision log is nobody's.
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const [[, port]] = await once(child, 'message')
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const addresses = visitorAddresses(flood * 2 * (ROUNDS + 1))
  let from = 0
  try {
    const taken = await takeTurns(
      run,
      ['of browsers', 'of forged Googlebots'],
      rounds,
      async (index): Promise<Shot> => {
        const before = await answerOf(child)
        const some = addresses.slice(from, from + flood)
        from += flood
        const waits = await shoot(Number(port), agent, some, index === 0 ? BROWSER : FORGED)
        return { waits, cpu: (Number(await answerOf(child)) - Number(before)) / (flood + waits.length) }
      },
    )
    const { most } = (await answerOf(dns)) as { readonly most: number }
    const [ofBrowsers = [], ofForged = []] = taken
    run.table({
      title: `Other visitors while ${flood.toLocaleString('en')} requests come at ${PER_SECOND.toLocaleString('en')} a second`,
      figures: [
        ...figuresOf('of browsers', ofBrowsers, ofBrowsers),
        ...figuresOf('of forged Googlebots', ofForged, ofBrowsers),
        { case: 'of forged Googlebots', what: 'questions of DNS at one time', unit: '', value: counted(most) },
      ],
    })
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

function figuresOf(name: string, shots: readonly Shot[], baseline: readonly Shot[]): readonly Figure[] {
  const p99 = (all: readonly Shot[]) => all.map(({ waits }) => quantile(waits, 0.99))
  const of = (share: number) => spreadOf(shots.map(({ waits }) => quantile(waits, share)))
  const beside = shots === baseline ? {} : { ratio: ratiosOf(p99(shots), p99(baseline)), peer: 'of browsers' }
  return [
    { case: name, what: 'median wait', unit: 'ms', value: of(0.5) },
    { case: name, what: 'p99', unit: 'ms', value: of(0.99), ...beside },
    { case: name, what: 'a request', unit: 'µs', value: spreadOf(shots.map(({ cpu }) => cpu)) },
  ]
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
