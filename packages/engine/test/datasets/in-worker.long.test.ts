import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { compileCity } from '../../src/datasets/compile/city.ts'
import {
  compileCityInWorker,
  compileInWorker,
  compileTables,
  isCity,
  loadCity,
  loadTables,
  resolveSources,
} from '../../src/datasets/index.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { folder, writeSources } from './fixtures.ts'

const FILES = {
  'asn-csv-v4': '23.0.0.0,23.0.0.255,64500,Access',
  'x4bnet-vpn-ipv4': '23.0.0.0/25',
  'x4bnet-dc-ipv4': '<html>',
  'tor-bulk-exit': '23.0.0.200',
  'dbip-city-v4': writeMmdb({ '23.0.0.0/24': { country_code: 'DE', city: 'Bonn' } }, { ipVersion: 4 }),
}

t.test('a worker makes the same file, tells the same of it and shows its progress', async (t) => {
  const dir = folder(t)
  const sources = writeSources(dir, FILES)
  const here = await compileTables({ dataDir: join(dir, 'here'), sources })
  const stages: string[] = []
  const onProgress = (stage: string) => stages.push(stage)
  const there = await compileInWorker({ dataDir: join(dir, 'there'), sources, onProgress })
  t.ok(readFileSync(there.path).equals(readFileSync(here.path)))
  t.same(there.sources, here.sources)
  t.equal(there.sources.find(({ id }) => id === 'x4bnet-dc-ipv4')?.state, 'refused')
  t.ok(stages.includes('Putting the tables together') && stages.length > 4)
  t.ok(there.shared instanceof SharedArrayBuffer)
  t.equal(loadTables(there.shared).shared, there.shared, 'threads answer from one copy')
  t.equal(loadTables(there.shared).networks?.find(makeAddress('23.0.0.7'))?.range?.networkClass, 'vpn')

  const source = sources.find(isCity)
  if (source === undefined) return t.fail('no city source')
  const city = await compileCity({ dataDir: join(dir, 'here'), source })
  const cityThere = await compileCityInWorker({ dataDir: join(dir, 'there'), source })
  t.ok(readFileSync(cityThere.path).equals(readFileSync(city.path)))
  t.same(loadCity(cityThere.shared).read(makeAddress('23.0.0.9')), { countryCode: 'DE', city: 'Bonn' })
})

t.test('a compile that is cancelled ends at once and leaves no file', async (t) => {
  const dir = folder(t)
  const dataDir = join(dir, 'state')
  // The embedded data: long enough to be cancelled in the middle of.
  const sources = resolveSources()
  const controller = new AbortController()
  const reason = new Error('closed')
  const compiling = compileInWorker({
    dataDir,
    sources,
    signal: controller.signal,
    onProgress: (_, done) => {
      if (done > 0) controller.abort(reason)
    },
  })
  await t.rejects(compiling, reason)
  t.same(existsSync(dataDir) ? readdirSync(dataDir) : [], [])
  await t.rejects(compileInWorker({ dataDir, sources, signal: controller.signal }), reason, 'nor does it begin')
})
