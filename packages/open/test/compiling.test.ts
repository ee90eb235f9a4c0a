import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, parseAddress } from '@sallyport/core'
import { type CityTable, resolveSources } from '@sallyport/datasets'
import { withLock } from '@sallyport/stores'
import t from 'tap'
import { openSnapshot } from '../src/data/snapshot.ts'
import { madeConfig, oneNodeDatabase } from './made-sources.ts'

t.test('a compile that is cancelled gives nothing, is not read as it is instead, and can be begun again', async (t) => {
  for (const unused of [0, 128 * 1024]) {
    const { dataDir = '', data } = madeConfig(t.testdir(), { 'dbip-city-lite': oneNodeDatabase(unused) })
    const sources = resolveSources(data?.sources)
    const closing = new AbortController()
    const reason = new Error('closed')
    const cancelled = openSnapshot(dataDir, sources, {
      signal: closing.signal,
      onProgress: () => closing.abort(reason),
    })
    await t.rejects(cancelled, reason)
    const { networks, geo } = await openSnapshot(dataDir, sources)
    t.ok(networks && geo)
    t.ok(readdirSync(dataDir).some((name) => name.startsWith('city-')))
  }
})

t.test('closing ends the waiting for another process that compiles', async (t) => {
  const { dataDir = '', data } = madeConfig(t.testdir())
  const closing = new AbortController()
  const reason = new Error('closed')
  const waited = await withLock(join(dataDir, 'compile.lock'), async () => {
    const waiting = openSnapshot(dataDir, resolveSources(data?.sources), {
      signal: closing.signal,
      onWait: () => closing.abort(reason),
    })
    return waiting.then(
      () => 'compiled',
      (error: unknown) => error,
    )
  })
  t.equal(waited, reason)
})

t.test('a city file that is there still is not read again, and one that is not is dropped', async (t) => {
  const { dataDir = '', data } = madeConfig(t.testdir(), { 'dbip-city-lite': oneNodeDatabase() })
  const sources = resolveSources(data?.sources)
  const cityFiles = new Map<string, CityTable>()
  await openSnapshot(dataDir, sources, { cityFiles })
  const [path, table] = [...cityFiles][0] as [string, CityTable]
  // Read again, it would be refused.
  writeFileSync(path, '')
  const { geo } = await openSnapshot(dataDir, sources, { cityFiles })
  t.match(geo?.read(parseAddress('1.2.3.4') as Address), { city: 'Bern' })
  t.equal(cityFiles.get(path), table)
  await openSnapshot(dataDir, resolveSources({ ...data?.sources, 'dbip-city-lite': { enabled: false } }), { cityFiles })
  t.equal(cityFiles.size, 0)
})
