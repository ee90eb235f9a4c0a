import { open } from '@sallyport/engine'
import { browserFields } from '../browser.ts'
import type { Measured } from '../promises.ts'
import { visitorAddresses } from '../visitors.ts'
import type { Place } from './proxy/scene.ts'

const VISITORS = 100_000
const WARM_UP = 20_000
const GOAL_US = { p50: 50, p99: 500 }

/** Cost of a decision about visitors that were never seen before, with all data. */
export async function faultCost({ dataDir }: Place): Promise<Measured> {
  const sallyport = await open({ dataDir, trustProxy: ['loopback'], data: { refresh: false } })
  const times: number[] = []
  for (const address of visitorAddresses(VISITORS)) {
    const fields = browserFields(address)
    const start = performance.now()
    sallyport.decide({ peer: '127.0.0.1', method: 'GET', target: '/', scheme: 'http', httpVersion: '1.1', fields })
    times.push((performance.now() - start) * 1000)
  }
  await sallyport.close()
  const sorted = times.slice(WARM_UP).toSorted((x, y) => x - y)
  const [p50, p99] = [0.5, 0.99].map((share) => sorted[Math.floor(sorted.length * share)] ?? Number.NaN) as [
    number,
    number,
  ]
  return {
    measured: `${p50.toFixed(1)} µs, ${p99.toFixed(1)} µs in 99 of 100; the hop is measured by npm run bench -- proxy`,
    broken: p50 < GOAL_US.p50 && p99 < GOAL_US.p99 ? [] : ['it takes longer'],
  }
}
