import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { NETWORK_CLASSES } from '@sallyport/core'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { resolveSources } from '../src/index.ts'
import { dateOfFile } from '../src/sources/resolve.ts'
import { folder } from './fixtures.ts'

const byId = (sources: ReturnType<typeof resolveSources>, id: string) => sources.find(({ row }) => row.id === id)

t.test('every row of the table says what it needs to be read', async (t) => {
  t.equal(new Set(SOURCES.map(({ id }) => id)).size, SOURCES.length, 'ids are unique')
  for (const row of SOURCES) {
    const isList = row.kind === 'ranges' || row.kind === 'addresses'
    t.equal(row.networkClass !== undefined, isList, `${row.id}: lists, and only lists, have a class`)
    if (row.networkClass !== undefined) t.ok(NETWORK_CLASSES.includes(row.networkClass), row.id)
    t.equal(row.package === undefined, row.file === undefined, `${row.id}: package and file go together`)
    t.ok(row.title && row.format && row.licence && row.note, row.id)
    if (/CC-BY/.test(row.licence)) t.ok(row.credit, `${row.id}: a CC-BY licence asks for a credit line`)
    if (row.kind === 'asn' || row.kind === 'asn-country') t.ok(row.family, `${row.id}: one family a file`)
  }
})

t.test('the embedded packages are found, with their version', async (t) => {
  const sources = resolveSources()
  for (const { row, file } of sources.filter(({ row }) => row.package !== undefined)) {
    t.ok(file?.size, row.id)
    t.match(file?.version, /^\d+\.\d+\.\d{10}$/, row.id)
  }
  t.equal(dateOfFile(byId(sources, 'asn-csv-v4')?.file as never), '2026-06-17')
  for (const { row, file, reason } of sources.filter(({ row }) => row.package === undefined)) {
    t.equal(file, undefined, row.id)
    t.equal(reason, 'no file is named', row.id)
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
  for (const url of ['https://example.org/list.txt', 'http://example.org', 'ftp://x/y', 'list.txt', 'file://host/x']) {
    t.throws(
      () => resolveSources({ 'x4bnet-vpn-ipv4': { url } }),
      { code: 'invalid_config', message: /x4bnet-vpn-ipv4\.url: .*file:/ },
      url,
    )
  }
})
