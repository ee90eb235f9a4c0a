import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { type ConfigInput, open } from '@sallyport/engine'
import { startPostgres, startRedis, type TestServer } from '@sallyport/engine/testing'
import { numberFlag } from '../flags.ts'
import type { Measured } from '../promises.ts'
import { NO_DATA } from './gate.ts'
import { scratch } from './scratch.ts'

/** Requests for as long as this, one after another in each of some lanes. */
const OUTAGE_MS = numberFlag('outage-seconds', 10) * 1_000
const LANES = 8

const OUTAGES: Readonly<Record<string, (server: TestServer) => Promise<void>>> = {
  stop: (server) => server.stop(),
  'kill -9': (server) => server.kill(),
  SIGSTOP: async (server) => server.freeze(),
}

interface Outage {
  readonly server: TestServer
  readonly config: ConfigInput
  /** The path that is asked for. */
  readonly path: string
  /** The answer meanwhile, which comes in so many milliseconds. */
  readonly wanted: string
  readonly withinMs: number
}

/** Until everything is as before, once the store is there again. */
const BACK_WITHIN_MS = 3_000
const PATIENCE_MS = 30_000
/** Decisions about visitors go on: none takes longer because of a store. */
const MAX_DECISION_MS = 50

/** PostgreSQL goes for some seconds, in three ways: customers hear 503 at once, visitors are judged as before. */
export function faultPostgres(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const server = await startPostgres(cleanup)
    const config = { store: await server.database() }
    return goThrough(folder, { server, config, path: '/v1/user/limits', wanted: '503 (limit 0)', withinMs: 1_000 })
  })
}

/** Redis goes for some seconds: limits are counted by each process meanwhile, and never unlimited. */
export function faultRedis(): Promise<Measured> {
  return scratch(async (folder, cleanup) => {
    const server = await startRedis(cleanup)
    const config = { redis: server.url }
    return goThrough(folder, { server, config, path: '/v1/myip', wanted: '200 (limit 30)', withinMs: 300 })
  })
}

async function goThrough(folder: string, outage: Outage): Promise<Measured> {
  const rows: Record<string, Awaited<ReturnType<typeof sufferOutage>>> = {}
  for (const [name, begin] of Object.entries(OUTAGES)) {
    rows[name] = await sufferOutage(join(folder, name), outage, begin)
  }
  console.table(Object.fromEntries(Object.entries(rows).map(([name, { broken: _, ...row }]) => [name, row])))
  const all = Object.values(rows)
  const most = (read: (row: (typeof all)[number]) => number) => Math.max(...all.map(read))
  return {
    measured: `${Object.keys(rows).join(', ')}, ${OUTAGE_MS / 1000} s each: ${all[0]?.answers}, the slowest ${most(({ slowest }) => slowest)} ms, the slowest decision ${most(({ decision }) => decision)} ms, back ${most(({ back }) => back)} ms after`,
    broken: Object.entries(rows).flatMap(([name, { broken }]) => broken.map((text) => `${name}: ${text}`)),
  }
}

async function sufferOutage(dataDir: string, outage: Outage, begin: (server: TestServer) => Promise<void>) {
  const { server, config, path, wanted, withinMs } = outage
  const sallyport = await open(
    { dataDir, data: { refresh: false, sources: NO_DATA }, ...config },
    { onFault: () => {} },
  )
  const { key } = await sallyport.keyring.issue({ plan: 'enterprise' })
  let client = 0
  let decision = 0
  const ask = async () => {
    const request = {
      peer: `11.0.${(client >> 6) & 255}.${client++ & 63}`,
      method: 'GET',
      target: path,
      path,
      scheme: 'http' as const,
      httpVersion: '1.1',
      fields: ['Authorization', `Bearer ${key}`],
    } as const
    const decided = performance.now()
    sallyport.decide(request)
    const start = performance.now()
    decision = Math.max(decision, start - decided)
    const response = await sallyport.api({ ...request, query: new URLSearchParams(), json: async () => undefined })
    const limit = Number(response?.headers['X-RateLimit-Limit'] ?? 0)
    return { text: `${response?.status ?? 0} (limit ${limit})`, ms: performance.now() - start }
  }
  const whole = await ask()
  decision = 0
  await begin(server)
  const answers: Awaited<ReturnType<typeof ask>>[] = []
  const until = performance.now() + OUTAGE_MS
  const lane = async () => {
    while (performance.now() < until) {
      answers.push(await ask())
      await delay(5)
    }
  }
  await Promise.all(Array.from({ length: LANES }, lane))
  if (begin === OUTAGES['SIGSTOP']) server.thaw()
  else await server.restart()
  const returned = performance.now()
  let last = await ask()
  while (last.text !== whole.text && performance.now() < returned + PATIENCE_MS) {
    await delay(20)
    last = await ask()
  }
  const back = Math.round(performance.now() - returned)
  await sallyport.close()
  const texts = [...new Set(answers.map(({ text }) => text))]
  const slowest = Math.round(Math.max(...answers.map(({ ms }) => ms)))
  const others = texts.filter((text) => text !== wanted)
  const broken = [
    ...(others.length > 0 ? [`answered ${others.join(', ')}`] : []),
    ...(slowest > withinMs ? [`an answer took ${slowest} ms, not ${withinMs}`] : []),
    ...(decision > MAX_DECISION_MS ? [`a decision took ${Math.round(decision)} ms`] : []),
    ...(last.text !== whole.text ? ['never back'] : back > BACK_WITHIN_MS ? [`back after ${back} ms`] : []),
  ]
  return { answers: texts.join(', '), slowest, decision: Number(decision.toFixed(1)), back, broken }
}
