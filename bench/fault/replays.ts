import { once } from 'node:events'
import { join } from 'node:path'
import type { ConfigInput } from '@sallyport/engine'
import { startRedis } from '@sallyport/engine/testing'
import { questionOf, solve } from '../challenge/solve.ts'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { startSallyport } from '../proxy/sallyport.ts'
import { NO_DATA } from './gate.ts'
import { startChild } from './proxy/child.ts'
import { startVisitors } from './proxy/visitors.ts'
import { type Answer, answerReader, dial, headOf, portOf } from './proxy/wire.ts'
import { scratch } from './scratch.ts'

const ROUNDS = numberFlag('replay-rounds', 25)
const REPLAYS = 200
const LIMIT = 100
/** Longer than any store is waited for. */
const PATIENCE_MS = 15_000
const BROWSER = 'User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:153.0) Gecko/20100101 Firefox/153.0'
const COUNTED = { key: 'client', window: '1h', kind: 'fixed' } as const

const POLICY: ConfigInput['policy'] = {
  preset: 'observe',
  rules: [
    { id: 'asked', match: { path: ['/asked'] }, action: 'challenge', challenge: { level: 2 } },
    { id: 'limited', match: { path: ['/limited'] }, limit: { ...COUNTED, max: LIMIT }, action: 'throttle' },
    { id: 'load', match: { path: ['/'] }, limit: { ...COUNTED, max: 10_000_000 }, action: 'throttle' },
  ],
}

/** One solution is sent 200 times at once to two machines with one Redis, while visitors ask both; then as many requests of one client. */
export function faultReplays(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const { url: redis } = await startRedis(cleanup)
    const origin = await startChild<number>('origin.js')
    cleanup.teardown(() => origin.stop())
    const machines: number[] = []
    for (const name of ['one', 'two']) {
      const machine = await startSallyport({
        folder: join(folder, name),
        dataDir: join(folder, name),
        upstream: `http://127.0.0.1:${origin.ready}`,
        trustProxy: ['loopback'],
        raised: {
          data: { refresh: false, sources: NO_DATA },
          redis,
          challenge: { secret: 'a secret that both of these machines know' },
          policy: POLICY,
        },
      })
      cleanup.teardown(() => machine.stop())
      const visitors = startVisitors(machine.url)
      cleanup.teardown(() => visitors.stop())
      machines.push(portOf(machine.url))
    }
    const passes: number[] = []
    const allowed: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      passes.push(countOf(204, await replay(machines)))
      const client = `X-Forwarded-For: 81.130.${round}.1`
      const burst = await sendAtOnce(machines, () => headOf('GET', '/limited', client, BROWSER))
      allowed.push(countOf(200, burst))
    }
    const wrong = passes.filter((count) => count !== 1).length
    const exact = allowed.filter((count) => count === LIMIT).length
    return {
      measured: `${ROUNDS} rounds of ${REPLAYS} replays: ${Math.max(...passes)} pass at the most; a limit of ${LIMIT} is exact in ${exact}, ${Math.max(...allowed)} at the most`,
      broken: wrong > 0 ? [`${wrong} rounds without exactly one pass: ${passes.join(' ')}`] : [],
    }
  })
}

/** Solves one challenge, and sends its solution from as many addresses as there are replays. */
async function replay(machines: readonly number[]): Promise<readonly Answer[]> {
  const page = headOf(
    'GET',
    '/asked',
    'X-Forwarded-For: 73.162.10.20',
    BROWSER,
    'Accept: text/html',
    'Sec-Fetch-Mode: navigate',
  )
  const [asked] = await sendAtOnce(machines.slice(0, 1), () => page, 1)
  const solution = `sallyport-solution: ${solve(questionOf(String(asked?.body)))}`
  return sendAtOnce(machines, (at) => {
    const fields = [`X-Forwarded-For: 93.184.216.${at}`, BROWSER, 'Sec-Fetch-Site: same-origin', 'Content-Length: 0']
    return headOf('POST', '/.sallyport/pass', ...fields, solution)
  })
}

/** Writes all requests in one turn, once every connection is there. */
async function sendAtOnce(ports: readonly number[], request: (at: number) => string, count = REPLAYS) {
  const sockets = Array.from({ length: count }, (_, at) => dial(ports[at % ports.length] as number, '127.0.0.1'))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const answers = sockets.map((socket, at) => {
    const answered = new Promise<Answer>((resolve, reject) => {
      socket.on('data', answerReader(resolve))
      socket.once('close', () => reject(new Error('a connection ended without an answer')))
      socket.setTimeout(PATIENCE_MS, () => reject(new Error('no answer')))
    })
    socket.write(request(at))
    return answered
  })
  try {
    return await Promise.all(answers)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function countOf(wanted: number, answers: readonly Answer[]): number {
  return answers.filter(({ status }) => status === wanted).length
}
