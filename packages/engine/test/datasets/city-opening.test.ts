import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { locate } from '@sallyport/core'
import { makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { withFreeLock, withLock } from '#stores'
import { readInTurns } from '../../src/datasets/columns/read-in-turns.ts'
import { compileCity } from '../../src/datasets/compile/city.ts'
import { isCity } from '../../src/datasets/compile/city-path.ts'
import { type CityFile, openCityFile } from '../../src/datasets/service/city-file.ts'
import { openSnapshot } from '../../src/datasets/service/snapshot.ts'
import { loadCity } from '../../src/datasets/tables/city.ts'
import { writeMmdb } from '../../src/datasets/testing/mmdb-writer.ts'
import { writeSources } from './fixtures.ts'

const BERN = makeAddress('1.2.3.4')

/** A dataDir in which all is compiled, and what opening it again says. */
async function made(t: Test) {
  const dataDir = t.testdir()
  const city = writeMmdb({ '0.0.0.0/1': { city: 'Bern', country_code: 'CH' } }, { ipVersion: 4 })
  const sources = writeSources(dataDir, { 'dbip-city-lite': city, 'tor-bulk-exit': '8.2.0.1' })
  const [refused, lost]: [string[], string[]] = [[], []]
  const options = {
    lock: { withLock, withFreeLock },
    cityFiles: new Map<string, CityFile>(),
    onRefused: (message: string) => refused.push(message),
    onLost: (message: string) => lost.push(message),
  }
  const path = (kind: string) => join(dataDir, readdirSync(dataDir).find((name) => name.startsWith(kind)) ?? '')
  const open = (more: Partial<Parameters<typeof openSnapshot>[2]> = {}) =>
    openSnapshot(dataDir, sources, { ...options, ...more })
  await open()
  options.cityFiles.clear()
  return { dataDir, sources, open, path, refused, lost, cityFiles: options.cityFiles }
}

t.test('the country and the status of a city database are there before its places are opened', async (t) => {
  const { dataDir, open, path, refused, cityFiles } = await made(t)
  const before = await open()
  // Whatever reads it from here on refuses it.
  writeFileSync(path('city-'), 'nothing')
  const again = await open()
  cityFiles.clear()
  const fresh = await open()
  for (const snapshot of [before, again, fresh]) {
    t.equal(snapshot.countries?.find(BERN)?.code, 'CH')
    const city = snapshot.sources.find(({ id }) => id === 'dbip-city-lite')
    t.match(city, { state: 'loaded', entries: 1, sha256: /^[0-9a-f]{64}$/ })
  }
  t.same(refused, [], 'no reload has opened it')
  await openSnapshot(dataDir, writeSources(dataDir, {}), { lock: { withLock, withFreeLock }, cityFiles })
  t.equal(cityFiles.size, 0, 'a file that is a source no longer is dropped')
})

t.test('the first question opens the places, and those that come meanwhile wait for the same', async (t) => {
  const { open, path, refused, lost } = await made(t)
  const { geo, sources } = await open()
  t.same(await Promise.all([BERN, BERN, BERN].map((one) => geo?.read(one))), Array(3).fill(await geo?.read(BERN)))
  t.match(await geo?.read(BERN), { city: 'Bern', countryCode: 'CH' })
  rmSync(path('city-'))
  t.match(await geo?.read(BERN), { city: 'Bern' }, 'opened once')
  t.same([refused, lost], [[], []])
  t.equal(sources.find(({ id }) => id === 'dbip-city-lite')?.state, 'loaded')
})

for (const [what, harm] of Object.entries({
  damaged: (path: string) => writeFileSync(path, readFileSync(path).fill(0, 300, 310)),
  'cut short': (path: string) => writeFileSync(path, readFileSync(path).subarray(0, 20)),
  missing: (path: string) => rmSync(path),
})) {
  t.test(`places that are ${what} when they are asked for are compiled again, once`, async (t) => {
    const { open, path, refused, lost } = await made(t)
    const { geo } = await open()
    const file = path('city-')
    harm(file)
    const answers = await Promise.all([BERN, BERN].map((one) => geo?.read(one)))
    for (const answer of answers) t.match(answer, { city: 'Bern' })
    t.match([refused, lost], [[new RegExp(file)], []])
    t.match(loadCity(file).read(BERN), { city: 'Bern' }, 'for the next start too')
  })

  t.test(`places that are ${what} and may not be compiled degrade answers, and countries stay`, async (t) => {
    const { open, path, refused, lost } = await made(t)
    const snapshot = await open({ readOnly: true })
    const file = path('city-')
    harm(file)
    for (let ask = 0; ask < 3; ask++) t.match(await locate(BERN, snapshot), { geo: {}, degraded: true })
    t.equal(snapshot.countries?.find(BERN)?.code, 'CH')
    t.match([refused, lost], [[], [new RegExp(file)]], 'said once, and the file is read once')
  })
}

t.test('places that were lost for a moment are there again later', async (t) => {
  const { dataDir, sources, path, lost } = await made(t)
  const source = sources.find(isCity)
  if (source === undefined) throw new Error('no city source')
  let isFree = false
  // A lock that cannot be had, as where there are no file descriptors left.
  const lock = {
    withFreeLock,
    withLock: ((...asked: Parameters<typeof withLock>) =>
      isFree ? withLock(...asked) : Promise.reject(new Error('EMFILE'))) as typeof withLock,
  }
  const onLost = (message: string) => lost.push(message)
  const file = path('city-')
  const bytes = readFileSync(file)
  writeFileSync(file, 'nothing')
  const often = openCityFile(dataDir, source, { lock, onLost, retryMs: 0 })
  const seldom = openCityFile(dataDir, source, { lock, onLost })
  const ruled = openCityFile(dataDir, source, { lock, onLost, retryMs: 0 })
  t.equal(ruled.opened(), undefined, 'rules open nothing that nobody asked for')
  for (const one of [often, seldom, ruled]) await t.rejects(one.places(), /EMFILE/)
  t.same(lost, ['EMFILE', 'EMFILE', 'EMFILE'])
  writeFileSync(file, bytes)
  isFree = true
  t.match((await often.places()).read(BERN), { city: 'Bern' })
  t.equal(await often.places(), await often.places(), 'and stay')
  await t.rejects(seldom.places(), /EMFILE/, 'not tried for each question')
  t.equal(ruled.opened(), undefined)
  await ruled.settled()
  t.match(ruled.opened()?.read(BERN), { city: 'Bern' }, 'a rule about regions has them again')
})

t.test('countries that are damaged are made again at the start', async (t) => {
  const { open, path, refused } = await made(t)
  writeFileSync(path('countries-'), 'nothing')
  const { countries, geo } = await open()
  t.equal(countries?.find(BERN)?.code, 'CH')
  t.match(await geo?.read(BERN), { city: 'Bern' })
  t.match(refused, [/countries-/])
})

t.test('closing ends the waiting for another process that compiles', async (t) => {
  const { dataDir, open, path } = await made(t)
  rmSync(path('tables-'))
  const closing = new AbortController()
  const reason = new Error('closed')
  await withLock(join(dataDir, 'compile.lock'), () =>
    t.rejects(open({ signal: closing.signal, onWait: () => closing.abort(reason) }), reason),
  )
})

t.test('nothing is opened after closing, and nobody is warned of it', async (t) => {
  const { open, lost, cityFiles } = await made(t)
  const closing = new AbortController()
  const { geo } = await open({ signal: closing.signal })
  const reason = new Error('closed')
  closing.abort(reason)
  await t.rejects(async () => geo?.read(BERN), reason)
  for (const file of cityFiles.values()) await file.settled()
  t.same(lost, [])
})

t.test('a file is read in turns, and checked as it is when read at once', async (t) => {
  const dataDir = t.testdir()
  const networks = Object.fromEntries(
    Array.from({ length: 4_000 }, (_, index) => [
      `${1 + (index >> 8)}.${index & 255}.0.0/16`,
      { city: `${index} `.repeat(300), country_code: 'CH' },
    ]),
  )
  const sources = writeSources(dataDir, { city: writeMmdb(networks, { ipVersion: 4 }) })
  const source = sources.find(isCity)
  if (source === undefined) throw new Error('no city source')
  const { path, shared } = await compileCity({ dataDir, source })
  let turns = 0
  let next = setImmediate(function tick() {
    turns++
    next = setImmediate(tick)
  })
  const read = await readInTurns(path)
  clearImmediate(next)
  t.ok(Buffer.from(read).equals(Buffer.from(shared)))
  t.ok(turns >= shared.byteLength >> 20, `${turns} turns of others during ${shared.byteLength} bytes`)
  const whole = readFileSync(path)
  for (const at of [0, 23, 56, 1 << 20, whole.length - 1]) {
    const bytes = Buffer.from(whole)
    bytes[at] = (bytes[at] as number) ^ 1
    writeFileSync(path, bytes)
    await t.rejects(readInTurns(path), { code: 'corrupt_data', message: new RegExp(path) }, `byte ${at}`)
    writeFileSync(path, whole.subarray(0, at))
    await t.rejects(readInTurns(path), { code: 'corrupt_data', message: new RegExp(path) }, `${at} bytes`)
  }
  await t.rejects(readInTurns(dataDir), { code: 'corrupt_data' }, 'a folder')
  rmSync(path)
  await t.rejects(readInTurns(path), { code: 'missing_data' })
})
