import { isStale, type Snapshot, type SourceStatus } from '@sallyport/core'
import { LIST_AGES } from '@sallyport/data/list-ages'
import { SOURCES } from '@sallyport/data/sources'
import t from 'tap'
import { FACTS } from '../../src/datasets/service/facts.ts'
import { oldestList, withFeedStatus } from '../../src/datasets/service/feed-status.ts'
import { listKind } from '../../src/datasets/sources/list-kind.ts'
import type { ResolvedSource } from '../../src/datasets/sources/resolve.ts'

const HOUR = 3_600_000
const CHECKED = Date.UTC(2026, 10, 20, 12)

function source(id: string, checked?: number): ResolvedSource {
  const row = SOURCES.find((candidate) => candidate.id === id)
  if (row === undefined) throw new Error(id)
  const current = { id: '0123456789abcdef', size: 1, entries: 1, made: checked ?? CHECKED, taken: CHECKED }
  const file = { path: '/x/0123456789abcdef.feed', size: 1, modified: CHECKED }
  const feed = { url: 'https://example.org', failures: 0, current, checked }
  return { row, file, feed }
}

function status(id: string): SourceStatus {
  return { id, title: id, state: 'loaded', date: '2026-11-19', licence: 'MIT', credit: '' }
}

function readStatus(sources: readonly ResolvedSource[]): Snapshot {
  return withFeedStatus(
    { rangesLoaded: true, proxiesLoaded: false, sources: sources.map(({ row }) => status(row.id)) },
    sources,
  )
}

t.test('a source is stale when sources of its kind are no longer good', async (t) => {
  const ids = ['x4bnet-vpn-ipv4', 'tor-bulk-exit', 'protonvpn-exit', 'bot-gptbot', 'asn-csv-v4']
  const sources = readStatus(ids.map((id) => source(id, CHECKED))).sources.slice(0, ids.length)
  const days = sources.map(({ staleAfter }) => (Date.parse(staleAfter ?? '') - CHECKED) / (24 * HOUR))
  t.same(days, [30, 2, 182, 7, 60])
  const [ranges] = sources
  const end = CHECKED + 30 * 24 * HOUR
  t.same(
    [end - 1, end].map((now) => ranges && isStale(ranges, now)),
    [false, true],
  )
  t.same(
    sources.map(({ ages }) => ages),
    ['range', 'tor', 'service', 'rented', 'route'],
  )
})

t.test('what is derived from lists is as old as they are, whatever else is loaded', async (t) => {
  const day = (days: number) => CHECKED - days * 24 * HOUR
  const relay = source('apple-private-relay', day(1))
  const { sources } = readStatus([
    source('x4bnet-vpn-ipv4', day(300)),
    source('protonvpn-exit', day(200)),
    source('x4bnet-dc-ipv4', day(2)),
    relay,
    source('asn-csv-v4', day(0)),
  ])
  const derived = Object.fromEntries(sources.map(({ id, lastTrue }) => [id, lastTrue && Date.parse(lastTrue)]))
  for (const id of ['rented-systems', 'exit-density', 'exit-neighbours']) t.equal(derived[id], day(200), id)
  t.equal(derived['system-prefixes'], day(1))
  t.notOk('proxy-neighbours' in derived, 'no list of proxies is loaded')
})

t.test('every source of the table ages, by its row or by its kind', async (t) => {
  t.same(
    SOURCES.filter((row) => !LIST_AGES.some(({ kind }) => kind === listKind(row))),
    [],
  )
  t.equal(
    FACTS.every(({ ages, lastTrue, date }) => ages !== undefined && lastTrue === date),
    true,
  )
})

t.test('a list of Tor that is confirmed and has not changed is as old as it is', async (t) => {
  const { row, file, feed } = source('tor-bulk-exit', CHECKED)
  if (feed?.current === undefined || file === undefined) return t.fail('no feed')
  const current = { ...feed.current, made: CHECKED - 30 * 24 * HOUR }
  const [old] = readStatus([{ row, file, feed: { ...feed, current } }]).sources
  t.equal(old?.checked, new Date(CHECKED).toISOString())
  t.equal(Date.parse(old?.staleAfter ?? ''), CHECKED - 28 * 24 * HOUR)
  const touched = { id: current.id, lastModified: new Date(CHECKED).toUTCString() }
  const [own] = readStatus([{ row, file, feed: { ...feed, current, url: 'file:///x/own.txt', seen: touched } }]).sources
  t.equal(own?.staleAfter, old?.staleAfter, 'nor is a file of the user that was written again as it was')
})

t.test('a list that is made daily and is served unchanged for months is as old as its last change', async (t) => {
  const made = CHECKED - 100 * 24 * HOUR
  const rows = [
    'avastel-1day',
    'x4bnet-vpn-ipv4',
    'asn-csv-v4',
    'windscribe-exit',
    'bot-googlebot',
    'lord-alfred-github-ipv4',
  ]
  const unchanged = rows.map((id) => {
    const { feed, ...rest } = source(id, CHECKED)
    if (feed?.current === undefined) throw new Error(id)
    return { ...rest, feed: { ...feed, current: { ...feed.current, made } } }
  })
  const { sources } = readStatus(unchanged)
  const since = (at: number | undefined) => rows.filter((_, row) => Date.parse(sources[row]?.lastTrue ?? '') === at)
  t.same(since(made), ['avastel-1day', 'x4bnet-vpn-ipv4', 'asn-csv-v4', 'windscribe-exit'])
  t.same(since(CHECKED), ['bot-googlebot', 'lord-alfred-github-ipv4'], 'what its operator confirms is true')
  t.ok(sources.slice(0, rows.length).every(({ checked }) => checked === new Date(CHECKED).toISOString()))
})

t.test('a source without refresh does not grow stale, and a file of the user ages from its own day', async (t) => {
  const embedded = { row: source('asn-country-v4').row, file: { path: '/x/a.csv', size: 1, modified: CHECKED } }
  const own = { row: source('x4bnet-vpn-ipv4').row, file: { path: '/x/own.txt', size: 1, modified: CHECKED } }
  const { sources } = readStatus([embedded, own])
  t.match(sources[0], { staleAfter: undefined, ages: 'route', lastTrue: '2026-11-19T00:00:00.000Z' })
  t.equal(Date.parse(sources[1]?.staleAfter ?? ''), Date.UTC(2026, 10, 19) + 30 * 24 * HOUR)
  t.equal(sources[1]?.checked, undefined)
})

t.test('a file of the user that was copied ages from when it was written, however often it is looked at', async (t) => {
  const { row, file, feed } = source('bot-gptbot', CHECKED)
  if (feed?.current === undefined || file === undefined) return t.fail('no feed')
  const lastModified = new Date(CHECKED - 30 * HOUR).toUTCString()
  const own = { ...feed, url: 'file:///x/own.txt', seen: { id: feed.current.id, lastModified } }
  const [written] = readStatus([{ row, file, feed: own }]).sources
  t.equal(written?.checked, undefined)
  t.equal(Date.parse(written?.staleAfter ?? ''), CHECKED + (7 * 24 - 30) * HOUR)
  const dated = { ...own, current: { ...feed.current, dated: true as const } }
  const [saying] = readStatus([{ row, file, feed: dated }]).sources
  t.equal(Date.parse(saying?.staleAfter ?? ''), Date.UTC(2026, 10, 26), 'one that says its own day ages from that')
  t.equal(written?.own, true)
  const read = { row, file: { path: '/x/own.txt', size: 1, modified: CHECKED, own: true as const } }
  t.equal(readStatus([read]).sources[0]?.own, true, 'one that is read where it is')
  t.equal(readStatus([{ row, file, feed }]).sources[0]?.own, undefined, 'a download is nobody\u2019s own')
})

t.test('every list of crawler ranges says how it stands, loaded or not, and until when', async (t) => {
  const lists = ['bot-gptbot', 'bot-pingdom', 'bot-pingdom-2', 'ipverse-bots'].map((id) => source(id, CHECKED))
  const states = { 'bot-gptbot': 'loaded', 'bot-pingdom': 'loaded', 'bot-pingdom-2': 'refused' } as const
  const sources = Object.entries(states).map(([id, state]) => ({ ...status(id), state }))
  const { crawlerStatus } = withFeedStatus(
    { rangesLoaded: false, proxiesLoaded: false, sources: [...sources, status('ipverse-bots')] },
    lists,
  )
  const fresh = { state: 'fresh', date: '2026-11-19' }
  const lastTrue = new Date(CHECKED).toISOString()
  t.match(crawlerStatus, [
    { slug: 'gptbot', ...fresh, staleAfter: CHECKED + 7 * 24 * HOUR, source: { ages: 'rented', lastTrue } },
    { slug: 'pingdom', ...fresh, staleAfter: CHECKED + 14 * 24 * HOUR, source: { ages: 'crawler', lastTrue } },
    { slug: 'pingdom', state: 'missing', source: undefined },
  ])
})

t.test('the newest list of Tor, of VPN services and of proxies counts, and the oldest table of systems', async (t) => {
  const { restsOn } = readStatus([
    source('tor-bulk-exit', CHECKED),
    source('x4bnet-vpn-ipv4', CHECKED - 99 * HOUR),
    source('protonvpn-exit', CHECKED - 10 * HOUR),
    source('apple-private-relay', CHECKED),
    source('avastel-1day', CHECKED),
    source('monosans', CHECKED + HOUR),
    source('asn-csv-v4', CHECKED),
    source('asn-csv-v6', CHECKED - HOUR),
    source('iptoasn', CHECKED - 9 * HOUR),
  ])
  const ids = Object.entries(restsOn ?? {}).map(([name, one]) => [name, one?.id])
  const newest = { tor: 'tor-bulk-exit', vpn: 'protonvpn-exit', proxies: 'monosans', systems: 'asn-csv-v6' }
  t.same(Object.fromEntries(ids), newest)
  t.equal(readStatus([source('iptoasn', CHECKED)]).restsOn?.systems?.id, 'iptoasn', 'it serves alone too')
  t.match(readStatus([source('x4bnet-dc-ipv4', CHECKED)]).restsOn, { tor: undefined, vpn: undefined })
})

t.test('the oldest list is named, and no database', async (t) => {
  const { sources } = readStatus([
    source('x4bnet-vpn-ipv4', CHECKED),
    source('tunnelbear', CHECKED - 90 * 24 * HOUR),
    source('dbip-city-lite', CHECKED - 300 * 24 * HOUR),
  ])
  t.same(oldestList(sources, CHECKED), { id: 'tunnelbear', ageMs: 90 * 24 * HOUR })
  t.equal(oldestList([], CHECKED), undefined)
})
