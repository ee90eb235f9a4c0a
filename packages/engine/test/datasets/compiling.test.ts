import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Address, parseAddress } from '@sallyport/core'
import t, { type Test } from 'tap'
import { withFreeLock, withLock } from '#stores'
import type { CityFile } from '../../src/datasets/service/city-file.ts'
import { openSnapshot } from '../../src/datasets/service/snapshot.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { writeSources } from './fixtures.ts'

const ADDRESS = parseAddress('1.2.3.4') as Address
const LOCK = { lock: { withLock, withFreeLock } }

/** Makes a dataDir and sources of systems and of cities, with so many unused bytes in the database. */
function makeSources(t: Test, unused = 0) {
  const dataDir = t.testdir()
  const filling = unused === 0 ? [] : ['x', 'y', 'z'].map((letter) => letter.repeat(unused / 3))
  const city = writeMmdb({ '0.0.0.0/1': { city: 'Bern', country_code: 'CH', filling } }, { ipVersion: 4 })
  const files = { 'asn-csv-v4': '8.2.0.0,8.2.255.255,24940,Hetzner Online GmbH\n', 'dbip-city-lite': city }
  return { dataDir, sources: writeSources(dataDir, files) }
}

t.test('a compile that is cancelled gives nothing, is not read as it is instead, and can be begun again', async (t) => {
  for (const unused of [0, 128 * 1024]) {
    const { dataDir, sources } = makeSources(t, unused)
    const closing = new AbortController()
    const reason = new Error('closed')
    const cancelled = openSnapshot(dataDir, sources, {
      ...LOCK,
      signal: closing.signal,
      onProgress: () => closing.abort(reason),
    })
    await t.rejects(cancelled, reason)
    const { networks, geo } = await openSnapshot(dataDir, sources, LOCK)
    t.ok(networks && geo)
    for (const kind of ['city-', 'countries-']) t.ok(readdirSync(dataDir).some((name) => name.startsWith(kind)))
  }
})

t.test('closing ends the waiting for another process that compiles', async (t) => {
  const { dataDir, sources } = makeSources(t)
  const closing = new AbortController()
  const reason = new Error('closed')
  const waited = await withLock(join(dataDir, 'compile.lock'), async () => {
    const waiting = openSnapshot(dataDir, sources, {
      ...LOCK,
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
  const { dataDir, sources } = makeSources(t)
  const cityFiles = new Map<string, CityFile>()
  await openSnapshot(dataDir, sources, { ...LOCK, cityFiles })
  const [path, file] = [...cityFiles][0] as [string, CityFile]
  await file.places()
  // Read again, they would be refused.
  for (const name of readdirSync(dataDir)) if (/^(city|countries)-/.test(name)) writeFileSync(join(dataDir, name), '')
  const { geo, countries } = await openSnapshot(dataDir, sources, { ...LOCK, cityFiles })
  t.match(await geo?.read(ADDRESS), { city: 'Bern' })
  t.equal(countries?.find(ADDRESS)?.code, 'CH')
  t.equal(cityFiles.get(path), file)
  await openSnapshot(dataDir, writeSources(dataDir, {}), { ...LOCK, cityFiles })
  t.equal(cityFiles.size, 0)
})
