import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { InspectionRequest, ObservedRequest } from '@sallyport/core'
import { createMetrics, createPlaces, createTallyKeeper, open } from '@sallyport/engine'
import { browserFields } from './browser.ts'
import type { Run } from './report/run.ts'
import { type Candidate, costsOf, measure } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

/** More visitors than are remembered, so that each is a new one. */
const REQUESTS = 50_000
/** As many as are at one site at a time, each of whom comes again. */
const REGULARS = 500
/** Pages of a site, some of them records. */
const PATHS = ['/', '/about', '/articles/2026/the-gate', '/orders/1734', '/assets/app.css', '/search', '/login']

/** Costs of a request after its answer: counted for the metrics, and by the hour beside that. */
export async function benchTally(run: Run): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'sallyport-tally-'))
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false }, tally: 0 })
  const metrics = createMetrics()
  const keeper = createTallyKeeper(sallyport.config, {
    file: join(folder, 'tally.db'),
    keepMs: 86_400_000,
    placeOf: createPlaces(() => Buffer.from('key'), 64),
    robots: () => false,
    now: Date.now,
    onFault: (error) => run.step(String(error)),
  })
  const requests = visitorAddresses(run.pick(REQUESTS, REQUESTS / 10)).map((address, at) => observedOf(address, at))

  function observedOf(address: string, at: number): ObservedRequest {
    const path = PATHS[at % PATHS.length] as string
    const request: InspectionRequest = {
      peer: '127.0.0.1',
      method: 'GET',
      target: path,
      scheme: 'http',
      httpVersion: '1.1',
      fields: browserFields(address),
    }
    const seen = { peer: '127.0.0.1', client: address, method: 'GET', host: 'site.example', path }
    const times = { at: Date.now(), milliseconds: 1.5, inspectionMilliseconds: 0.01 }
    const bytes = { bytesReceived: 0, bytesSent: 5_000 }
    return {
      ...seen,
      ...times,
      ...bytes,
      id: String(at),
      answeredBy: 'origin',
      status: 200,
      decision: sallyport.decide(request),
    }
  }

  const candidate = (
    name: string,
    count: (observed: ObservedRequest) => void,
    visitors = requests.length,
  ): Candidate => ({
    name,
    operations: requests.length,
    run() {
      for (let at = 0; at < requests.length; at++) count(requests[at % visitors] as ObservedRequest)
    },
  })
  const both = (observed: ObservedRequest): void => {
    const row = metrics.observe(observed)
    if (row !== undefined) keeper.observe(observed, row)
  }
  const row = metrics.observe(requests[0] as ObservedRequest)
  if (row === undefined) throw new Error('a request is counted in no row')
  const rows = await measure(run, [
    candidate('the metrics', (observed) => void metrics.observe(observed), REGULARS),
    candidate('the metrics and the tally', both, REGULARS),
    candidate(`the tally, ${REGULARS} visitors`, (observed) => keeper.observe(observed, row), REGULARS),
    candidate('the tally, new visitors', (observed) => keeper.observe(observed, row)),
  ])
  const goals = { [`the tally, ${REGULARS} visitors`]: { atMost: 0.8 } }
  run.table({ title: 'A request is counted, by the hour too', figures: costsOf(rows, goals) })
  await keeper.close()
  await sallyport.close()
  await rm(folder, { recursive: true })
}
