import { open } from '@sallyport/engine'
import { browserFields, makeRequest } from '../browser.ts'
import { computeSpread, type Figure, type Goal, type Spread } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { measure } from '../rounds.ts'
import { visitorAddresses } from '../visitors.ts'
import { BASELINE, CONTENDERS, OURS } from './contenders.ts'
import { CONNECTIONS, VISITORS } from './load.ts'
import { benchPhases } from './phases.ts'
import { type Size, sizePath } from './servers.ts'
import { computeCost, shootInTurn, type Target } from './shot.ts'
import { onStand, PROXY, type Stand } from './stand.ts'
import { benchTls } from './tls.ts'

/** Compares the proxy with others and with itself by processor time: the hop, TLS, and each phase of a request. */
export function benchProxy(run: Run): Promise<void> {
  return onStand(run, async (stand) => {
    await benchHop(run, stand)
    await benchTls(run, stand)
    await benchPhases(run, stand)
  })
}

const GOALS: Readonly<Record<Size, Goal | undefined>> = { '100 B': { atMost: 4.5, of: 'ratio' }, '100 kB': undefined }

/**
 * Cost of a request through each proxy to an nginx beside it, in processor time of the proxy, as a
 * multiple of nginx that only forwards. All of them stay up; each has one shot in every round, in shuffled order.
 */
async function benchHop(run: Run, { folder, dataDir, origin, shoot }: Stand): Promise<void> {
  const targets: Omit<Target, 'ask'>[] = []
  for (const { name, missing, start } of CONTENDERS) {
    if (missing !== undefined) run.skip(`${name}: ${missing}`)
    else targets.push({ name, program: await start({ folder, dataDir, upstream: origin.url, processor: PROXY }) })
  }
  const figures: Figure[] = []
  let hop = Number.NaN
  for (const size of run.pick<readonly Size[]>(['100 B', '100 kB'], ['100 B'])) {
    const ask: Target['ask'] = (url, seconds) => shoot(url, sizePath(size), seconds)
    const taken = await shootInTurn(
      run,
      targets.map((target) => ({ ...target, ask })),
    )
    targets.forEach(({ name }, at) => {
      const goal = name === OURS ? GOALS[size] : undefined
      const of = (read: (one: (typeof taken)[number][number]) => number) => computeSpread((taken[at] ?? []).map(read))
      figures.push(
        ...computeCost({ case: name, what: size }, taken[at], { peer: BASELINE, taken: taken[0] ?? [], goal }),
      )
      if (size === '100 B') figures.push({ case: name, what: `${size}, p99`, unit: 'ms', value: of(({ p99 }) => p99) })
      else {
        const resident = { case: name, what: 'resident', unit: 'MB', value: of(({ megabytes }) => megabytes) }
        figures.push(name === OURS ? { ...resident, goal: { atMost: 200 } } : resident)
      }
      if (size === '100 B' && name === OURS) hop = of(({ cpu }) => cpu).median
    })
  }
  for (const { program } of targets) await program.stop()
  const share: Spread = { median: ((await decisionTime(run, dataDir)) / hop) * 100, runs: 1 }
  figures.push({ case: OURS, what: 'the decision, of 100 B', unit: '%', value: share, goal: { atMost: 8 } })
  run.table({ title: `The hop, by wrk with ${CONNECTIONS} connections`, figures })
}

/** Microseconds of processor time that the proxy's decision takes of the requests of the load, which come in turn. */
async function decisionTime(run: Run, dataDir: string): Promise<number> {
  const sallyport = await open({ dataDir, trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(VISITORS).map((address) => makeRequest({ fields: browserFields(address) }))
  const decideAll = () => {
    let last: object | undefined
    for (const one of requests) last = sallyport.decide(one)
    return last
  }
  const [measured] = await measure(run, [{ name: 'decide()', operations: requests.length, run: decideAll }])
  await sallyport.close()
  return (measured?.nanoseconds.median ?? Number.NaN) / 1000
}
