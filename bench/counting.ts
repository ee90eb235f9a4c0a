import { fork } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { compilePolicy, createCounter, createInspector, type Decision, parseTrust, type Rule } from '@sallyport/core'
import { createMemoryCounts, openCounts } from '@sallyport/engine'
import { NO_REDIS, startRedis } from '@sallyport/engine/testing'
import { MemoryStore } from 'express-rate-limit'
import { RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible'
import { counted, type Figure } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, costsOf, measure } from './rounds.ts'
import { scratch } from './scratch.ts'

/** The plugin does not export it. */
const FastifyStore = createRequire(import.meta.url)('@fastify/rate-limit/store/LocalStore') as new (
  continueExceeding: boolean,
  exponentialBackoff: boolean,
) => { incr(key: string, done: () => void, windowMs: number, max: number): void }

const VISITORS = 1_000
const OPERATIONS = 100_000
const MAX = 1_000_000_000
const MINUTE = 60_000

/** Cost of a counting rule to a request, beside the rate limiters that people use, and whether processes agree. */
export async function benchCounting(run: Run): Promise<void> {
  await benchMemory(run)
  await scratch(async (folder, cleanup) => {
    if (NO_REDIS) run.skip('counting in Redis, which is not installed')
    const redis = NO_REDIS ? undefined : (await startRedis(cleanup)).url
    if (redis !== undefined) await benchRedis(run, redis)
    await benchExact(run, { SQLite: `sqlite:${join(folder, 'counts.db')}`, ...(redis && { Redis: redis }) })
  })
}

async function benchMemory(run: Run): Promise<void> {
  const flexible = new RateLimiterMemory({ points: MAX, duration: 60 })
  const express = new MemoryStore()
  express.init({ windowMs: MINUTE } as Parameters<MemoryStore['init']>[0])
  const fastify = new FastifyStore(false, false)
  const rows = await measure(run, [
    ours('one rule, sliding', ['sliding']),
    ours('one rule, fixed', ['fixed']),
    ours('one rule, bucket', ['bucket']),
    ours('three rules', ['sliding', 'fixed', 'bucket']),
    theirs('`rate-limiter-flexible`', (key) => flexible.consume(key)),
    theirs('`express-rate-limit`, its store', (key) => express.increment(key)),
    theirs('`@fastify/rate-limit`, its store', (key) => fastify.incr(key, () => {}, MINUTE, MAX)),
  ])
  express.shutdown()
  const goals = { 'Sallyport, one rule, sliding': { atMost: 1.5 } }
  run.table({ title: 'One request counted in memory, of 1,000 visitors by turns', figures: costsOf(rows, goals) })
}

/** Decisions as hosts have them; deciding is not measured. */
function decisionsOf(kinds: readonly ('sliding' | 'fixed' | 'bucket')[]): readonly Decision[] {
  const rules = kinds.map(
    (kind): Rule => ({
      id: `by-${kind}`,
      match: {},
      action: 'throttle',
      limit: { key: 'client', kind, max: MAX, window: MINUTE },
    }),
  )
  const inspector = createInspector({
    clock: { now: Date.now },
    snapshots: { current: () => ({ rangesLoaded: false, proxiesLoaded: false, sources: [] }) },
    trust: parseTrust([]),
    policy: compilePolicy({ preset: 'observe', rules }),
    mode: 'enforce',
  })
  return Array.from({ length: VISITORS }, (_, at) =>
    inspector.decide({
      peer: `8.8.${at >> 8}.${at & 255}`,
      method: 'GET',
      target: '/',
      scheme: 'http',
      httpVersion: '1.1',
      fields: [],
    }),
  )
}

function ours(name: string, kinds: Parameters<typeof decisionsOf>[0]): Candidate {
  const decisions = decisionsOf(kinds)
  const counter = createCounter({ counts: createMemoryCounts(), ipv6Prefix: 64, flights: 'bench' })
  const run = (): number => {
    let allowed = 0
    for (let at = 0; at < OPERATIONS; at++) {
      const counted = counter.count(decisions[at % VISITORS] as Decision)
      if (!(counted instanceof Promise) && counted.decision.action === 'allow') allowed++
    }
    return allowed
  }
  return { name: `Sallyport, ${name}`, operations: OPERATIONS, run }
}

function theirs(name: string, take: (key: string) => unknown): Candidate {
  const keys = Array.from({ length: VISITORS }, (_, at) => `8.8.${at >> 8}.${at & 255}`)
  const run = async (): Promise<void> => {
    for (let at = 0; at < OPERATIONS; at++) await take(keys[at % VISITORS] as string)
  }
  return { name, operations: OPERATIONS, run }
}

const ASKED = 2_000

async function benchRedis(run: Run, url: string): Promise<void> {
  const counts = await openCounts(url)
  const { createClient } = await import('@redis/client')
  const client = await createClient({ url }).connect()
  const flexible = [0, 1, 2, 3, 4].map(
    (at) =>
      new RateLimiterRedis({
        storeClient: client,
        useRedisPackage: true,
        keyPrefix: `f${at}`,
        points: MAX,
        duration: 60,
      }),
  )
  const limit = { kind: 'sliding', max: MAX, windowMs: MINUTE, refill: MAX } as const
  const tasksOf = (rules: number) =>
    Array.from({ length: rules }, (_, at) => ({ key: `rule ${at}`, cost: 1, max: MAX, limit, binding: true }))
  const candidate = (name: string, ask: () => Promise<unknown>): Candidate => ({
    name,
    operations: ASKED,
    async run() {
      for (let at = 0; at < ASKED; at++) await ask()
    },
  })
  const [one, five] = [tasksOf(1), tasksOf(5)]
  const rows = await measure(run, [
    candidate('Sallyport, one rule', async () => counts.take(one, '')),
    candidate('Sallyport, five rules, one round trip', async () => counts.take(five, '')),
    candidate('`rate-limiter-flexible`, one limit', async () => flexible[0]?.consume('k')),
    candidate('`rate-limiter-flexible`, five limits', () => Promise.all(flexible.map((each) => each.consume('k')))),
  ])
  await counts.close()
  client.destroy()
  run.table({ title: "One request counted in Redis, this process's time", figures: costsOf(rows) })
}

const PROCESSES = 16
const EACH = 10_000

/** Processes that take from one limit at the same time: how many of all requests pass. */
async function benchExact(run: Run, places: Readonly<Record<string, string>>): Promise<void> {
  const processes = run.pick(PROCESSES, 2)
  const each = run.pick(EACH, 1_000)
  const figures: Figure[] = []
  for (const [place, url] of Object.entries(places)) {
    for (const kind of ['fixed', 'sliding', 'bucket']) {
      run.step(`${processes} processes on one limit, ${place}, ${kind}`)
      const passed = await Promise.all(Array.from({ length: processes }, () => passedOf(url, kind, each)))
      const sum = passed.reduce((total, one) => total + one, 0)
      figures.push({ case: place, what: `${kind}, passed`, unit: '', value: counted(sum) })
    }
  }
  const title = `${processes} processes of ${each.toLocaleString('en')} requests each against one limit of ${each.toLocaleString('en')} a day`
  run.table({ title, figures })
}

async function passedOf(url: string, kind: string, each: number): Promise<number> {
  const child = fork(join(import.meta.dirname, 'counting-process.js'), [url, kind, String(each)])
  const [passed] = await once(child, 'message')
  return Number(passed)
}
