import type { InspectionRequest } from '@sallyport/core'
import { open } from '@sallyport/engine'
import { isbot } from 'isbot'
import { BROWSER, browserFields } from './browser.ts'
import type { Run } from './report/run.ts'
import { type Candidate, costsOf, measure } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

/** More visitors than are kept, so that each is a new one. */
const REQUESTS = 50_000
/** As many as are at one site at a time, each of whom comes again. */
const REGULARS = 500

/** One whole inspection, and one with its decision, of a browser's request from ever other addresses, and from few. */
export async function benchInspect(run: Run): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(run.pick(REQUESTS, REQUESTS / 10)).map(
    (address): InspectionRequest => ({
      peer: '127.0.0.1',
      method: 'GET',
      target: '/articles/2026/the-gate?utm_source=x',
      scheme: 'http',
      httpVersion: '1.1',
      fields: browserFields(address),
    }),
  )
  const candidate = (
    name: string,
    judge: (request: InspectionRequest) => unknown,
    visitors = requests.length,
  ): Candidate => ({
    name,
    operations: requests.length,
    run() {
      let last: unknown
      for (let at = 0; at < requests.length; at++) last = judge(requests[at % visitors] as InspectionRequest)
      return last
    },
  })
  const rows = await measure(run, [
    candidate('`inspect()`, new visitors', (request) => sallyport.inspect(request)),
    candidate(`\`inspect()\`, ${REGULARS} visitors`, (request) => sallyport.inspect(request), REGULARS),
    candidate('`decide()`, new visitors', (request) => sallyport.decide(request)),
    candidate(`\`decide()\`, ${REGULARS} visitors`, (request) => sallyport.decide(request), REGULARS),
    candidate('`client()`', (request) => sallyport.client(request)),
    candidate('`isbot`, the user agent alone', () => isbot(BROWSER)),
  ])
  const goals = { '`inspect()`, new visitors': { atMost: 4 }, [`\`inspect()\`, ${REGULARS} visitors`]: { atMost: 1.2 } }
  run.table({ title: "A browser's request, all data, the default policy", figures: costsOf(rows, goals) })
  await sallyport.close()
}
