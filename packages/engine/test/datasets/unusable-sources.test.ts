import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { compileTables, loadTables } from '../../src/datasets/index.ts'
import { folder, writeSources } from './fixtures.ts'

const ASN4 = '23.0.0.0,23.0.0.255,64500,Access'
const GOOD = {
  'asn-csv-v4': ASN4,
  'asn-csv-v6': '2a00:1::,2a00:1::ffff,64501,Six',
  'asn-country-v4': '23.0.0.0,23.0.0.255,DE',
  'x4bnet-vpn-ipv4': '23.0.0.0/25',
  'x4bnet-dc-ipv4': '23.0.0.0/24',
}

async function compiled(t: Test, files: Readonly<Record<string, string | Buffer>>) {
  const dir = folder(t)
  const { path, sources } = await compileTables({ dataDir: dir, sources: writeSources(dir, files) })
  const tables = loadTables(path)
  if (JSON.stringify(tables.sources) !== JSON.stringify(sources)) t.fail('the file has other sources than the compile')
  return { ...tables, status: (id: string) => sources.find((source) => source.id === id) }
}

t.test('sources that are read are reported with day, entries, licence and credit', async (t) => {
  const { status, rangesLoaded } = await compiled(t, GOOD)
  t.match(status('asn-csv-v4'), { state: 'loaded', entries: 1, licence: 'CC-BY-4.0', credit: /DB-IP/ })
  t.match(status('asn-csv-v4')?.date, /^\d{4}-\d\d-\d\d$/)
  t.equal(status('tor-bulk-exit'), undefined, 'one that is absent is not in the file, and does not change its name')
  t.equal(rangesLoaded, true)
  t.equal((await compiled(t, { ...GOOD, 'x4bnet-dc-ipv4': 'nothing' })).rangesLoaded, false, 'both lists are needed')
})

t.test('one unusable source is refused with its reason, and everything else is there', async (t) => {
  const broken: Readonly<Record<string, string | Buffer>> = {
    'asn-csv-v4': '<html>Not found</html>',
    'asn-csv-v6': '',
    'asn-country-v4': 'x,y,z\n',
    'x4bnet-vpn-ipv4': '0.0.0.0/0',
  }
  for (const [id, contents] of Object.entries(broken)) {
    const { status, networks, systems } = await compiled(t, { ...GOOD, [id]: contents })
    t.match(status(id)?.reason, new RegExp(`sources/${id}: `))
    for (const source of Object.keys(GOOD)) t.equal(status(source)?.state, source === id ? 'refused' : 'loaded', id)
    t.equal(networks?.find(makeAddress('23.0.0.9'))?.system?.asn, id === 'asn-csv-v4' ? undefined : 64500, id)
    t.equal(systems?.size, id.startsWith('asn-csv') ? 1 : 2, `${id}: no system of a refused file is left`)
  }
})

t.test('a file that goes away or cannot be read while compiling is refused', async (t) => {
  const dir = folder(t)
  const sources = writeSources(dir, GOOD)
  rmSync(join(dir, 'sources', 'asn-csv-v4'))
  rmSync(join(dir, 'sources', 'asn-csv-v6'))
  mkdirSync(join(dir, 'sources', 'asn-csv-v6'))
  const { path, sources: statuses } = await compileTables({ dataDir: dir, sources })
  const refused = statuses.filter(({ state }) => state === 'refused').map(({ id, reason }) => `${id}: ${reason}`)
  t.match(refused.sort(), [/^asn-csv-v4: .*ENOENT/, /^asn-csv-v6: .*EISDIR/])
  t.equal(loadTables(path).networks?.find(makeAddress('23.0.0.9'))?.range?.networkClass, 'vpn')
})

t.test('nothing half-written is left if the tables cannot be written', async (t) => {
  const dir = folder(t)
  const sources = writeSources(dir, GOOD)
  await t.rejects(compileTables({ dataDir: join(dir, 'sources', 'asn-csv-v4'), sources }), { code: 'EEXIST' })
  const { path } = await compileTables({ dataDir: dir, sources })
  rmSync(path)
  mkdirSync(join(path, 'in the way'), { recursive: true })
  await t.rejects(compileTables({ dataDir: dir, sources }))
  for (const name of readdirSync(dir)) t.notMatch(name, /\.tmp$/)
})
