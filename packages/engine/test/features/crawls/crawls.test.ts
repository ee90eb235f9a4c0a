import type { Decision, ObservedRequest } from '@sallyport/core'
import type { Crawl, Document } from '@sallyport/ledger'
import t from 'tap'
import { type CrawlPorts, openCrawls } from '../../../src/features/crawls/index.ts'

const AT = Date.parse('2026-10-05T10:00:00.000Z')

/** A request of GPTBot as the observers see it. */
function seen({
  outcome = 'verified',
  method = 'published ranges',
  ...more
}: Partial<ObservedRequest> & { readonly outcome?: string; readonly method?: string } = {}) {
  const crawler = { slug: 'gptbot', name: 'GPTBot', operator: 'OpenAI', purpose: 'training', outcome, method }
  const decision = { action: 'allow', enforced: true, inspection: { crawler, agent: { class: 'verified_crawler' } } }
  return {
    id: 'a',
    decision: decision as unknown as Decision,
    answeredBy: 'host',
    peer: '192.0.2.1',
    client: '192.0.2.1',
    method: 'GET',
    host: 'shop.example',
    path: '/articles/1',
    userAgent: 'GPTBot/1.2',
    status: 200,
    at: AT,
    milliseconds: 1,
    bytesSent: 100,
    ...more,
  } as const satisfies ObservedRequest
}

interface Written {
  readonly crawl: Crawl
  readonly documents: readonly Document[]
  readonly addresses: readonly string[]
}

function opened(ports: Partial<CrawlPorts> = {}, crawls: 'pattern' | 'path' | false = 'pattern') {
  const written: Written[] = []
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
      robotsText: () =>
        'User-agent: *\nDisallow: /private\nLicense: https://a.example/l.xml\nContent-Usage: train-ai=n\nContent-Usage: /x search=y\n',
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
  t.match(crawl.preferences, [
    {
      host: 'shop.example',
      licence: 'https://a.example/l.xml',
      contentUsage: 'train-ai=n, /x search=y',
      robotsSha256: documents[0]?.sha256,
    },
  ])
  t.match(crawl.rows, [
    {
      path: '/articles/*',
      requests: 20_000,
      pages: 20_000,
      bytes: 2_000_000,
      robots: 'allowed',
      proof: 'published range',
      action: 'allow',
      enforced: true,
    },
    { path: '/private/*', requests: 1, robots: 'disallowed', proof: 'claim' },
    { path: '/articles/style.css', requests: 1, pages: 0 },
  ])
  t.same(addresses, ['192.0.2.0', '192.0.2.1', '192.0.2.2'], 'not that of a mere claim')
})

t.test('the next minute begins another record, and a clock that goes back adds to the open one', async (t) => {
  const { observe, write, written } = opened()
  for (const at of [0, 59_999, 60_000, 20_000, -3_600_000, 60_500]) observe(seen({ at: AT + at }))
  await write(true)
  t.match(
    written.map(({ crawl: { from, to, rows } }) => [from - AT, to - AT, rows[0]?.requests]),
    [
      [0, 59_999, 2],
      [-3_600_000, 60_500, 4],
    ],
  )
})

t.test('a day of requests at any rate is at most one record a minute', async (t) => {
  const { observe, write, written } = opened()
  for (let count = 0; count < 50_000; count++)
    observe(seen({ at: AT + Math.floor((count * 86_400_000) / 50_000), path: `/p/${count}` }))
  await write(true)
  t.equal(written.length, 1_440)
})

t.test('four processes write the records of one', async (t) => {
  const all = [opened(), opened(), opened(), opened()] as const
  const [leader, ...others] = all
  for (const { share } of others) share(async (minute) => leader.take(JSON.parse(JSON.stringify(minute))))
  let requests = 0
  for (let second = 0; second < 86_400; second += 5) {
    for (const [place, { observe, write, state }] of all.entries()) {
      state.elapsed = second * 1_000
      // Each process has pauses of its own.
      if ((second / (1_000 * (place + 1))) % 2 < 1) {
        observe(seen({ at: AT + second * 1_000, path: `/articles/${second}`, client: `192.0.2.${place}` }))
        requests++
      }
      await write()
    }
  }
  for (const { close } of [...others, leader]) await close()
  const records = leader.written.map(({ crawl }) => crawl)
  const rest = others.flatMap(({ written }) => written.map(({ crawl }) => crawl))
  t.ok(records.length <= 1_440, `${records.length} records`)
  t.ok(rest.length <= others.length, 'a process that closes writes its last minute')
  const counted = [...records, ...rest].flatMap(({ rows }) => rows)
  t.equal(
    counted.reduce((sum, row) => sum + row.requests, 0),
    requests,
  )
  t.ok(
    records.every(({ rows, from, to }) => rows.length === 1 && to - from <= 150_000),
    'rows of all processes are joined',
  )
  t.match(leader.written[1], { addresses: ['192.0.2.0', '192.0.2.1', '192.0.2.2', '192.0.2.3'], documents: [{}] })
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
  t.notOk(leader.take(written[0] as Written), 'a process that closes takes none')
})

t.test('a merged minute keeps the bounds of a minute, and says what it leaves out', async (t) => {
  const [leader, other] = [opened({}, 'path'), opened({ robotsText: () => undefined }, 'path')]
  other.share(async (minute) => leader.take(minute))
  for (const { observe } of [leader, other]) {
    for (let count = 0; count < 100; count++) observe(seen({ path: `/articles/${count}`, client: `192.0.2.${count}` }))
    for (let count = 0; count < 100; count++) observe(seen({ path: '/x', decision: withAction(`made-${count}`) }))
  }
  await other.write(true)
  await leader.write(true)
  const [{ crawl, addresses } = t.fail() as never] = leader.written
  t.match([leader.written.length, other.written.length, crawl.rows.length, addresses.length], [1, 0, 128, 64])
  t.equal(
    crawl.rows.reduce((sum, { requests }) => sum + requests, crawl.leftOut),
    400,
  )
})

t.test('paths have a bound in a minute, and what has no row is counted', async (t) => {
  const { observe, write, written } = opened({}, 'path')
  for (let count = 0; count < 500; count++) observe(seen({ path: `/articles/${count}` }))
  for (let count = 0; count < 100; count++)
    observe(seen({ path: '/x', status: 200, decision: withAction(`made-${count}`) }))
  await write(true)
  const rows = written[0]?.crawl.rows ?? []
  t.equal(rows.length, 128)
  t.equal(rows.find(({ path }) => path === '/**')?.requests, 500 - 64)
  const counted = rows.reduce((sum, { requests }) => sum + requests, 0)
  t.equal(counted + (written[0]?.crawl.leftOut ?? 0), 600, 'none is lost silently')
  t.ok((written[0]?.crawl.leftOut ?? 0) > 0)
})

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
  const total = written.reduce((sum, { crawl }) => sum + crawl.leftOut + (crawl.rows[0]?.requests ?? 0), 0)
  const said = written.reduce((sum, { crawl }) => sum + crawl.leftOut, 0)
  t.same([written.length, said, total], [1_440, 3, 1_443], 'the last loss is said by the next record')
})

t.test('people, checks and events leave no record, and without robots.txt it is unread', async (t) => {
  const { observe, write, written } = opened({ robotsText: () => undefined, robots: () => undefined })
  const person = { ...seen().decision, inspection: { agent: { class: 'human' } } } as unknown as Decision
  observe(seen({ decision: person }))
  observe(seen({ answeredBy: 'check' }))
  observe(seen({ answeredBy: 'event' }))
  observe({ ...seen(), decision: undefined })
  await write(true)
  t.same(written, [])
  observe(seen({ outcome: 'spoofed' }))
  await write(true)
  t.match(written[0]?.crawl, {
    preferences: [{ host: 'shop.example' }],
    rows: [{ robots: 'unread', proof: 'disproved' }],
  })
  t.same([written[0]?.documents, written[0]?.addresses], [[], []])
})
