import { type InspectionRequest, parseAddress } from '@sallyport/core'
import { counted, makeFigure } from '../report/result.ts'
import type { Run } from '../report/run.ts'
import { listCosts, measure, repeat } from '../rounds.ts'
import { ASKED, CLIENT, makePasses, requestWith, withoutStore } from './passes.ts'
import { solve } from './solve.ts'

/** More passes than are remembered, so that each is a new one. */
const PASSES = 6_000
/** As many as are at one site at a time. */
const REGULARS = 500

/** Cost of a question, of its answer and of a pass to the process, without a store. */
export async function benchCalls(run: Run): Promise<void> {
  const challenges = withoutStore({ now: Date.now })
  const request = requestWith()
  const solution = solve(challenges.issue(request, ASKED))
  const from = parseAddress(CLIENT.address)
  run.step('passes')
  const passes = await makePasses(run.pick(PASSES, REGULARS))
  const withPass = passes.map((pass) => requestWith(`__Host-sallyport=${pass}`))
  const operations = run.pick(50_000, REGULARS)

  const loop = (name: string, work: (at: number) => unknown) => repeat(name, operations, work)
  let next = 0
  const read = (one: InspectionRequest, address = from) => {
    return challenges.findPass(one, CLIENT.network, Date.now(), address)
  }
  const rows = await measure(run, [
    loop('a request without a pass', () => read(request)),
    loop('a pass of a remembered visitor', (at) => read(withPass[at % REGULARS] as InspectionRequest)),
    loop('a pass that is seen first', () => read(withPass[next++ % withPass.length] as InspectionRequest)),
    loop('a question, level 2', () => challenges.issue(request, ASKED)),
    {
      name: 'its answer',
      operations: operations / 10,
      async run() {
        for (let at = 0; at < operations / 10; at++) await challenges.redeem(request, solution, CLIENT)
      },
    },
  ])
  const [none, ...others] = rows
  const goals = [0.2, 3, 5, 60]
  const beyond = others.map(({ name, nanoseconds }, at) => {
    const more = counted((nanoseconds.median - (none?.nanoseconds.median ?? 0)) / 1_000)
    return makeFigure(name, 'beyond a request without', 'µs', more, { atMost: goals[at] })
  })
  const costs = listCosts(rows).map(({ case: name, what, unit, value }) => makeFigure(name, what, unit, value))
  run.table({
    title: 'Passes, questions and answers, without the store, by processor time',
    figures: [...costs, ...beyond],
  })
}
