import { isStale, type Snapshot, type SourceStatus } from '@sallyport/core'
import { LIST_AGES } from '@sallyport/data/list-ages'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { isDue } from '../../src/datasets/feeds/age.ts'
import { FACTS } from '../../src/datasets/service/facts.ts'
import { oldestList, withFeedStatus } from '../../src/datasets/service/feed-status.ts'
import { staleNotice } from '../../src/datasets/service/stale-notice.ts'
import { listKind } from '../../src/datasets/sources/list-kind.ts'
import type { ResolvedSource } from '../../src/datasets/sources/resolve.ts'
import { dataConfig } from './feed-rig.ts'

const HOUR = 3_600_000
const CHECKED = Date.UTC(2026, 10, 20, 12)

function source(id: string, checked?: number): ResolvedSource {
  const row = SOURCES.find((candidate) => candidate.id === id) as SourceRow
  const current = { id: '0123456789abcdef', size: 1, entries: 1, made: checked ?? CHECKED, taken: CHECKED }
  const file = { path: '/x/0123456789abcdef.feed', size: 1, modified: CHECKED }
  const feed = { url: 'https://example.org', failures: 0, current, checked }
  return { row, file, feed }
}

function status(id: string): SourceStatus {
  return { id, title: id, state: 'loaded', date: '2026-11-19', licence: 'MIT', credit: '' }
}

function readStatus(sources: readonly ResolvedSource[]): Snapshot {
  const statuses = sources.map(({ row }) => status(row.id))
  return withFeedStatus({ rangesLoaded: true, proxiesLoaded: false, sources: statuses }, sources)
}

t.test('a source is stale when sources of its kind are no longer good', async (t) => {
  const ids = ['x4bnet-vpn-ipv4', 'tor-bulk-exit', 'protonvpn-exit', 'bot-gptbot', 'asn-csv-v4']
  const sources = readStatus(ids.map((id) => source(id, CHECKED))).sources.slice(0, ids.length)
  const readDays = (time = '') => (Date.parse(time) - CHECKED) / (24 * HOUR)
  const days = sources.map(({ ages, staleAfter }) => `${ages} ${readDays(staleAfter)}`)
  t.same(days, ['range 30', 'tor 2', 'service 182', 'rented 7', 'route 60'])
  const end = CHECKED + 30 * 24 * HOUR
  const stale = [end - 1, end].map((now) => isStale(sources[0] as SourceStatus, now))
  t.same(stale, [false, true])
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
  const [exits, prefixes] = [day(200), day(1)]
  const expected = { 'rented-systems': exits, 'exit-density': exits, 'exit-neighbours': exits }
  t.match(derived, { ...expected, 'system-prefixes': prefixes })
  t.notOk('proxy-neighbours' in derived, 'no list of proxies is loaded')
})

t.test('every source of the table ages, by its row or by its kind', async (t) => {
  const kinds = new Set(LIST_AGES.map(({ kind }) => kind))
  for (const row of SOURCES) t.ok(kinds.has(listKind(row)), row.id)
  t.ok(FACTS.every(({ ages, lastTrue, date }) => ages !== undefined && lastTrue === date))
})

t.test('a list that is made daily and is served unchanged for months is as old as its last change', async (t) => {
  const made = CHECKED - 100 * 24 * HOUR
  const daily = ['avastel-1day', 'x4bnet-vpn-ipv4', 'asn-csv-v4', 'windscribe-exit', 'tor-bulk-exit']
  // The operators of these lists confirm that nothing has changed, and are believed.
  const confirmed = ['bot-googlebot', 'lord-alfred-github-ipv4']
  for (const id of [...daily, ...confirmed]) {
    const { feed, ...rest } = source(id, CHECKED)
    if (feed?.current === undefined) throw new Error(id)
    const unchanged = { ...rest, feed: { ...feed, current: { ...feed.current, made } } }
    const lastTrue = new Date(daily.includes(id) ? made : CHECKED).toISOString()
    t.match(readStatus([unchanged]).sources[0], { lastTrue, checked: new Date(CHECKED).toISOString() })
  }
})

t.test('a source without refresh does not grow stale, and a file of the user ages from its own day', async (t) => {
  const embedded = { row: source('asn-country-v4').row, file: { path: '/x/a.csv', size: 1, modified: CHECKED } }
  const own = { row: source('x4bnet-vpn-ipv4').row, file: { path: '/x/own.txt', size: 1, modified: CHECKED } }
  const { sources } = readStatus([embedded, own])
  t.match(sources[0], { staleAfter: undefined, ages: 'route', lastTrue: '2026-11-19T00:00:00.000Z' })
  t.match(sources[1], { staleAfter: '2026-12-19T00:00:00.000Z', checked: undefined })
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
  const read = { row, file: { path: '/x/own.txt', size: 1, modified: CHECKED, own: true as const } }
  const areOwn = [{ row, file, feed: own }, read, { row, file, feed }].map((one) => readStatus([one]).sources[0]?.own)
  t.same(areOwn, [true, true, undefined], 'copied, read where it is, and a download')
})

t.test('every list of crawler ranges says how it stands, loaded or not, and until when', async (t) => {
  const lists = ['bot-gptbot', 'bot-pingdom', 'bot-pingdom-2', 'ipverse-bots'].map((id) => source(id, CHECKED))
  const states = { 'bot-gptbot': 'loaded', 'bot-pingdom': 'loaded', 'bot-pingdom-2': 'refused' } as const
  const sources = Object.entries(states).map(([id, state]) => ({ ...status(id), state }))
  sources.push({ ...status('ipverse-bots'), state: 'loaded' })
  const { crawlerStatus } = withFeedStatus({ rangesLoaded: false, proxiesLoaded: false, sources }, lists)
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

const TRIED = Date.UTC(2026, 10, 21)

/** Whether a feed becomes due just that long after it was asked. */
function isDueAfter(wait: number, refreshHours: number, failures: number, jitter = 0.5): boolean {
  const row: SourceRow = { ...(SOURCES[0] as SourceRow), refreshHours }
  const at = (now: number) => isDue(row, { url: '', failures, tried: TRIED }, jitter, now)
  return at(TRIED + wait + 1) && !at(TRIED + wait - 1)
}

t.test('a feed is asked at its own interval, and sooner after a failure, never later', async (t) => {
  t.ok(isDue(SOURCES[0] as SourceRow, { url: '', failures: 0 }, 1, TRIED), 'at once where it never was')
  t.ok(isDueAfter(24 * HOUR, 24, 0))
  t.ok(isDueAfter(21.6 * HOUR, 24, 0, 0))
  t.ok(isDueAfter(26.4 * HOUR, 24, 0, 1))
  for (const [index, minutes] of [5, 10, 20, 40].entries()) t.ok(isDueAfter(minutes * 60_000, 24, index + 1))
  for (const failures of [30, 5_000]) t.ok(isDueAfter(24 * HOUR, 24, failures))
  t.ok(isDueAfter(HOUR, 1, 5))
  const [row, now] = [SOURCES[0] as SourceRow, TRIED - 365 * 24 * HOUR]
  for (const failures of [0, 3])
    t.ok(isDue(row, { url: '', failures, tried: TRIED }, 0.5, now), 'a clock that was ahead silences no feed')
})

const NOW = Date.parse('2026-11-25T00:00:00Z')

function makeStatus(id: string, more: object = {}) {
  return { id, title: id, state: 'loaded', licence: '', credit: '', ...more } as const
}

t.test('old data, its age, and the command', async (t) => {
  const sources = [
    makeStatus('fresh', { date: '2026-11-24', staleAfter: '2026-12-24T00:00:00Z' }),
    makeStatus('old', { date: '2026-10-24', staleAfter: '2026-11-01T00:00:00Z' }),
    makeStatus('older', { date: '2026-08-17', staleAfter: '2026-09-01T00:00:00Z' }),
    makeStatus('undated'),
    { ...makeStatus('gone', { staleAfter: '2026-09-01T00:00:00Z' }), state: 'absent' as const },
  ]
  const said = (data: object, cities: boolean, some = sources) =>
    staleNotice(dataConfig('/srv/state', data), some, { cities, now: NOW })
  const old = '2 of 4 data sources are stale; the oldest, older, is 100 days old (2026-08-17)'
  const update = 'To update, run npx sallyport data update --data-dir "/srv/state"'
  t.equal(said({ refresh: false }, true), `${old}. ${update}`)
  const noCity = /; no city database is loaded\. This service downloads newer data\. To update now, run npx/
  t.match(said({ refresh: true }, false), noCity)
  t.match(said({ refresh: true, readOnly: true }, false), /To update, run npx/)
  t.match(said({ refresh: true }, false, sources.slice(0, 1)), /^No city database is loaded\. /)
  t.equal(said({ city: false }, false, sources.slice(0, 1)), undefined, 'nothing is missing that nobody wants')
  t.equal(said({ refresh: true }, true, sources.slice(0, 1)), undefined)
})
