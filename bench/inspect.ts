import type { InspectionRequest } from '@sallyport/core'
import { open } from 'sallyport'
import { browserFields } from './browser.ts'
import { type Candidate, measure, printMeasured } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const REQUESTS = 20_000

/** One whole inspection, and one with its decision, of a browser's request from ever other addresses. */
export async function benchInspect(): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(REQUESTS).map(
    (address): InspectionRequest => ({
      peer: '127.0.0.1',
      method: 'GET',
      target: '/articles/2026/the-gate?utm_source=x',
      scheme: 'http',
      httpVersion: '1.1',
      fields: browserFields(address),
    }),
  )
  const candidate = (name: string, judge: (request: InspectionRequest) => object): Candidate => ({
    name,
    operations: requests.length,
    run() {
      let last: object | undefined
      for (const request of requests) last = judge(request)
      return last
    },
  })
  const rows = await measure([
    candidate('inspect()', (request) => sallyport.inspect(request)),
    candidate('decide()', (request) => sallyport.decide(request)),
    candidate('client()', (request) => sallyport.client(request)),
  ])
  printMeasured(`inspection of a browser-like request, ${REQUESTS} visitors`, rows)
  await sallyport.close()
}
