import { isStale, type Snapshot, type SourceStatus } from '@sallyport/core'
import { SOURCES } from '@sallyport/data/sources'
import t from 'tap'
import { oldestList, withFeedStatus } from '../../src/datasets/service/feed-status.ts'
import type { ResolvedSource } from '../../src/datasets/sources/resolve.ts'

const HOUR = 3_600_000
const CHECKED = Date.UTC(2026, 10, 20, 12)

function source(id: string, checked?: number): ResolvedSource {
  const row = SOURCES.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(id)
  const current = { id: '0123456789abcdef', size: 1, entries: 1, made: CHECKED, taken: CHECKED }
  const file = { path: '/x/0123456789abcdef.feed', size: 1, modified: CHECKED }
  const feed = { url: 'https://example.org', failures: 0, current, checked }
  return { row, file, feed }
}

function status(id: string): SourceStatus {
  return { id, title: id, state: 'loaded', date: '2026-11-19', licence: 'MIT', credit: '' }
}

function statusOf(sources: readonly ResolvedSource[]): Snapshot {
  return withFeedStatus(
    { rangesLoaded: true, proxiesLoaded: false, sources: sources.map(({ row }) => status(row.id)) },
    sources,
  )
}

t.test('a list is stale when lists of its kind are no longer good, and a database after three intervals', async (t) => {
  const ids = ['x4bnet-vpn-ipv4', 'tor-bulk-exit', 'protonvpn-exit', 'bot-gptbot', 'asn-csv-v4']
  const { sources, rangesStaleAfter } = statusOf(ids.map((id) => source(id, CHECKED)))
  const days = sources.map(({ staleAfter }) => (Date.parse(staleAfter ?? '') - CHECKED) / (24 * HOUR))
  t.same(days, [30, 2, 182, 14, 3])
  const [ranges] = sources
  const end = CHECKED + 30 * 24 * HOUR
  t.same(
    [end - 1, end].map((now) => ranges && isStale(ranges, now)),
    [false, true],
  )
  t.equal(rangesStaleAfter, CHECKED + 48 * HOUR, 'the first of the range lists')
})

t.test('a list of Tor that is confirmed and has not changed is as old as it is', async (t) => {
  const { row, file, feed } = source('tor-bulk-exit', CHECKED)
  if (feed?.current === undefined || file === undefined) return t.fail('no feed')
  const current = { ...feed.current, made: CHECKED - 30 * 24 * HOUR }
  const [old] = statusOf([{ row, file, feed: { ...feed, current } }]).sources
  t.equal(old?.checked, new Date(CHECKED).toISOString())
  t.equal(Date.parse(old?.staleAfter ?? ''), CHECKED - 28 * 24 * HOUR)
  const touched = { id: current.id, lastModified: new Date(CHECKED).toUTCString() }
  const [own] = statusOf([{ row, file, feed: { ...feed, current, url: 'file:///x/own.txt', seen: touched } }]).sources
  t.equal(own?.staleAfter, old?.staleAfter, 'nor is a file of the user that was written again as it was')
})

t.test('a source without refresh does not grow stale, and a file of the user ages from its own day', async (t) => {
  const embedded = { row: source('asn-country-v4').row, file: { path: '/x/a.csv', size: 1, modified: CHECKED } }
  const own = { row: source('x4bnet-vpn-ipv4').row, file: { path: '/x/own.txt', size: 1, modified: CHECKED } }
  const { sources, rangesStaleAfter } = statusOf([embedded, own])
  t.equal(sources[0]?.staleAfter, undefined)
  t.equal(rangesStaleAfter, Date.UTC(2026, 10, 19) + 30 * 24 * HOUR)
  t.equal(sources[1]?.checked, undefined)
})

t.test('a file of the user that was copied ages from when it was written, however often it is looked at', async (t) => {
  const { row, file, feed } = source('bot-gptbot', CHECKED)
  if (feed?.current === undefined || file === undefined) return t.fail('no feed')
  const lastModified = new Date(CHECKED - 30 * HOUR).toUTCString()
  const own = { ...feed, url: 'file:///x/own.txt', seen: { id: feed.current.id, lastModified } }
  const [written] = statusOf([{ row, file, feed: own }]).sources
  t.equal(written?.checked, undefined)
  t.equal(Date.parse(written?.staleAfter ?? ''), CHECKED + (14 * 24 - 30) * HOUR)
  const dated = { ...own, current: { ...feed.current, dated: true as const } }
  const [saying] = statusOf([{ row, file, feed: dated }]).sources
  t.equal(Date.parse(saying?.staleAfter ?? ''), Date.UTC(2026, 11, 3), 'one that says its own day ages from that')
  t.equal(written?.own, true)
  const read = { row, file: { path: '/x/own.txt', size: 1, modified: CHECKED, own: true as const } }
  t.equal(statusOf([read]).sources[0]?.own, true, 'one that is read where it is')
  t.equal(statusOf([{ row, file, feed }]).sources[0]?.own, undefined, 'a download is nobody\u2019s own')
})

t.test('every list of crawler ranges says how it stands, loaded or not, and until when', async (t) => {
  const lists = ['bot-gptbot', 'bot-pingdom', 'bot-pingdom-2', 'ipverse-bots'].map((id) => source(id, CHECKED))
  const states = { 'bot-gptbot': 'loaded', 'bot-pingdom': 'loaded', 'bot-pingdom-2': 'refused' } as const
  const sources = Object.entries(states).map(([id, state]) => ({ ...status(id), state }))
  const { crawlerStatus } = withFeedStatus(
    { rangesLoaded: false, proxiesLoaded: false, sources: [...sources, status('ipverse-bots')] },
    lists,
  )
  const fresh = { state: 'fresh', date: '2026-11-19', staleAfter: CHECKED + 14 * 24 * HOUR }
  t.same(crawlerStatus, [
    { slug: 'gptbot', ...fresh },
    { slug: 'pingdom', ...fresh },
    { slug: 'pingdom', state: 'missing' },
  ])
})

t.test('proxies are seen until the last list of them is past its age', async (t) => {
  const lists = [source('avastel-1day', CHECKED), source('monosans', CHECKED + HOUR), source('tor-bulk-exit', CHECKED)]
  t.equal(statusOf(lists).proxiesStaleAfter, CHECKED + 73 * HOUR)
  t.equal(statusOf(lists).rangesStaleAfter, CHECKED + 48 * HOUR)
  t.equal(statusOf([source('tor-bulk-exit', CHECKED)]).proxiesStaleAfter, undefined)
})

t.test('crawler and city data past its age is no fault of the range data', async (t) => {
  t.equal(statusOf([source('bot-gptbot', CHECKED), source('dbip-city-lite', CHECKED)]).rangesStaleAfter, undefined)
})

t.test('the newest list of Tor counts, and that of VPN services', async (t) => {
  const { exitsTrueAt } = statusOf([
    source('tor-bulk-exit', CHECKED),
    source('tor-onionoo', CHECKED - 50 * HOUR),
    source('x4bnet-vpn-ipv4', CHECKED - 99 * HOUR),
    source('protonvpn-exit', CHECKED - 10 * HOUR),
    source('apple-private-relay', CHECKED),
  ])
  t.same(exitsTrueAt, { tor: Date.UTC(2026, 10, 19), vpn: CHECKED - 10 * HOUR }, 'that of Tor as it is dated')
  t.equal(statusOf([source('x4bnet-dc-ipv4', CHECKED)]).exitsTrueAt, undefined)
})

t.test('the oldest list is named, and no database', async (t) => {
  const { sources } = statusOf([
    source('x4bnet-vpn-ipv4', CHECKED),
    source('tunnelbear', CHECKED - 90 * 24 * HOUR),
    source('dbip-city-lite', CHECKED - 300 * 24 * HOUR),
  ])
  t.same(oldestList(sources, CHECKED), { id: 'tunnelbear', ageMs: 90 * 24 * HOUR })
  t.equal(oldestList([], CHECKED), undefined)
})
