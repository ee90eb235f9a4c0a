import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { browserFields } from '../browser.ts'
import { freePort, type Program, startProgram } from '../proxy/program.ts'
import { startSallyport } from '../proxy/sallyport.ts'
import { counted, type Figure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { quantile } from '../report/statistics.ts'
import { scratch } from '../scratch.ts'
import { visitorAddresses } from '../visitors.ts'
import { ASKED, passesFor, requestWith, SECRET, withoutStore } from './passes.ts'

/** Requests of each kind in a second, from one address. */
const RATE = 10_000
const ATTACKER = '93.184.216.34'
/** Visitors with a pass, one request each in turn. */
const VISITORS = 50
const EVERY_MS = 10

/** A proxy that asks everybody, while one address asks for questions and gives bad answers, and others open pages. */
export async function benchFlood(run: Run): Promise<void> {
  await scratch(async (folder, cleanup) => {
    const origin = createServer((_, res) => res.end('a page'))
    await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
    cleanup.teardown(() => origin.close())
    const upstream = `http://127.0.0.1:${(origin.address() as AddressInfo).port}`
    const proxy = await startSallyport({
      folder,
      dataDir: join(folder, 'state'),
      upstream,
      trustProxy: ['loopback'],
      processor: 0,
      raised: {
        data: { refresh: false, city: false },
        challenge: { secret: SECRET },
        log: { requests: 'off' },
        policy: { preset: 'observe', rules: [{ id: 'ask', match: {}, action: 'challenge', challenge: { level: 1 } }] },
      },
    })
    const passes = await passesFor('127.0.0.1', VISITORS)
    const { text } = withoutStore({ now: Date.now }).issue(requestWith('', '127.0.0.1'), ASKED)
    const flood: Flood = { passes, bad: `${text}.${Array(32).fill(7).join(',')}` }
    const ours = await flooded(run, 'the proxy', proxy, flood).finally(() => proxy.stop())
    const peerPort = await freePort()
    const peer = await startProgram({
      command: process.execPath,
      args: [join(import.meta.dirname, 'flood-peer.js'), upstream, String(PAGE_BYTES), String(peerPort)],
      port: peerPort,
      processor: 0,
    })
    const least = await flooded(run, 'bare node:http', peer, flood).finally(() => peer.stop())
    const row = (name: string, { alone, inFlood }: Flooded): readonly Figure[] => [
      { case: name, what: 'p99 alone', unit: 'ms', value: counted(quantile(alone.times, 0.99)) },
      { case: name, what: 'median', unit: 'ms', value: counted(quantile(inFlood.times, 0.5)) },
      { case: name, what: 'p99', unit: 'ms', value: counted(quantile(inFlood.times, 0.99)) },
      { case: name, what: 'shed', unit: '%', value: counted(inFlood.shed * 100) },
      { case: name, what: 'questions answered', unit: '/s', value: counted(Math.round(inFlood.questions)) },
      { case: name, what: 'bad answers answered', unit: '/s', value: counted(Math.round(inFlood.answers)) },
    ]
    const rate = RATE.toLocaleString('en')
    run.table({
      title: `Others, who hold a pass, while ${rate} questions and as many bad answers a second come from one address`,
      figures: [
        ...row('Sallyport, on one processor', ours).map((figure) =>
          figure.what === 'p99' ? { ...figure, goal: { atMost: 50 } } : figure,
        ),
        ...row('bare `node:http` that answers 403', least),
      ],
    })
  })
}

/** Bytes of a page at level 1. */
const PAGE_BYTES = 3_000

/** Requests of a flood: passes of others, and the bad answer of one address. */
interface Flood {
  readonly passes: readonly string[]
  readonly bad: string
}

/** How others were answered before the flood, and in it. */
interface Flooded {
  readonly alone: Looked
  readonly inFlood: Looked & { readonly questions: number; readonly answers: number }
}

/** Looks at a server alone and in the flood; the generators share this machine's processors with it and with its visitors. */
async function flooded(
  run: Run,
  name: string,
  { url }: Pick<Program, 'url'>,
  { passes, bad }: Flood,
): Promise<Flooded> {
  const port = Number(new URL(url).port)
  const seconds = run.pick(15, 1)
  run.step(`visitors alone, ${name}`)
  await look(port, passes, run.pick(5, 0.5))
  const alone = await look(port, passes, seconds)
  run.step(`visitors in the flood, ${name}`)
  const floods = [start(port, ''), start(port, bad)]
  try {
    for (const flood of floods) await once(flood, 'message')
    await delay(run.pick(3_000, 300))
    const from = await Promise.all(floods.map(answeredBy))
    const began = performance.now()
    const inFlood = await look(port, passes, seconds)
    const to = await Promise.all(floods.map(answeredBy))
    const took = (performance.now() - began) / 1_000
    const [questions = 0, answers = 0] = to.map((state, at) => (state - (from[at] ?? 0)) / took)
    return { alone, inFlood: { ...inFlood, questions, answers } }
  } finally {
    for (const flood of floods) flood.kill('SIGKILL')
  }
}

function start(port: number, solution: string): ChildProcess {
  return fork(join(import.meta.dirname, 'flood-process.js'), [String(port), String(RATE), ATTACKER, solution])
}

async function answeredBy(flood: ChildProcess): Promise<number> {
  flood.send('count')
  const [state] = (await once(flood, 'message')) as [{ readonly answered: number }]
  return state.answered
}

/** The milliseconds that answers took, and the share of requests that were shed. */
interface Looked {
  readonly times: readonly number[]
  readonly shed: number
}

/** Requests of visitors, of which one is sent every ten milliseconds, whether others are answered or not. */
async function look(port: number, passes: readonly string[], seconds: number): Promise<Looked> {
  const addresses = visitorAddresses(passes.length)
  const asked: Promise<number | 'shed'>[] = []
  for (let sent = 0; sent < (seconds * 1_000) / EVERY_MS; sent++) {
    asked.push(timeOf(port, passes[sent % passes.length] as string, addresses[sent % passes.length] as string))
    await delay(EVERY_MS)
  }
  const outcomes = await Promise.all(asked)
  const times = outcomes.filter((outcome) => outcome !== 'shed')
  return { times, shed: 1 - times.length / outcomes.length }
}

function timeOf(port: number, pass: string, address: string): Promise<number | 'shed'> {
  const headers: Record<string, string> = {}
  const fields = browserFields(address)
  for (let at = 4; at < fields.length; at += 2) headers[fields[at] as string] = fields[at + 1] as string
  const began = performance.now()
  return new Promise((resolve, reject) => {
    const sent = ask({ port, host: '127.0.0.1', path: '/', headers: { ...headers, Cookie: `sallyport=${pass}` } })
    sent.on('error', reject)
    sent.on('response', (answer) => {
      const { statusCode } = answer
      answer.resume()
      if (statusCode !== 200 && statusCode !== 503) reject(new Error(`a visitor with a pass: ${statusCode}`))
      answer.on('end', () => resolve(statusCode === 503 ? 'shed' : performance.now() - began))
    })
    sent.end()
  })
}
