import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NETWORK_CLASSES } from '@sallyport/core'
import { OPEN_LICENCES, PUBLISHED_FOR_USE, SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { resolveSources } from '../src/index.ts'
import { dateOfFile } from '../src/sources/source-file.ts'
import { folder, SHARED_DATA } from './fixtures.ts'

const byId = (sources: ReturnType<typeof resolveSources>, id: string) => sources.find(({ row }) => row.id === id)

t.test('every row of the table says what it needs to be read', async (t) => {
  t.equal(new Set(SOURCES.map(({ id }) => id)).size, SOURCES.length, 'ids are unique')
  for (const row of SOURCES) {
    const isList = row.kind === 'ranges' || row.kind === 'addresses' || row.kind === 'crawler'
    t.equal(row.networkClass !== undefined, isList, `${row.id}: lists of networks, and only they, have a class`)
    if (row.networkClass !== undefined) t.ok(NETWORK_CLASSES.includes(row.networkClass), row.id)
    t.equal(row.package === undefined, row.file === undefined, `${row.id}: package and file go together`)
    t.ok(row.title && row.format && row.licence && row.note, row.id)
    if (/CC-BY/.test(row.licence)) t.ok(row.credit, `${row.id}: a CC-BY licence asks for a credit line`)
    if (row.kind === 'asn-country') t.ok(row.family, `${row.id}: one family a file`)
  }
})

t.test('every row that is refreshed says from where, how often and what is plausible', async (t) => {
  for (const { id, kind, url, refreshHours, entries, covers, trust } of SOURCES) {
    if (refreshHours === undefined) continue
    t.ok(url?.startsWith('https://'), `${id}: https alone`)
    t.ok(URL.canParse(url ?? ''), id)
    t.ok(refreshHours >= 1 && refreshHours <= 24 * 31, id)
    t.ok(entries !== undefined && entries.min >= 1 && entries.min * 2 < entries.max, id)
    const isList = ['ranges', 'addresses', 'crawler', 'abuse'].includes(kind)
    t.equal(covers !== undefined, isList, `${id}: what it covers`)
    if (isList) t.ok(trust !== undefined && trust > 0 && trust < 1, `${id}: trust`)
  }
})

t.test('only what may be used by anybody, or is published to be used so, is on by itself', async (t) => {
  const on = SOURCES.filter(({ enabled, url }) => enabled && url !== undefined)
  t.same(
    on.filter(({ licence }) => !OPEN_LICENCES.includes(licence) && licence !== PUBLISHED_FOR_USE).map(({ id }) => id),
    [],
  )
  t.ok(on.length > 60)
  const off = resolveSources().filter(({ row }) => !row.enabled)
  t.ok(off.length > 0 && off.every(({ file, reason }) => file === undefined && reason === 'not switched on'))
})

const FEEDS = join(SHARED_DATA, 'feeds/feeds.json')
const skip = existsSync(FEEDS) ? false : 'the list of checked feeds is not there'

t.test('the row of every checked feed is there, under its own id', { skip }, async (t) => {
  const ids = new Set(SOURCES.map(({ id }) => id))
  const feeds: readonly { id: string }[] = JSON.parse(readFileSync(FEEDS, 'utf8'))
  t.same(
    feeds.filter(({ id }) => !ids.has(id)),
    [],
  )
})

t.test('the embedded packages are found, with their version', async (t) => {
  const sources = resolveSources()
  for (const { row, file } of sources.filter(({ row }) => row.package !== undefined)) {
    t.ok(file?.size, row.id)
    t.match(file?.version, /^\d+\.\d+\.\d{10}$/, row.id)
  }
  t.equal(dateOfFile(byId(sources, 'asn-csv-v4')?.file as never), '2026-06-17')
  for (const { row, file, reason } of sources.filter(({ row }) => row.package === undefined && row.enabled)) {
    t.equal(file, undefined, row.id)
    t.equal(reason, row.url === undefined ? 'no file is named' : 'not downloaded yet', row.id)
  }
})

t.test('a package or file that is not there makes a source absent', async (t) => {
  const row: SourceRow = {
    ...(SOURCES[0] as SourceRow),
    id: 'gone',
    package: '@sallyport/no-such-package',
  }
  t.match(resolveSources({}, [row])[0], { file: undefined, reason: /@sallyport\/no-such-package is not installed/ })
  const [missing] = resolveSources({ gone: { url: 'file:///no/such/file.csv' } }, [row])
  t.match(missing, { file: undefined, reason: 'no such file: /no/such/file.csv' })
  const [directory] = resolveSources({ gone: { url: pathToFileURL(folder(t)).href } }, [row])
  t.equal(directory?.file, undefined, 'a folder is no file')
})

t.test('a source can be switched off', async (t) => {
  t.match(byId(resolveSources({ 'asn-csv-v4': { enabled: false } }), 'asn-csv-v4'), {
    file: undefined,
    reason: 'switched off',
  })
})

t.test('a file of the user takes the place of the embedded one', async (t) => {
  const path = join(folder(t), 'own.csv')
  writeFileSync(path, 'x')
  const found = byId(resolveSources({ 'asn-csv-v4': { url: pathToFileURL(path).href } }), 'asn-csv-v4')
  t.match(found?.file, { path, size: 1 })
  t.equal(found?.file?.version, undefined)
  t.equal(dateOfFile({ path, size: 1, modified: Date.UTC(2026, 10, 21, 23) }), '2026-11-21', 'dated by its own time')
})

t.test('a city database for both families takes the place of the embedded ones', async (t) => {
  const dir = folder(t)
  mkdirSync(join(dir, 'mmdb'))
  const path = join(dir, 'mmdb', 'GeoLite2-City.mmdb')
  writeFileSync(path, 'x')
  const url = pathToFileURL(path).href
  const sources = resolveSources({ city: { url } })
  t.equal(byId(sources, 'city')?.file?.path, path)
  for (const id of ['dbip-city-lite', 'dbip-city-v4', 'dbip-city-v6']) {
    t.match(byId(sources, id), { file: undefined, reason: 'city takes its place' }, id)
  }
  const missing = resolveSources({ city: { url: 'file:///no/such.mmdb' } })
  t.ok(byId(missing, 'dbip-city-v4')?.file, 'but not when its file is not there')
})

t.test('what this version cannot do is an error in the configuration, named', async (t) => {
  t.throws(() => resolveSources({ 'asn-csv-v5': {} }), { code: 'invalid_config', message: /asn-csv-v5/ })
  for (const url of ['ftp://x/y', 'list.txt', 'file://host/x', 'data:text/plain,1.2.3.4']) {
    t.throws(
      () => resolveSources({ 'x4bnet-vpn-ipv4': { url } }),
      { code: 'invalid_config', message: /x4bnet-vpn-ipv4\.url: .*file:/ },
      url,
    )
  }
})
