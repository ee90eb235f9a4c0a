import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { unpack } from '../../src/datasets/feeds/unpack.ts'
import { updateFeeds } from '../../src/datasets/feeds/update.ts'
import { resolveFeeds } from '../../src/datasets/index.ts'
import { madeList, type Served } from '../../src/datasets/testing/feed-server.ts'
import { openFeedRig } from './feed-rig.ts'
import { folder } from './fixtures.ts'

const LIST = 'x4bnet-vpn-ipv4'

t.test('a feed is fetched once, then asked whether it has changed', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  t.same(await rig.update(LIST, madeList(20)), { source: LIST, state: 'updated', entries: 20 })
  t.equal(rig.inUse(LIST), madeList(20))
  rig.tick(1000)
  t.same(await rig.update(LIST), { source: LIST, state: 'unchanged' })
  t.match(rig.server.asked[1]?.headers, { 'if-none-match': /^".+"$/ })
  const { checked = 0, tried, current, failures } = rig.store.read(LIST, rig.feed(LIST).url)
  t.equal(checked, Date.UTC(2026, 10, 21) + 1000, 'the publisher has said again that this is its list')
  t.same([tried, failures, current?.taken], [checked, 0, Date.UTC(2026, 10, 21)])
  const revision = rig.store.revision()
  rig.tick(1000)
  const other: Served = (_, response) => response.writeHead(200, { etag: '"other"' }).end(madeList(20))
  t.match(await rig.update(LIST, other), { state: 'unchanged' }, 'the same bytes under another ETag')
  t.match(rig.store.read(LIST, rig.feed(LIST).url), { current, checked: checked + 1000 })
  t.not(rig.store.revision(), revision, 'that it still stands is news to other processes')
  const url = 'https://example.org/other'
  t.same([rig.store.file(LIST, url), rig.store.read(LIST, url)], [undefined, { url, failures: 0 }], 'of no other URL')
})

t.test('a file dates the data where there are no ETags; redirects are followed, packed files unpacked', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const time = 'Fri, 20 Nov 2026 03:00:00 GMT'
  await rig.update(LIST, (request, response) => {
    if (request.headers['if-modified-since'] === time) response.writeHead(304).end()
    else response.writeHead(200, { 'last-modified': time }).end(madeList(20))
  })
  t.match(await rig.update(LIST), { state: 'unchanged' })
  t.equal(rig.store.file(LIST, rig.feed(LIST).url)?.made, Date.parse(time))
  rig.server.serve('/moved', gzipSync(madeList(21)))
  t.match(await rig.update(LIST, redirect('/moved')), { state: 'updated', entries: 21 })
  t.equal(rig.inUse(LIST), madeList(21))
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

t.test('going back holds until the publisher has something else', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  const { url } = rig.feed(LIST)
  await rig.update(LIST, madeList(20))
  await t.rejects(rig.store.rollBack(LIST, url), { code: 'missing_data' }, 'there is nothing before the first')
  await rig.update(LIST, madeList(21))
  t.match(await rig.store.rollBack(LIST, url), { entries: 20 })
  t.equal(rig.inUse(LIST), madeList(20))
  t.match(await rig.update(LIST), { state: 'refused', reason: 'the operator rolled this version back' })
  t.match(await rig.update(LIST, undefined, { accept: true }), { state: 'updated' }, 'unless it is wanted')
  await rig.store.rollBack(LIST, url)
  for (const count of [22, 23, 24])
    t.match(await rig.update(LIST, madeList(count)), { state: 'updated', entries: count })
  const files = readdirSync(join(rig.dataDir, 'feeds', LIST)).filter((name) => name.endsWith('.feed'))
  t.equal(files.length, 2, 'the generation before stays, and older ones go')
  await t.rejects(rig.store.rollBack('tor-bulk-exit', 'https://example.org'), { code: 'missing_data' })
})

const FAILURES: readonly (readonly [what: string, status: number, tries: number, headers?: object])[] = [
  ['not found', 404, 1],
  ['forbidden', 403, 1],
  ['a redirect to nowhere', 302, 1],
  ['no content', 204, 1],
  ['overloaded', 503, 3],
  ['a long wait, which is not waited for', 429, 1, { 'retry-after': '3600' }],
  ['too many requests', 429, 3],
]

t.test('an answer without data leaves what there was, and is tried again where that can help', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  for (const [what, status, tries, headers = {}] of FAILURES) {
    const before = rig.server.asked.length
    const failing: Served = (_, response) => response.writeHead(status, { ...headers }).end('<html>')
    const outcome = await rig.update(LIST, failing)
    t.same(outcome, { source: LIST, state: 'failed', reason: `the server responded with status ${status}` }, what)
    t.equal(rig.server.asked.length - before, tries, `${what}: ${tries} tries`)
    t.equal(rig.inUse(LIST), madeList(20), what)
  }
  const { failures, error } = rig.store.read(LIST, rig.feed(LIST).url)
  t.same([failures, error], [FAILURES.length, 'the server responded with status 429'])
  t.match(await rig.update(LIST, madeList(20)), { state: 'unchanged' })
  t.match(rig.store.read(LIST, rig.feed(LIST).url), { failures: 0, error: undefined })
})

/** Writes for ever, as fast as the client takes it. */
const endless: RequestListener = (_, response) => {
  while (!response.destroyed && response.write(Buffer.alloc(2 ** 20, '23.0.0.0/24\n')));
  response.once('drain', () => endless(_, response))
}
const redirect =
  (location: string): RequestListener =>
  (_, response) =>
    response.writeHead(302, { location }).end()

const HALF: readonly (readonly [what: string, listener: RequestListener, reason: RegExp, timeoutMs?: number])[] = [
  ['silent', () => undefined, /no result within 150 ms/, 150],
  [
    'breaks off',
    (_, response) => {
      response.writeHead(200, { 'content-length': '5000' }).write(madeList(10))
      setImmediate(() => response.destroy())
    },
    /.+/,
    150,
  ],
  ['without end', endless, /larger than 67108864 bytes/],
  ['packed, and torn', (_, response) => response.end(gzipSync(madeList(20)).subarray(0, 40)), /cannot be unpacked/],
  ['leads inside', redirect('http://127.0.0.2:1/x'), /127\.0\.0\.2/],
]

t.test('a server that is silent or breaks off costs a deadline and nothing else', async (t) => {
  const rig = await openFeedRig(t, [LIST])
  await rig.update(LIST, madeList(20))
  for (const [what, listener, reason, timeoutMs] of HALF) {
    t.match(await rig.update(LIST, listener, { timeoutMs }), { state: 'failed', reason }, what)
    t.equal(rig.inUse(LIST), madeList(20), what)
  }
})

t.test('with no network it is soon given up, and everything is reported', async (t) => {
  const rig = await openFeedRig(t, [])
  let asked = 0
  const outbound = { fetch: async () => ({ state: 'failed', reason: `ENETUNREACH ${asked++}` }) as const }
  const verify = async () => ({ entries: 0 })
  const options = { store: rig.store, outbound, clock: { now: () => 0 }, verify, retryMs: 1 }
  const outcomes = await updateFeeds(resolveFeeds().slice(0, 30), options)
  t.same([outcomes.length, outcomes.every(({ state }) => state === 'failed')], [30, true])
  t.ok(asked < 60, `${asked} requests for 30 feeds with 3 tries each`)
})

t.test('a list that the user keeps in a file is copied when it changes', async (t) => {
  const rig = await openFeedRig(t, [])
  const path = join(rig.dataDir, 'list.txt')
  writeFileSync(path, madeList(20))
  const [feed] = resolveFeeds({ [LIST]: { url: pathToFileURL(path).href } })
  if (feed === undefined) return t.fail('no feed')
  const update = () => rig.updateFeed(feed)
  t.match(await update(), { state: 'updated', entries: 20 })
  t.match(await update(), { state: 'unchanged' })
  writeFileSync(path, '')
  t.match(await update(), { state: 'refused' })
  t.match(rig.store.file(LIST, feed.url), { size: madeList(20).length })
})

/** Makes a tar archive as MaxMind packs its databases: a folder, texts, and the database. */
function makeTar(files: Readonly<Record<string, string>>): Buffer {
  const blocks = Object.entries(files).flatMap(([name, text]) => {
    const header = Buffer.alloc(512)
    header.write(name)
    header.write(text.length.toString(8).padStart(11, '0'), 124)
    header.write('ustar', 257)
    const body = Buffer.alloc(Math.ceil(text.length / 512) * 512)
    body.write(text)
    return [header, body]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

async function unpackFile(t: Parameters<typeof folder>[0], bytes: Buffer, maxBytes = 10_000): Promise<string> {
  const path = join(folder(t), 'file')
  writeFileSync(path, bytes)
  try {
    await unpack(path, maxBytes)
  } finally {
    t.same(readdirSync(join(path, '..')), ['file'], 'nothing else is left')
  }
  return readFileSync(path, 'utf8')
}

t.test('a file stays as it is, or is unpacked: gzip up to a bound, and the database of a tar archive', async (t) => {
  for (const text of ['', 'x', '23.0.0.0/24\n', 'x'.repeat(1000)]) t.equal(await unpackFile(t, Buffer.from(text)), text)
  t.equal(await unpackFile(t, gzipSync('23.0.0.0/24\n')), '23.0.0.0/24\n')
  const bomb = gzipSync(Buffer.alloc(2 ** 20))
  await t.rejects(unpackFile(t, bomb), { code: 'corrupt_data', message: /larger than 10000 bytes/ })
  const torn = unpackFile(t, gzipSync('23.0.0.0/24\n').subarray(0, 25))
  await t.rejects(torn, { code: 'corrupt_data', message: /cannot be unpacked/ })
  await t.rejects(unpackFile(t, Buffer.from([0x1f, 0x8b, 9, 9])), { code: 'corrupt_data' })
  const files = { 'City_20261120/README.txt': 'x'.repeat(700), 'City_20261120/City.mmdb': 'database'.repeat(100) }
  t.equal(await unpackFile(t, gzipSync(makeTar(files))), files['City_20261120/City.mmdb'])
  t.equal(await unpackFile(t, makeTar(files)), files['City_20261120/City.mmdb'])
  await t.rejects(unpackFile(t, makeTar({ 'README.txt': 'x' })), { code: 'corrupt_data', message: /no \.mmdb file/ })
  const cut = makeTar(files).subarray(0, 600)
  await t.rejects(unpackFile(t, cut), { code: 'corrupt_data' }, 'cut off')
})
