import { type Dns, type Mode, parseAddress, type ReverseAnswer } from '@sallyport/core'
import t, { type Test } from 'tap'
import { visit } from './challenge-client.ts'
import { startHost } from './every-host.ts'
import type { RunningHost } from './host.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { openWithoutData } from './without-data.ts'

/* A client that claims to be a crawler while DNS is silent: it waits once, has a few requests, and 503 after that, in every host. */
const GOOGLEBOT = ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)']
const CRAWLER = '93.184.216.42'
const SOME = 30

/** A service whose DNS answers when the test says so. */
async function openSlow(t: Test, mode: Mode = 'enforce') {
  const asked: ((answer: ReverseAnswer) => void)[] = []
  let heard = (): void => {}
  const rules = [{ id: 'proven', match: { crawlerOutcome: ['verified' as const] }, action: 'block' as const }]
  const dns: Dns = {
    resolvePtr: () =>
      new Promise((resolve) => {
        asked.push(resolve)
        heard()
      }),
    resolve: async () => ({ state: 'found', addresses: [parseAddress(CRAWLER)].flatMap((one) => one ?? []) }),
  }
  const sallyport = await openWithoutData(t, { mode, policy: { preset: 'observe', rules } }, { dns })
  const whenAsked = () => new Promise<void>((resolve) => (heard = resolve))
  return { sallyport, asked, whenAsked }
}

async function hammer(at: Pick<RunningHost, 'port'>, address: string) {
  const one = () => visit(at, { address, fields: GOOGLEBOT })
  const answers = [...(await Promise.all(Array.from({ length: SOME }, one))), await one()]
  return { answers, statuses: answers.map(({ status }) => status).sort() }
}

for (const host of [...HOSTS, ...MORE_HOSTS]) {
  t.test(`${host.name}: five requests while the check runs, then 503 with Retry-After`, async (t) => {
    const { sallyport } = await openSlow(t)
    const at = await startHost(t, host, sallyport)
    const { answers, statuses } = await hammer(at, '93.184.216.40')
    t.same(statuses, [...Array(5).fill(200), ...Array(SOME - 4).fill(503)])
    const refused = answers.at(-1)
    t.match(refused?.headers, { 'retry-after': '5', 'cache-control': 'no-store' })
    t.match(JSON.parse(refused?.body ?? ''), { error: 'service_unavailable' })
    t.equal((await visit(at, { address: '93.184.216.41' })).status, 200)
  })

  t.test(`${host.name}: requests wait for an answer of DNS, and monitor mode for none`, async (t) => {
    const { sallyport, asked, whenAsked } = await openSlow(t)
    const at = await startHost(t, host, sallyport)
    const isAsked = whenAsked()
    const statuses = hammer(at, CRAWLER).then((found) => found.statuses)
    await isAsked
    asked[0]?.({ state: 'found', names: ['crawl.googlebot.com'] })
    t.same(await statuses, Array(SOME + 1).fill(403))
    const lenient = await openSlow(t, 'monitor')
    const open = await startHost(t, host, lenient.sallyport)
    t.same((await hammer(open, CRAWLER)).statuses, Array(SOME + 1).fill(200))
  })
}
