import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { countEntries } from '../../src/datasets/feeds/count-entries.ts'
import { updateFeeds } from '../../src/datasets/feeds/update.ts'
import { openFeedStore, resolveFeeds } from '../../src/datasets/index.ts'
import { madeList } from '../../src/datasets/testing/feed-server.ts'
import { openFeedRig } from './feed-rig.ts'

const LIST = 'x4bnet-vpn-ipv4'

t.test('a feed is fetched once, then asked whether it has changed', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  t.same(await rig.update(LIST, madeList(20)), { source: LIST, state: 'updated', entries: 20 })
  t.equal(rig.inUse(LIST), madeList(20))
  rig.tick(1000)
  t.same(await rig.update(LIST), { source: LIST, state: 'unchanged' })
  t.match(rig.server.asked[1]?.headers, { 'if-none-match': /^".+"$/ })
  const { checked, tried, current, failures } = rig.store.read(LIST, rig.feed(LIST).url)
  t.equal(checked, Date.UTC(2026, 10, 21) + 1000, 'the publisher has said again that this is its list')
  t.same([tried, failures, current?.taken], [checked, 0, Date.UTC(2026, 10, 21)])
})

t.test('a publisher without ETags is asked by the time of its file, which dates the data', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const time = 'Fri, 20 Nov 2026 03:00:00 GMT'
  await rig.update(LIST, (request, response) => {
    if (request.headers['if-modified-since'] === time) response.writeHead(304).end()
    else response.writeHead(200, { 'last-modified': time }).end(madeList(20))
  })
  t.match(await rig.update(LIST), { state: 'unchanged' })
  t.equal(rig.store.file(LIST, rig.feed(LIST).url)?.made, Date.parse(time))
})

t.test('a page that links to the file is asked again where its server is busy', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const { row, ...feed } = rig.feed(LIST)
  const linked = { ...feed, row: { ...row, link: 'http://[^"]+/the-list' }, published: true }
  let asked = 0
  rig.server.serve(`/${LIST}`, (_, response) => {
    asked++
    if (asked === 1) response.writeHead(503).end('busy')
    else response.end(`<a href="${rig.server.url('/the-list')}">list</a>`)
  })
  rig.server.serve('/the-list', madeList(4_000))
  t.match(await rig.updateFeed(linked), { state: 'updated', entries: 4_000 })
  const closing = new AbortController()
  rig.server.serve(`/${LIST}`, () => closing.abort())
  t.match(await rig.updateFeed(linked, { signal: closing.signal }), { state: 'failed', reason: 'given up' })
})

t.test('the same bytes under another ETag are no new generation', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  let asked = 0
  await rig.update(LIST, (_, response) => response.writeHead(200, { etag: `"${asked++}"` }).end(madeList(20)))
  const { url } = rig.feed(LIST)
  const before = rig.store.read(LIST, url)
  const revision = rig.store.revision()
  rig.tick(1_000)
  t.match(await rig.update(LIST), { state: 'unchanged' })
  const { current, checked = 0 } = rig.store.read(LIST, url)
  t.same(current, before.current)
  t.equal(checked - (before.checked ?? 0), 1_000)
  t.not(rig.store.revision(), revision, 'that it still stands is news to other processes')
})

t.test('changed content is a new generation, the one before stays, and older ones go', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  for (const count of [20, 21, 22]) t.match(await rig.update(LIST, madeList(count)), { state: 'updated' })
  t.equal(rig.inUse(LIST), madeList(22))
  t.equal(readdirSync(join(rig.dataDir, 'feeds', LIST)).filter((name) => name.endsWith('.feed')).length, 2)
})

t.test('going back holds until the publisher has something else', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const { url } = rig.feed(LIST)
  await rig.update(LIST, madeList(20))
  await t.rejects(rig.store.rollBack(LIST, url), { code: 'missing_data' }, 'there is nothing before the first')
  await rig.update(LIST, madeList(21))
  t.match(await rig.store.rollBack(LIST, url), { entries: 20 })
  t.equal(rig.inUse(LIST), madeList(20))
  t.match(
    await rig.update(LIST),
    { state: 'refused', reason: 'the operator rolled this version back' },
    'asked again: the same',
  )
  t.match(await rig.update(LIST, undefined, { accept: true }), { state: 'updated' }, 'unless it is wanted')
  await rig.store.rollBack(LIST, url)
  t.match(await rig.update(LIST, madeList(22)), { state: 'updated', entries: 22 })
  await t.rejects(rig.store.rollBack('tor-bulk-exit', 'https://example.org'), { code: 'missing_data' })
})

const FAILURES: readonly (readonly [what: string, status: number, tries: number])[] = [
  ['not found', 404, 1],
  ['forbidden', 403, 1],
  ['a redirect to nowhere', 302, 1],
  ['no content', 204, 1],
  ['overloaded', 503, 3],
  ['too many requests', 429, 3],
]

t.test('an answer without data leaves what there was, and is tried again where that can help', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  for (const [what, status, tries] of FAILURES) {
    const before = rig.server.asked.length
    const outcome = await rig.update(LIST, (_, response) => response.writeHead(status).end('<html>'))
    t.same(outcome, { source: LIST, state: 'failed', reason: `the server responded with status ${status}` }, what)
    t.equal(rig.server.asked.length - before, tries, `${what}: ${tries} tries`)
    t.equal(rig.inUse(LIST), madeList(20), what)
  }
  const { failures, error } = rig.store.read(LIST, rig.feed(LIST).url)
  t.same([failures, error], [FAILURES.length, 'the server responded with status 429'])
  t.match(await rig.update(LIST, madeList(20)), { state: 'unchanged' })
  t.match(rig.store.read(LIST, rig.feed(LIST).url), { failures: 0, error: undefined })
})

t.test('a server that asks for a long wait is not waited for', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const outcome = await rig.update(LIST, (_, response) => response.writeHead(429, { 'retry-after': '3600' }).end())
  t.match(outcome, { state: 'failed' })
  t.equal(rig.server.asked.length, 1)
})

t.test('a server that is gone, silent, drips or breaks off costs a deadline and nothing else', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  const timeoutMs = 150
  const served = {
    silent: () => undefined,
    drips: (_: unknown, response: import('node:http').ServerResponse) => {
      const timer = setInterval(() => response.write('23.0.0.0/24\n'), 20)
      response.on('close', () => clearInterval(timer))
    },
    'breaks off': (_: unknown, response: import('node:http').ServerResponse) => {
      response.writeHead(200, { 'content-length': '5000' }).write(madeList(10))
      setImmediate(() => response.destroy())
    },
  }
  for (const [what, listener] of Object.entries(served)) {
    t.match(await rig.update(LIST, listener, { timeoutMs }), { state: 'failed', reason: /.+/ }, what)
    t.equal(rig.inUse(LIST), madeList(20), what)
  }
})

t.test('a body without end is cut off at its bound', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  const line = Buffer.alloc(2 ** 20, '23.0.0.0/24\n')
  const outcome = await rig.update(LIST, (_, response) => {
    const more = (): void => {
      while (!response.destroyed && response.write(line));
    }
    response.on('drain', more)
    more()
  })
  t.match(outcome, { state: 'failed', reason: /larger than 67108864 bytes/ })
  t.equal(rig.inUse(LIST), madeList(20))
})

t.test('redirects are followed, each to where the guard lets them', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  rig.server.serve('/moved', madeList(20))
  const to = (location: string) => (_: unknown, response: import('node:http').ServerResponse) =>
    response.writeHead(302, { location }).end()
  t.match(await rig.update(LIST, to('/moved')), { state: 'updated' })
  t.match(await rig.update(LIST, to(`/${LIST}`)), { state: 'failed', reason: /302/ }, 'a circle')
  t.match(await rig.update(LIST, to('http://127.0.0.2:1/x')), { state: 'failed', reason: /127\.0\.0\.2/ }, 'inside')
  t.match(await rig.update(LIST, to('file:///etc/passwd')), { state: 'failed', reason: /file:/ })
  t.equal(rig.inUse(LIST), madeList(20))
})

t.test('a packed file is unpacked, whatever its name', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  t.match(await rig.update(LIST, gzipSync(madeList(20))), { state: 'updated', entries: 20 })
  t.equal(rig.inUse(LIST), madeList(20))
  t.match(await rig.update(LIST, gzipSync(madeList(20)).subarray(0, 40)), {
    state: 'failed',
    reason: /cannot be unpacked/,
  })
  t.equal(rig.inUse(LIST), madeList(20))
})

t.test('a download from another URL is not used for this one', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  t.equal(rig.store.file(LIST, 'https://example.org/other'), undefined)
  t.same(rig.store.read(LIST, 'https://example.org/other'), { url: 'https://example.org/other', failures: 0 })
})

t.test('with no network it is soon given up, and everything is reported', async (t) => {
  const feeds = resolveFeeds().slice(0, 30)
  let asked = 0
  const outbound = {
    fetch: async () => {
      asked++
      return { state: 'failed', reason: 'ENETUNREACH' } as const
    },
  }
  const outcomes = await updateFeeds(feeds, {
    store: openFeedStore(t.testdir()),
    outbound,
    clock: { now: () => 0 },
    verify: async (row, path) => countEntries(row, path),
    retryMs: 1,
  })
  t.same([outcomes.length, outcomes.every(({ state }) => state === 'failed')], [30, true])
  t.ok(asked < 60, `${asked} requests for 30 feeds with 3 tries each`)
})

t.test('a list that the user keeps in a file is copied when it changes', async (t) => {
  const path = join(t.testdir(), 'list.txt')
  const dataDir = t.testdir()
  writeFileSync(path, madeList(20))
  const [feed] = resolveFeeds({ [LIST]: { url: pathToFileURL(path).href } })
  if (feed === undefined) return t.fail('no feed')
  const rig = await openFeedRig(t, [], dataDir)
  const update = async () =>
    (
      await updateFeeds([feed], {
        store: rig.store,
        outbound: rig.outbound,
        clock: { now: () => Date.now() },
        verify: async (row, file) => countEntries(row, file),
      })
    )[0]
  t.match(await update(), { state: 'updated', entries: 20 })
  t.match(await update(), { state: 'unchanged' })
  writeFileSync(path, '')
  t.match(await update(), { state: 'refused' })
  t.match(rig.store.file(LIST, feed.url), { size: madeList(20).length })
})
