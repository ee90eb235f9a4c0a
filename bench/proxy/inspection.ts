import { open } from '@sallyport/open'
import { browserFields } from '../browser.ts'
import type { Run } from '../report/run.ts'
import { measure } from '../rounds.ts'
import { visitorAddresses } from '../visitors.ts'
import { VISITORS } from './load.ts'

/** Microseconds of processor time that the proxy's decision takes of the requests of the load, which come in turn. */
export async function inspectionTime(run: Run, dataDir: string): Promise<number> {
  const sallyport = await open({ dataDir, trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(VISITORS).map((address) => ({
    ...{ peer: '127.0.0.1', method: 'GET', target: '/100.txt', scheme: 'http' as const, httpVersion: '1.1' },
    fields: browserFields(address),
  }))
  const [measured] = await measure(run, [
    {
      name: 'decide()',
      operations: requests.length,
      run() {
        let last: object | undefined
        for (const request of requests) last = sallyport.decide(request)
        return last
      },
    },
  ])
  await sallyport.close()
  return (measured?.nanoseconds.median ?? Number.NaN) / 1000
}
