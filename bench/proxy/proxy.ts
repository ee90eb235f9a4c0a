import type { InspectionRequest } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { browserFields, makeRequest } from '../browser.ts'
import { computeSpread, type Figure, type Goal, makeFigure, type Spread } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { median } from '../report/statistics.ts'
import { compareRounds, measure, repeat } from '../rounds.ts'
import { visitorAddresses } from '../visitors.ts'
import { measureChallenges } from './challenged.ts'
import { BARE, BASELINE, BEFORE, listContenders, OURS, PEER } from './contenders.ts'
import { CONNECTIONS, VISITORS } from './load.ts'
import { benchPhases } from './phases.ts'
import { type Size, sizePath } from './servers.ts'
import { computeCost, shootInTurn, type Taken, type Target } from './shot.ts'
import { onStand, type Stand } from './stand.ts'
import { benchTls } from './tls.ts'

/** Compares the proxy with others and with itself by processor time: the hop, TLS, and each phase of a request. */
export function benchProxy(run: Run): Promise<void> {
  return onStand(run, async (stand) => {
    await benchHop(run, stand)
    await benchTls(run, stand)
    await benchPhases(run, stand)
  })
}

const HOP: Goal = { atMost: 4.5, of: 'ratio' }
/** Requests of the open loop, as a share of those that http-proxy carries in a closed loop: at a rate each costs half as much again. */
const SHARE = 40

/**
 * Cost of a request through each proxy to an nginx beside it, in processor time of the proxy, as a
 * multiple of nginx that only forwards. All of them stay up; each has one shot in every round, in shuffled order.
 */
async function benchHop(run: Run, stand: Stand): Promise<void> {
  const targets: Omit<Target, 'ask'>[] = []
  for (const { name, start } of listContenders()) targets.push({ name, program: await start(stand) })
  const figures: Figure[] = []
  const add = (name: string, what: string, unit: string, values: readonly number[], goal?: Goal) =>
    figures.push(makeFigure(name, what, unit, computeSpread(values), goal))
  const shootAll = async (names: readonly string[], size: Size, rate?: number) => {
    const chosen = targets.filter(({ name }) => names.includes(name))
    // At a rate, each connection that opens delays requests: a longer shot has fewer of them.
    const longer = rate === undefined ? 1 : 3
    const ask: Target['ask'] = (url, seconds) => stand.shoot(url, sizePath(size), seconds * longer, rate)
    const taken = await shootInTurn(
      run,
      chosen.map((target) => ({ ...target, ask })),
    )
    return new Map(chosen.map(({ name }, at) => [name, taken[at] ?? []]))
  }
  const all = targets.map(({ name }) => name)
  const readP99 = (taken: readonly Taken[]) => taken.map(({ p99 }) => p99)
  const readCpu = (taken: readonly Taken[] = []) => taken.map(({ cpu }) => cpu)
  const small = await shootAll(all, '100 B')
  for (const [name, taken] of small) {
    const beside = { peer: BASELINE, taken: small.get(BASELINE) ?? [] }
    figures.push(
      ...computeCost({ case: name, what: '100 B' }, taken, { ...beside, goal: name === OURS ? HOP : undefined }),
    )
    add(name, '100 B, p99', 'ms', readP99(taken))
  }
  const hops = readCpu(small.get(OURS))
  const addTimes = (peer: string, goal?: Goal) => {
    const value = compareRounds(hops, readCpu(small.get(peer)))
    figures.push(makeFigure(OURS, `100 B, times ${peer}`, '', value, goal))
  }
  addTimes(BARE, { atMost: 1.6 })
  if (small.has(BEFORE)) addTimes(BEFORE)
  const rate = (SHARE / 100) * (1e6 / median(readCpu(small.get(PEER))))
  for (const [name, taken] of await shootAll([OURS, BEFORE, PEER, BARE], '100 B', rate))
    add(name, `100 B, p99 at ${SHARE} %`, 'ms', readP99(taken))
  const large = run.quick ? new Map<string, readonly Taken[]>() : await shootAll(all, '100 kB')
  for (const [name, taken] of large) {
    figures.push(
      ...computeCost({ case: name, what: '100 kB' }, taken, { peer: BASELINE, taken: large.get(BASELINE) ?? [] }),
    )
    const megabytes = taken.map((one) => one.megabytes)
    add(name, 'resident', 'MB', megabytes, name === OURS ? { atMost: 220 } : undefined)
  }
  for (const { program } of targets) await program.stop()
  const share: Spread = { median: ((await decisionTime(run, stand.dataDir)) / median(hops)) * 100, runs: 1 }
  figures.push(makeFigure(OURS, 'the decision, of 100 B', '%', share, { atMost: 8 }))
  figures.push(...(await measureChallenges(run, stand)))
  run.table({ title: `The hop, by wrk with ${CONNECTIONS} connections`, figures })
}

/** Microseconds of processor time that the proxy's decision takes of the requests of the load, which come in turn. */
async function decisionTime(run: Run, dataDir: string): Promise<number> {
  const sallyport = await open({ dataDir, trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(VISITORS).map((address) => makeRequest({ fields: browserFields(address) }))
  const decide = (at: number) => sallyport.decide(requests[at] as InspectionRequest)
  const [measured] = await measure(run, [repeat('decide()', requests.length, decide)])
  await sallyport.close()
  return (measured?.nanoseconds.median ?? Number.NaN) / 1000
}
