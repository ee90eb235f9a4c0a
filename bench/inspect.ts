import type { InspectionRequest, ObservedRequest } from '@sallyport/core'
import { open, type Sallyport } from '@sallyport/engine'
import { isbot } from 'isbot'
import { BROWSER, browserFields, makeRequest } from './browser.ts'
import { computeSpread } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, listCosts, type Measured, measure, repeat } from './rounds.ts'
import { scratch } from './scratch.ts'
import { visitorAddresses } from './visitors.ts'

/** Exceeds the number of visitors that the caches keep, so that each visitor is new. */
const REQUESTS = 50_000
/** As many visitors use one site at a time, and each visitor returns. */
const REGULARS = 500

/** Measures an inspection, alone and with its decision, of a browser's request from ever new addresses and from a few. */
export async function benchInspect(run: Run): Promise<void> {
  const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false } })
  const requests = visitorAddresses(run.pick(REQUESTS, REQUESTS / 10)).map((address) =>
    makeRequest({ target: '/articles/2026/the-gate?utm_source=x', fields: browserFields(address) }),
  )
  const candidate = (name: string, judge: (request: InspectionRequest) => unknown, visitors = requests.length) =>
    repeat(name, requests.length, (at) => judge(requests[at % visitors] as InspectionRequest))
  const rows = await measure(run, [
    candidate('`inspect()`, new visitors', (request) => sallyport.inspect(request)),
    candidate(`\`inspect()\`, ${REGULARS} visitors`, (request) => sallyport.inspect(request), REGULARS),
    candidate('`decide()`, new visitors', (request) => sallyport.decide(request)),
    candidate(`\`decide()\`, ${REGULARS} visitors`, (request) => sallyport.decide(request), REGULARS),
    candidate('`client()`', (request) => sallyport.client(request)),
    candidate('`isbot`, the user agent alone', () => isbot(BROWSER)),
  ])
  const goals = { '`inspect()`, new visitors': { atMost: 4 }, [`\`inspect()\`, ${REGULARS} visitors`]: { atMost: 1.2 } }
  run.table({ title: "A browser's request, all data, the default policy", figures: listCosts(rows, goals) })
  await sallyport.close()
  await measureCrawls(run)
}

const CRAWLER = 'Mozilla/5.0 (compatible; GPTBot/1.2; +https://openai.com/gptbot)'
/** Allows 2 % of the proxy's hop of 144 µs. */
const CRAWLS_MICROSECONDS = 2.9

/** Measures what records of crawling add to the work that follows the answer to a crawler. */
async function measureCrawls(run: Run): Promise<void> {
  const count = run.pick(20_000, 2_000)
  await scratch(async (folder, { teardown }) => {
    const candidate = async (name: string, crawls: 'pattern' | false): Promise<Candidate> => {
      const config = { dataDir: folder, data: { refresh: false }, log: { requests: 'off' }, crawls } as const
      const sallyport = await open(config, { onNotice: () => {} })
      teardown(() => sallyport.close())
      const observed = Array.from({ length: REGULARS }, (_, at) => observeCrawler(sallyport, `/articles/${at}`))
      return {
        name,
        operations: count,
        run() {
          for (let at = 0; at < count; at++) {
            sallyport.observe(observed[at % REGULARS] as ObservedRequest)
            if (at % 64 === 0) sallyport.drain()
          }
          sallyport.drain()
        },
      }
    }
    const rows = await measure(run, [
      await candidate('what follows an answer', false),
      await candidate('the same with `crawls: pattern`', 'pattern'),
    ])
    const [without, recorded] = rows as readonly [Measured, Measured]
    const added = recorded.rounds.map((nanoseconds, round) => nanoseconds - (without.rounds[round] as number))
    const records = { ...recorded, name: 'of it the records', nanoseconds: computeSpread(added), rounds: added }
    const figures = listCosts([...rows, records], { 'of it the records': { atMost: CRAWLS_MICROSECONDS } })
    run.table({ title: 'Records of crawling, for each request of a crawler', figures })
  })
}

function observeCrawler(sallyport: Sallyport, path: string): ObservedRequest {
  const peer = '5.9.10.20'
  const fields = ['Host', 'shop.example', 'User-Agent', CRAWLER]
  return {
    id: path,
    decision: sallyport.decide(makeRequest({ peer, target: path, fields })),
    answeredBy: 'host',
    peer,
    client: peer,
    method: 'GET',
    host: 'shop.example',
    path,
    userAgent: CRAWLER,
    status: 200,
    bytesReceived: 200,
    bytesSent: 9_000,
    at: Date.now(),
    milliseconds: 1,
  }
}
