import { join } from 'node:path'
import { formatHostOrPrefix, hostPrefix, type Observation } from '@sallyport/core'
import { createFakeClock, makeAddress, readPrefix } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { openSqliteObservations } from '../../src/stores/index.ts'
import { openDatabase } from '../../src/stores/sqlite/open-database.ts'
import { closeAfter, temporaryFolder } from './processes.ts'

const START = '2026-11-21T00:00:00.000Z'
const V4 = makeAddress('203.0.114.7')
const V6 = makeAddress('2a00:1::7')

function makeObservation(more: Partial<Observation> = {}): Observation {
  return { networkClass: 'vpn', origin: 'operator', provider: '', setAt: Date.parse(START), note: '', ...more }
}

async function opened(t: Test, path?: string) {
  const clock = createFakeClock(START)
  const file = path ?? join(await temporaryFolder(t), 'deep', 'observations.db')
  const store = closeAfter(t, await openSqliteObservations(file, clock))
  const put = (prefix: string, more: Partial<Observation> = {}) => store.put(readPrefix(prefix), makeObservation(more))
  return { clock, store, file, put }
}

t.test('an observation is found, of either family, and by no other address', async (t) => {
  const { store } = await opened(t)
  t.equal(store.find(V4), undefined)
  await store.put(hostPrefix(V4), makeObservation({ note: 'why', provider: 'Tunnels' }))
  await store.put(hostPrefix(V6), makeObservation({ networkClass: 'tor' }))
  t.match(store.find(V4), { networkClass: 'vpn', provider: 'Tunnels', note: 'why' })
  t.match(store.find(V6), { networkClass: 'tor' })
  for (const other of ['203.0.114.6', '203.0.114.8', '2a00:1::8', '::203.0.114.7']) {
    t.equal(store.find(makeAddress(other)), undefined, other)
  }
  t.ok(Object.isFrozen(store.find(V4)))
})

t.test('an observation ends with its last millisecond, and leaves the file when another is put', async (t) => {
  const { put, store, clock, file } = await opened(t)
  await put('203.0.114.7/32', { expiresAt: Date.parse(START) + 5_000 })
  clock.advance(4_999)
  t.ok(store.find(V4))
  t.equal((await store.list()).length, 1)
  clock.advance(1)
  t.equal(store.find(V4), undefined)
  t.same(await store.list(), [])
  t.equal(await store.remove(hostPrefix(V4), 'operator'), false, 'what has ended cannot be removed')
  await put('2a00:1::7/128')
  store.close()
  const database = closeAfter(t, await openDatabase(file, ['']))
  t.match(database.prepare('SELECT group_concat(address) AS all_of FROM observation').get(), { all_of: '2a00:1::7' })
})

t.test("the longest prefix in force counts, and any of the operator's before a reverse name", async (t) => {
  const { put, store, clock, file } = await opened(t)
  await put('203.0.114.7/32', { networkClass: 'tor', origin: 'reverse-name' })
  await put('203.0.0.0/16', { networkClass: 'hosting' })
  await put('203.0.114.0/24', { networkClass: 'mobile', expiresAt: Date.parse(START) + 10 })
  await put('2a00::/32', { networkClass: 'datacenter' })
  await put('0.0.0.0/0', { networkClass: 'residential_clean' })
  const classes = (...addresses: readonly string[]) =>
    addresses.map((text) => store.find(makeAddress(text))?.networkClass ?? 'none')
  t.same(classes('203.0.114.7', '203.0.113.7', '203.1.0.0'), ['mobile', 'hosting', 'residential_clean'])
  t.same(classes('2a00:0:ffff::1', '2a00:1::', '::203.0.114.7'), ['datacenter', 'none', 'none'])
  for (const networkClass of ['mobile', 'vpn'] as const) await put('203.0.114.7/32', { networkClass })
  t.same(classes('203.0.114.7', '203.0.114.8'), ['vpn', 'mobile'], 'of one origin the latest')
  clock.advance(10)
  t.same(classes('203.0.114.7', '203.0.114.8'), ['vpn', 'hosting'], 'a shorter one counts once the longer has ended')
  t.equal(await store.remove(readPrefix('203.0.0.0/17'), 'operator'), false, 'of this very prefix')
  for (const prefix of ['203.0.0.0/16', '0.0.0.0/0', '203.0.114.7/32'])
    t.equal(await store.remove(readPrefix(prefix), 'operator'), true)
  t.same(classes('203.0.114.8', '203.0.114.7'), ['none', 'tor'], 'the reverse name is left')
  store.close()
  const again = await opened(t, file)
  const listed = (await again.store.list()).map(({ prefix, origin }) => `${formatHostOrPrefix(prefix)} ${origin}`)
  t.same(listed, ['203.0.114.0/24 operator', '203.0.114.7 reverse-name', '2a00::/32 operator'])
})

t.test('what is known stays where a row that another version wrote cannot be read', async (t) => {
  const { store, file } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation())
  const database = closeAfter(t, await openDatabase(file, ['']))
  database.exec("INSERT INTO observation VALUES ('203.0.114.1', 'operator', 'martian', '', 0, NULL, '')")
  await t.rejects(store.list(), /203\.0\.114\.1/)
  t.match(store.find(V4), { networkClass: 'vpn' })
  database.exec("UPDATE observation SET network_class = 'tor'")
  await store.list()
  t.match(store.find(V4), { networkClass: 'tor' })
})
