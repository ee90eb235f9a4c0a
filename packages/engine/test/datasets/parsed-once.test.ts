import { hash } from 'node:crypto'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { compileInWorker, compileTables, loadTables, type ResolvedSource } from '../../src/datasets/index.ts'
import { folder, madeSource, writeSources } from './fixtures.ts'

const LISTS = 20
const FILES = {
  'asn-csv-v4': '23.0.0.0,23.0.0.255,64500,"Łódź, Inc."\n24.0.0.0,24.0.255.255,64501,Hosting Two',
  'asn-csv-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,64501,Hosting Two',
  'asn-country-v4': '23.0.0.0,23.0.0.255,DE\n24.0.0.0,24.0.255.255,PL',
  'asn-country-v6': '2a00:1::,2a00:1:ffff:ffff:ffff:ffff:ffff:ffff,US',
}

/** Every kind of source with a file, and twenty lists; `changed` has another line. */
function all(dir: string, changed?: number): readonly ResolvedSource[] {
  const lists = Array.from({ length: LISTS }, (_, list) => {
    const row = { id: `list-${list}`, kind: 'ranges', networkClass: 'vpn' } as const
    return madeSource(dir, row, `24.0.${list}.0/24\n${list === changed ? '24.0.100.0/24\n' : ''}`)
  })
  const drop = { id: 'drop', kind: 'asn-list', format: 'asn-text', asType: 'hosting' } as const
  const feed = { id: 'feed', kind: 'ranges', networkClass: 'vpn', format: 'geofeed' } as const
  return [
    ...writeSources(dir, FILES).filter(({ file }) => file !== undefined),
    ...lists,
    madeSource(dir, drop, 'AS64501 # Two\n'),
    madeSource(dir, feed, '23.0.0.0/25,DE,DE-BE,Berlin,\n'),
  ]
}

t.test('a reload parses the one list of twenty that has changed, and makes what parsing all would', async (t) => {
  const dir = folder(t)
  const dataDir = join(dir, 'kept')
  const sources = all(dir)
  t.equal((await compileTables({ dataDir, sources })).parsed, sources.length)
  t.equal((await compileTables({ dataDir, sources })).parsed, 0, 'nothing has changed')
  const changed = all(dir, 7)
  const reloaded = await compileInWorker({ dataDir, sources: changed })
  t.equal(reloaded.parsed, 1)
  t.equal(loadTables(reloaded.shared).networks?.find(makeAddress('24.0.100.1'))?.range?.networkClass, 'vpn')
  const parsed = await compileTables({ dataDir: join(dir, 'other'), sources: changed })
  t.equal(parsed.parsed, sources.length)
  t.ok(Buffer.from(reloaded.shared).equals(Buffer.from(parsed.shared)), 'byte for byte')
  t.equal(readdirSync(join(dataDir, 'parsed')).length, sources.length, 'what is not asked for is removed')
})

t.test('what is kept and was torn or changed is parsed again, and all where the disk keeps nothing', async (t) => {
  const dir = folder(t)
  const sources = all(dir)
  const { shared } = await compileTables({ dataDir: dir, sources })
  const files = readdirSync(join(dir, 'parsed')).map((name) => join(dir, 'parsed', name))
  const [cut = '', flipped = '', empty = '', later = ''] = files
  writeFileSync(cut, readFileSync(cut).subarray(0, -1))
  const bytes = readFileSync(flipped).map((byte, at) => (at === 40 ? byte ^ 1 : byte))
  writeFileSync(flipped, bytes)
  writeFileSync(empty, '')
  // As a newer Node writes it: the second byte is the number of the form.
  const newer = readFileSync(later)
    .subarray(32)
    .map((byte, at) => (at === 1 ? 255 : byte))
  writeFileSync(later, Buffer.concat([hash('sha256', newer, 'buffer'), newer]))
  const again = await compileTables({ dataDir: dir, sources })
  t.equal(again.parsed, 4)
  t.ok(Buffer.from(again.shared).equals(Buffer.from(shared)))
  t.equal((await compileTables({ dataDir: dir, sources })).parsed, 0, 'and is kept again')
  rmSync(join(dir, 'parsed'), { recursive: true })
  writeFileSync(join(dir, 'parsed'), 'no folder')
  for (const _ of [1, 2]) t.equal((await compileTables({ dataDir: dir, sources })).parsed, sources.length)
})

t.test('a row that is read otherwise is parsed again', async (t) => {
  const dir = folder(t)
  const row = { id: 'list', kind: 'ranges', networkClass: 'vpn' } as const
  const list = (more: object) => [madeSource(dir, { ...row, ...more }, '24.0.0.0/24\n')]
  t.equal((await compileTables({ dataDir: dir, sources: list({}) })).parsed, 1)
  t.equal((await compileTables({ dataDir: dir, sources: list({ family: 6 }) })).parsed, 0, 'refused')
  t.equal((await compileTables({ dataDir: dir, sources: list({ kind: 'addresses' }) })).parsed, 0, 'refused')
  t.equal((await compileTables({ dataDir: dir, sources: list({ networkClass: 'hosting' }) })).parsed, 1)
})
