import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import {
  type Address,
  createCatalogue,
  createCrawlerVerifier,
  createReverseChecks,
  parseAddress,
} from '@sallyport/core'
import { createFakeDns, NOTHING_KNOWN, snapshotOf } from '@sallyport/core/testing'
import { open } from '@sallyport/open'
import samples from 'crawler-user-agents'
import { isbot } from 'isbot'
import { BROWSER, browserFields } from './browser.ts'
import { benchFlood } from './flood.ts'
import { type Spread, spreadOf } from './report/result.ts'
import type { Run } from './report/run.ts'
import { type Candidate, costsOf, measure } from './rounds.ts'
import { visitorAddresses } from './visitors.ts'

/** Its own, so that nothing learned here answers a visitor. */
const DATA_DIR = './.sallyport/bench-crawlers'

/** Claims of crawlers: what matching a user agent costs, verification from memory, DNS that is down, and a flood. */
export async function benchCrawlers(run: Run): Promise<void> {
  // Verdicts of an earlier run would answer instead of DNS.
  for (const end of ['', '-wal', '-shm']) await rm(`${DATA_DIR}/crawler-verdicts.db${end}`, { force: true })
  await benchMatching(run)
  await benchRanges(run)
  await benchDecisions(run)
  await benchSilence(run)
  await benchFlood(run, DATA_DIR)
}

async function benchMatching(run: Run): Promise<void> {
  const catalogue = createCatalogue()
  // Escapes off, and what is still no plain word left out: the patterns as a list of tokens.
  const plain = samples
    .map(({ pattern }) => pattern.replaceAll('\\', ''))
    .filter((text) => /^[a-z0-9][\w ./-]*$/i.test(text))
  const tokens = [...new Map(plain.map((text) => [text.toLowerCase(), text])).values()]
  const made = {
    slug: 'made',
    name: 'made',
    operator: 'made',
    purpose: 'search',
    source: 'operator',
    date: '2026-01',
    tokens,
  } as const
  const { claimOf } = createCatalogue([made])
  const crawlers = samples.flatMap(({ instances }) => instances)
  const browsers = Array.from({ length: 2000 }, (_, index) =>
    BROWSER.replaceAll('142.0', `${60 + (index % 90)}.${index}`).replace('NT 10.0', `NT ${index % 11}.0`),
  )
  for (const [who, texts] of [
    ['browsers', browsers],
    ['crawlers', crawlers],
  ] as const) {
    const candidate = (name: string, look: (text: string) => unknown): Candidate => ({
      name,
      operations: texts.length,
      run() {
        let last: unknown
        for (const text of texts) last = look(text)
        return last
      },
    })
    const rows = await measure(run, [
      candidate('Sallyport, its catalogue', (text) => catalogue.claimOf(text)),
      candidate(`Sallyport, ${tokens.length.toLocaleString('en')} tokens`, claimOf),
      candidate('`isbot`, yes or no', isbot),
    ])
    run.table({
      title: `The claim of a user agent, of ${texts.length.toLocaleString('en')} ${who}`,
      figures: costsOf(rows),
    })
  }
}

const OF_GOOGLEBOT = 'an address of Googlebot, by its published ranges'

async function benchRanges(run: Run): Promise<void> {
  const snapshot = snapshotOf()
  const catalogue = createCatalogue()
  const verifier = createCrawlerVerifier(catalogue, {
    reverse: createReverseChecks({ clock: Date, dns: createFakeDns({}) }),
  })
  const own: readonly Address[] = Array.from({ length: 20_000 }, (_, index) =>
    parseAddress(`66.249.${64 + (index % 8)}.${(index >> 3) & 255}`),
  ).filter((address) => address !== undefined)
  const googlebot = catalogue.find('googlebot')
  if (googlebot === undefined) throw new TypeError('no Googlebot')
  const rows = await measure(run, [
    {
      name: OF_GOOGLEBOT,
      operations: own.length,
      run() {
        let last: unknown
        for (const address of own)
          last = verifier.look(googlebot, { address, finding: NOTHING_KNOWN, snapshot }).judgement.outcome
        if (last !== 'verified') throw new Error(`not verified: ${last}`)
        return last
      },
    },
  ])
  const goals = { [OF_GOOGLEBOT]: { atMost: 2 } }
  run.table({ title: 'Verification from memory', figures: costsOf(rows, goals) })
}

async function benchDecisions(run: Run): Promise<void> {
  const sallyport = await open({
    dataDir: DATA_DIR,
    data: { refresh: false, city: run.pick(true, false) },
    trustProxy: ['loopback'],
    dns: { servers: ['127.0.0.1:9'] },
  })
  const requests = (addresses: readonly string[], userAgent?: string) =>
    addresses.map((address) => ({
      peer: '127.0.0.1',
      method: 'GET',
      target: '/articles/2026/the-gate?utm_source=x',
      scheme: 'http' as const,
      httpVersion: '1.1',
      fields: browserFields(address, userAgent),
    }))
  const candidate = (name: string, all: ReturnType<typeof requests>): Candidate => ({
    name,
    operations: all.length,
    run() {
      let last: unknown
      for (const request of all) last = sallyport.decide(request)
      return last
    },
  })
  const own = Array.from({ length: 2048 }, (_, index) => `66.249.${64 + (index % 8)}.${(index >> 3) & 255}`)
  const rows = await measure(run, [
    candidate('a browser', requests(visitorAddresses(20_000))),
    candidate('Googlebot', requests(own, GOOGLEBOT)),
    candidate('a forged GPTBot, whose operator gives no reverse name', requests(visitorAddresses(20_000), GPTBOT)),
  ])
  run.table({ title: 'A whole decision', figures: costsOf(rows) })
  await sallyport.close()
}

const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)'
const GPTBOT = 'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)'

/** How long the API takes where no name server answers. */
async function benchSilence(run: Run): Promise<void> {
  const silent = createSocket('udp4')
  silent.bind(0, '127.0.0.1')
  await once(silent, 'listening')
  const sallyport = await open({
    dataDir: DATA_DIR,
    data: { refresh: false, city: run.pick(true, false) },
    dns: { servers: [`127.0.0.1:${silent.address().port}`] },
  })
  const { key } = await sallyport.keyring.issue({ name: 'bench' })
  const path = '/v1/agentscan/verify'
  const times: number[] = []
  for (const ip of visitorAddresses(run.pick(5, 1))) {
    const start = performance.now()
    await sallyport.api({
      ...{ peer: '127.0.0.1', method: 'POST', target: path, path, scheme: 'http', httpVersion: '1.1' },
      fields: ['Authorization', `Bearer ${key}`],
      query: new URLSearchParams(),
      json: async () => ({ ip, bot: 'googlebot' }),
    })
    times.push(performance.now() - start)
  }
  const value: Spread = { ...spreadOf(times), median: Math.max(...times) }
  const goal = { atMost: 1500 }
  const longest = { case: 'a verification', what: 'longest answer', unit: 'ms', value, goal }
  run.table({ title: 'The API with DNS down', figures: [longest] })
  await sallyport.close()
  silent.close()
}
