import type { InspectionRequest } from '@sallyport/core'
import { open } from 'sallyport'
import { type Candidate, measure, printMeasured } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

const REQUESTS = 20_000

/** Fields as a browser sends them through one proxy, in its order. */
function browserFields(address: string): readonly string[] {
  return [
    ...['Host', 'example.com', 'Connection', 'keep-alive', 'X-Forwarded-For', address],
    ...[
      'sec-ch-ua',
      '"Chromium";v="142", "Google Chrome";v="142"',
      'sec-ch-ua-mobile',
      '?0',
      'sec-ch-ua-platform',
      '"Windows"',
    ],
    ...['Upgrade-Insecure-Requests', '1', 'User-Agent', 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) Chrome/142.0.0.0'],
    ...['Accept', 'text/html,application/xhtml+xml,*/*;q=0.8', 'Sec-Fetch-Site', 'none', 'Sec-Fetch-Mode', 'navigate'],
    ...[
      'Accept-Encoding',
      'gzip, deflate, br, zstd',
      'Accept-Language',
      'en-GB,en;q=0.9',
      'Cookie',
      'session=0123456789abcdef',
    ],
  ]
}

/** One whole inspection, and one with its decision, of a browser's request from ever other addresses. */
export async function benchInspect(): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'] })
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
