import type { Decision, ObservedRequest } from '@sallyport/core'
import type { Crawl, Document } from '@sallyport/ledger'
import t from 'tap'
import { type CrawlPorts, openCrawls } from '../../../src/features/crawls/index.ts'
import { observed } from '../../log/observed.ts'

const AT = Date.parse('2026-10-05T10:00:00.000Z')
const ROBOTS = `User-agent: *
Disallow: /private
License: https://a.example/l.xml
Content-Usage: train-ai=n
Content-Usage: /x search=y
`

/** A request of GPTBot as the observers see it. */
function seen({
  outcome = 'verified',
  method = 'published ranges',
  ...more
}: Partial<ObservedRequest> & { readonly outcome?: string; readonly method?: string } = {}) {
  const crawler = { slug: 'gptbot', name: 'GPTBot', operator: 'OpenAI', purpose: 'training', outcome, method }
  const decision = { action: 'allow', enforced: true, inspection: { crawler, agent: { class: 'verified_crawler' } } }
  return observed({
    decision: decision as unknown as Decision,
    answeredBy: 'host',
    client: '192.0.2.1',
    host: 'shop.example',
    path: '/articles/1',
    userAgent: 'GPTBot/1.2',
    status: 200,
    at: AT,
    bytesSent: 100,
    ...more,
  })
}

function opened(ports: Partial<CrawlPorts> = {}, crawls: 'pattern' | 'path' | false = 'pattern') {
  const written: { crawl: Crawl; documents: readonly Document[]; addresses: readonly string[] }[] = []
  const outcomes: string[] = []
  const state = { isAway: false, elapsed: 0 }
  const opened = openCrawls(
    { crawls, net: { outbound: false, allowPrivate: [] } },
    {
      provenance: {
        async recordCrawl(crawl, documents, addresses) {
          if (state.isAway) throw new Error('away')
          written.push({ crawl, documents, addresses })
        },
      },
      robots: (_, path) => path.startsWith('/private'),
      robotsText: () => ROBOTS,
      elapsed: () => state.elapsed,
      onRecord: (outcome) => outcomes.push(outcome),
      ...ports,
    },
  )
  if (opened === undefined) throw new TypeError('off')
  t.teardown(() => opened.close())
  return { ...opened, written, outcomes, state }
}

t.test('requests of a minute are one record of their operator, by patterns', async (t) => {
  const { observe, write, written, state } = opened()
  for (let count = 0; count < 20_000; count++) {
    observe(seen({ path: `/articles/${count}`, at: AT + count, client: `192.0.2.${count % 3}` }))
  }
  observe(seen({ path: '/private/7', at: AT + 30_000, outcome: 'unverifiable', client: '198.51.100.9' }))
  observe(seen({ path: '/articles/style.css', at: AT + 30_001 }))
  await write()
  t.same(written, [], 'the minute is not over')
  state.elapsed = 60_000
  await write()
  t.equal(written.length, 1)
  const [{ crawl, documents, addresses } = t.fail() as never] = written
  t.match(crawl, { operator: 'OpenAI', from: AT, to: AT + 30_001, leftOut: 0 })
  const stated = { licence: 'https://a.example/l.xml', contentUsage: 'train-ai=n, /x search=y' }
  t.match(crawl.preferences, [{ host: 'shop.example', ...stated, robotsSha256: documents[0]?.sha256 }])
  const decided = { robots: 'allowed', proof: 'published range', action: 'allow', enforced: true }
  t.match(crawl.rows, [
    { path: '/articles/*', requests: 20_000, pages: 20_000, bytes: 2_000_000, ...decided },
    { path: '/private/*', requests: 1, robots: 'disallowed', proof: 'claim' },
    { path: '/articles/style.css', requests: 1, pages: 0 },
  ])
  t.same(addresses, ['192.0.2.0', '192.0.2.1', '192.0.2.2'], 'not that of a mere claim')
})

t.test('the next minute begins another record, and a clock that goes back adds to the open one', async (t) => {
  const { observe, write, written } = opened()
  for (const at of [0, 59_999, 60_000, 20_000, -3_600_000, 60_500]) observe(seen({ at: AT + at }))
  await write(true)
  const told = written.map(({ crawl: { from, to, rows } }) => `${from - AT} to ${to - AT}: ${rows[0]?.requests}`)
  t.same(told, ['0 to 59999: 2', '-3600000 to 60500: 4'])
})

t.test('a minute that is perhaps lost is not counted twice, and one that nobody takes is written here', async (t) => {
  const { observe, write, share, written, outcomes } = opened()
  share(async () => undefined)
  observe(seen())
  await write(true)
  t.same([written, outcomes], [[], ['lost']])
  share(async () => false)
  observe(seen({ at: AT + 60_000 }))
  await write(true)
  t.match(written, [{ crawl: { leftOut: 1, rows: [{ requests: 1 }] } }])
  const leader = opened()
  await leader.close()
  t.notOk(leader.take(written[0] as never), 'a process that closes takes none')
})

t.test('paths have a bound in a minute, a merged one too, and what has no row is counted', async (t) => {
  const [leader, other] = [opened({}, 'path'), opened({ robotsText: () => undefined }, 'path')]
  other.share(async (minute) => leader.take(minute))
  for (const { observe } of [leader, other]) {
    for (let count = 0; count < 250; count++) observe(seen({ path: `/articles/${count}`, client: `192.0.2.${count}` }))
    for (let count = 0; count < 100; count++) observe(seen({ path: '/x', decision: withAction(`made-${count}`) }))
  }
  await other.write(true)
  await leader.write(true)
  const [{ crawl, addresses } = t.fail() as never] = leader.written
  t.match([leader.written.length, other.written.length, crawl.rows.length, addresses.length], [1, 0, 128, 64])
  t.equal(crawl.rows.find(({ path }) => path === '/**')?.requests, 250 - 64)
  t.equal(countRequests([crawl]) + crawl.leftOut, 700, 'none is lost silently')
})

const countRequests = (crawls: readonly Crawl[]) =>
  crawls.flatMap(({ rows }) => rows).reduce((sum, { requests }) => sum + requests, 0)

function withAction(action: string): Decision {
  return { ...seen().decision, action } as unknown as Decision
}

t.test('records wait while the ledger is away, and what is lost is said', async (t) => {
  const { observe, write, written, outcomes, state } = opened()
  state.isAway = true
  observe(seen())
  await write(true)
  t.same([written.length, outcomes], [0, ['retried']])
  for (let minute = 1; minute <= 1_442; minute++) observe(seen({ at: AT + minute * 60_000 }))
  await write(true)
  t.equal(outcomes.filter((outcome) => outcome === 'lost').length, 3)
  state.isAway = false
  observe(seen({ at: AT + 1_500 * 60_000 }))
  await write(true)
  t.equal(outcomes.filter((outcome) => outcome === 'lost').length, 4)
  const said = written.reduce((sum, { crawl }) => sum + crawl.leftOut, 0)
  const kept = countRequests(written.map(({ crawl }) => crawl))
  t.same([written.length, said, kept], [1_440, 3, 1_440], 'the last loss is said by the next record')
})

t.test('people, checks and events leave no record, and without robots.txt it is unread', async (t) => {
  const { observe, write, written } = opened({ robotsText: () => undefined, robots: () => undefined })
  const person = { ...seen().decision, inspection: { agent: { class: 'human' } } } as unknown as Decision
  for (const more of [{ decision: person }, { answeredBy: 'check' }, { answeredBy: 'event' }, { decision: undefined }])
    observe({ ...seen(), ...more } as ObservedRequest)
  await write(true)
  t.same(written, [])
  observe(seen({ outcome: 'spoofed' }))
  await write(true)
  const rows = [{ robots: 'unread', proof: 'disproved' }]
  t.match(written[0]?.crawl, { preferences: [{ host: 'shop.example' }], rows })
  t.same([written[0]?.documents, written[0]?.addresses], [[], []])
})
