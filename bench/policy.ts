import type { InspectionRequest } from '@sallyport/core'
import { type ConfigInput, open, type Sallyport } from '@sallyport/open'
import { browserFields } from './browser.ts'
import { type Figure, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { quantile } from './report/statistics.ts'
import { costsOf, measure, takeTurns } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const VISITS = 20_000
const REGULARS = 500
/** Policies of mounts that are made in a round. */
const MOUNTS = 100

type Rules = NonNullable<NonNullable<ConfigInput['policy']>['rules']>

/** Cost of a policy of many rules: a whole decision with 50 of them, and decisions as rules grow. */
export async function benchPolicy(run: Run): Promise<void> {
  const requests = visitorAddresses(VISITS).map((address): InspectionRequest => {
    const fields = browserFields(address)
    return { peer: '127.0.0.1', method: 'GET', target: '/a/b?c', scheme: 'http', httpVersion: '1.1', fields }
  })
  await benchDecision(run, requests)
  await benchRules(run, requests)
  await benchMounts(run, requests)
}

/** Cost that `inspection(sallyport, { policy })` adds to a process that has opened its data. */
async function benchMounts(run: Run, requests: readonly InspectionRequest[]): Promise<void> {
  const sallyport = await openWith(rulesOf(1))
  const kept: unknown[] = []
  const rounds = run.pick(6, 2)
  const measured = Array.from({ length: rounds + 1 }, () => {
    const before = heldBytes()
    for (let mount = 0; mount < MOUNTS; mount++) {
      const decider = sallyport.decider({ policy: rulesOf(50) })
      for (const request of requests.slice(0, 10)) decider.decide(request)
      kept.push(decider)
    }
    return (heldBytes() - before) / MOUNTS / 1e6
  })
  // In the first round the memory of visitors is filled too.
  const value = spreadOf(measured.slice(1))
  const figure: Figure = { case: 'a mount with 50 rules', what: 'memory', unit: 'MB', value, goal: { atMost: 1 } }
  run.table({ title: 'A policy beside that of the service, over the same data', figures: [figure] })
  await sallyport.close()
}

/** After a collection, so that only what is kept counts. */
function heldBytes(): number {
  for (let pass = 0; pass < 3; pass++) globalThis.gc?.()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}

function openWith(rules: Rules): Promise<Sallyport> {
  return open({ trustProxy: ['loopback'], policy: { rules }, data: { refresh: false } })
}

/** One decision at a time, so that the slow ones show: client address, network, user agent, headers, 50 rules. */
async function benchDecision(run: Run, requests: readonly InspectionRequest[]): Promise<void> {
  const sallyport = await openWith(rulesOf(50))
  const cases = {
    'visitors that were never seen before': VISITS,
    [`${REGULARS} visitors that come again and again`]: REGULARS,
  }
  const names = Object.keys(cases)
  const rounds = run.pick({ rounds: 6, warmUp: 2 }, { rounds: 1, warmUp: 0 })
  const taken = await takeTurns(run, names, rounds, (index) => {
    const visitors = Object.values(cases)[index] as number
    return requests.map((_, at) => {
      const start = performance.now()
      sallyport.decide(requests[at % visitors] as InspectionRequest)
      return (performance.now() - start) * 1000
    })
  })
  const goals = [{ 0.5: { atMost: 4 }, 0.99: { atMost: 15 } }, {}] as const
  const figures = names.flatMap((name, index) =>
    ([0.5, 0.9, 0.99] as const).map((share): Figure => {
      const value = spreadOf((taken[index] ?? []).map((times) => quantile(times, share)))
      const goal = (goals[index] as { readonly [share: number]: Figure['goal'] })[share]
      const what = share === 0.5 ? 'median' : `p${share * 100}`
      return { case: name, what, unit: 'µs', value, ...(goal === undefined ? {} : { goal }) }
    }),
  )
  run.table({ title: 'One decision with 50 rules', figures })
  await sallyport.close()
}

/** All are open at once and take turns. */
async function benchRules(run: Run, requests: readonly InspectionRequest[]): Promise<void> {
  const counts = run.pick([1, 10, 50, 100, 300, 1_000], [1, 50])
  const gates: Sallyport[] = []
  for (const count of counts) gates.push(await openWith(rulesOf(count)))
  const regulars = requests.slice(0, REGULARS)
  const rows = await measure(
    run,
    gates.map((gate, index) => ({
      name: counts[index] === 1 ? 'one rule' : `${counts[index]} rules`,
      operations: regulars.length * 10,
      run() {
        let last: unknown
        for (let pass = 0; pass < 10; pass++) for (const request of regulars) last = gate.decide(request)
        return last
      },
    })),
  )
  for (const gate of gates) await gate.close()
  const figures = costsOf(rows).map((figure, index) => ({ ...figure, case: 'Sallyport', at: counts[index] as number }))
  run.table({ title: 'A decision as rules grow, none of which matches', work: 'rules', chart: 'policy-rules', figures })
}

/** Rules of all kinds, none of which matches, so that every one is asked. */
function rulesOf(count: number): Rules {
  return Array.from({ length: count }, (_, at): Rules[number] => {
    const matches: readonly Rules[number]['match'][] = [
      { path: [`/area${at}/**`], method: ['POST'] },
      { asn: [4_200_000_000 + at] },
      { networkClass: ['tor'], country: ['AQ'] },
      { class: ['impostor'], path: [`/x${at}`] },
      { header: { present: [`x-key-${at}`] } },
      { vendor: [`https://agent-${at}.example`] },
      { purpose: ['training'], operator: ['OpenAI'] },
    ]
    return { id: `rule-${at}`, match: matches[at % matches.length] ?? {}, action: 'block' }
  })
}
