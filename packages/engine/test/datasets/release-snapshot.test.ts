import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { makeAddress } from '@sallyport/core/testing'
import { SOURCES, type SourceRow } from '@sallyport/data/sources'
import t from 'tap'
import { madeList, openFeedServer } from '#datasets/testing'
import { withFreeLock, withLock } from '#stores'
import { listsIn } from '../../build/lists.ts'
import { packSnapshot } from '../../build/pack-snapshot.ts'
import { refreshLists } from '../../build/refresh-lists.ts'
import { isShippable } from '../../build/shippable.ts'
import { tablesPath } from '../../src/datasets/compile/compiled-path.ts'
import { compileTables, loadTables, resolveSources } from '../../src/datasets/index.ts'
import { openSnapshot } from '../../src/datasets/service/snapshot.ts'
import { type ShippedSource, shippedFolder, shippedSources, unpackTables } from '../../src/datasets/sources/shipped.ts'
import { readSource, type SourceFile } from '../../src/datasets/sources/source-file.ts'
import { folder, writeSources } from './fixtures.ts'

const LOOPBACK = { net: { allowPrivate: ['127.0.0.1/32'] } }
const ID = 'x4bnet-vpn-ipv4'
const ROWS = SOURCES.filter(({ id }) => id === ID)

t.test('a release ships what everybody may pass on', async (t) => {
  const ids = SOURCES.filter(isShippable).map(({ id }) => id)
  for (const id of ['asn-csv-v4', 'asn-country-v4', 'user-country-v4', 'tor-bulk-exit', ID, 'gluetun-servers']) {
    t.ok(ids.includes(id), id)
  }
  for (const id of ['bot-gptbot', 'avastel-1day', 'dbip-city-lite', 'mullvad-relays', 'iptoasn', 'geofeed-aws']) {
    t.notOk(ids.includes(id), id)
  }
  const nameless = { ...(SOURCES.find(({ id }) => id === 'gluetun-servers') as SourceRow), copyright: undefined }
  t.notOk(isShippable(nameless), 'MIT asks for the name of its holder')
})

t.test('what publishers have is checked and kept with its time; the rest is named and stays', async (t) => {
  const server = await openFeedServer(t)
  const to = join(folder(t), 'lists')
  const settings = { ...LOOPBACK, data: { mirror: server.url('/lists') } }
  t.same((await refreshLists(to, settings)).fetched, [])
  t.notOk(existsSync(to), 'nothing was there, and nothing is')
  const list = madeList(4_000)
  server.serve(`/lists/${ID}`, list)
  server.serve('/lists/x4bnet-dc-ipv4', 'a page of errors')
  const { fetched, missing } = await refreshLists(to, settings)
  t.same(fetched, [ID])
  const asked = SOURCES.filter((row) => isShippable(row) && row.package === undefined)
  t.equal(missing.length, asked.length - 1)
  t.match(missing.find(({ id }) => id === 'tor-bulk-exit')?.reason, /404/)
  t.same(readdirSync(to).sort(), ['index.json', ID])
  t.equal(readFileSync(join(to, ID), 'utf8'), list)
  t.ok(Math.abs(Date.parse(listsIn(to)[0]?.made ?? '') - Date.now()) < 60_000)

  server.serve(`/lists/${ID}`, 'a page of errors')
  const before = listsIn(to)
  t.same((await refreshLists(to, settings)).fetched, [])
  t.same(listsIn(to), before)
  t.equal(readFileSync(join(to, ID), 'utf8'), list, 'what is not plausible replaces nothing')
})

t.test('lists and their tables are packed with licences, and a fresh dataDir starts from them', async (t) => {
  const dir = folder(t)
  const [lists, to, dataDir] = [join(dir, 'lists'), join(dir, 'snapshot'), join(dir, 'data')]
  for (const made of [lists, dataDir]) mkdirSync(made)
  const list = madeList(4_000)
  writeFileSync(join(lists, ID), list)
  writeFileSync(join(lists, 'index.json'), JSON.stringify([{ id: ID, made: '2026-11-20T10:00:00.000Z' }]))
  const { sources, wasThere } = await packSnapshot(to, lists, ROWS)
  t.notOk(wasThere)
  t.match(sources, [{ id: ID, size: list.length, sha256: /^[0-9a-f]{64}$/ }])
  const notice = /2026-11-20\n[\s\S]*X4B \(Mathew Heard\)[\s\S]*Permission is hereby granted/
  t.match(readFileSync(join(to, 'NOTICE'), 'utf8'), notice)
  const file = shippedSources(to).get(ID) as SourceFile
  t.equal(readSource(file).toString(), list)

  const resolved = ROWS.map((row) => ({ row, file }))
  const path = tablesPath(dataDir, resolved)
  t.ok(await unpackTables(path, to))
  const unpacked = readFileSync(path)
  const { path: compiled } = await compileTables({ dataDir: join(dir, 'compiled'), sources: resolved })
  t.equal(basename(compiled), basename(path))
  t.ok(readFileSync(compiled).equals(unpacked), 'byte for byte what compiling gives')

  const packed = join(to, `${basename(path)}.br`)
  t.ok(brotliDecompressSync(readFileSync(packed)).equals(unpacked))
  t.ok((await packSnapshot(to, lists, ROWS)).wasThere, 'nothing has changed')
  truncateSync(packed, statSync(packed).size - 1)
  t.notOk(await unpackTables(path, to), 'cut short')
  t.same(readdirSync(dataDir), [basename(path)])
  t.notOk(await unpackTables(join(dataDir, 'tables-0123456789abcdef.bin'), to), 'made of other sources')

  writeFileSync(join(lists, 'index.json'), JSON.stringify([{ id: ID, made: '2026-11-27T10:00:00.000Z' }]))
  t.notOk((await packSnapshot(to, lists, ROWS)).wasThere, 'another day')
  t.equal(readdirSync(to).length, 4, 'and nothing is left of the one before')
})

const CITIES = SOURCES.filter(({ kind }) => kind === 'city').map(({ id }) => [id, { enabled: false }])
const skip = existsSync(shippedFolder()) ? false : 'npm run build packs what is shipped'

t.test('an installation decides without compiling, with the days of the release', { skip }, async (t) => {
  const dataDir = folder(t)
  const stages: string[] = []
  const { networks, sources } = await openSnapshot(dataDir, resolveSources(Object.fromEntries(CITIES)), {
    lock: { withLock, withFreeLock },
    onProgress: (stage) => stages.push(stage),
  })
  t.same(stages, [])
  t.equal(networks?.find(makeAddress('1.1.1.1'))?.system?.asn, 13335)
  const index: readonly ShippedSource[] = JSON.parse(readFileSync(join(shippedFolder(), 'index.json'), 'utf8'))
  t.ok(index.length >= 4)
  const loaded = new Map(sources.map((source) => [source.id, source]))
  for (const { id, made, sha256 } of index) {
    t.match(loaded.get(id), { state: 'loaded', date: new Date(made).toISOString().slice(0, 10), sha256 })
  }
  // A later download is compiled with the rest of the shipped files.
  const more = writeSources(dataDir, { [ID]: '5.9.1.0/24' }).filter(({ row }) => row.id === ID)
  const others = resolveSources(Object.fromEntries(CITIES)).filter(({ row }) => row.id !== ID)
  const { path } = await compileTables({ dataDir, sources: [...others, ...more] })
  const found = loadTables(path).networks?.find(makeAddress('5.9.1.1'))
  t.match(found, { system: { asn: 24940 }, range: { networkClass: 'vpn' } })
})
