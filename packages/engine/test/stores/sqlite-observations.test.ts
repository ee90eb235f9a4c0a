import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { formatHostOrPrefix, hostPrefix, type Observation } from '@sallyport/core'
import { createFakeClock, makeAddress, prefixOfText } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { openSqliteObservations } from '../../src/stores/index.ts'
import { openDatabase } from '../../src/stores/sqlite/open-database.ts'
import { nextMessage, startChild, temporaryFolder } from './processes.ts'

const START = '2026-11-21T00:00:00.000Z'
const V4 = makeAddress('203.0.114.7')
const V6 = makeAddress('2a00:1::7')

function makeObservation(more: Partial<Observation> = {}): Observation {
  return { networkClass: 'vpn', origin: 'operator', provider: '', setAt: Date.parse(START), note: '', ...more }
}

async function opened(t: Test, path?: string) {
  const clock = createFakeClock(START)
  const file = path ?? join(await temporaryFolder(t), 'deep', 'observations.db')
  const store = await openSqliteObservations(file, clock)
  t.teardown(() => store.close())
  return { clock, store, file }
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

t.test('an observation ends with its last millisecond', async (t) => {
  const { store, clock } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation({ expiresAt: Date.parse(START) + 5_000 }))
  clock.advance(4_999)
  t.ok(store.find(V4))
  t.equal((await store.list()).length, 1)
  clock.advance(1)
  t.equal(store.find(V4), undefined)
  t.same(await store.list(), [])
  t.equal(await store.remove(hostPrefix(V4), 'operator'), false, 'what has ended cannot be removed')
})

t.test("an operator's observation hides that of a reverse name while it holds", async (t) => {
  const { store, clock } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation({ networkClass: 'mobile', expiresAt: Date.parse(START) + 1_000 }))
  await store.put(hostPrefix(V4), makeObservation({ origin: 'reverse-name', note: 'de1.example.net' }))
  t.match(store.find(V4), { origin: 'operator', networkClass: 'mobile' })
  t.same(
    (await store.list()).map(({ origin }) => origin),
    ['operator', 'reverse-name'],
  )
  clock.advance(1_000)
  t.match(store.find(V4), { origin: 'reverse-name', networkClass: 'vpn' })
  await store.put(hostPrefix(V4), makeObservation({ networkClass: 'tor' }))
  await store.put(hostPrefix(V4), makeObservation({ networkClass: 'hosting' }))
  t.match(store.find(V4), { networkClass: 'hosting' }, 'of one origin the latest')
  t.equal(await store.remove(hostPrefix(V4), 'operator'), true)
  t.equal(await store.remove(hostPrefix(V4), 'operator'), false)
  t.match(store.find(V4), { origin: 'reverse-name' })
})

t.test('the longest prefix in force counts, and any of the operator before a name', async (t) => {
  const { store, clock, file } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation({ networkClass: 'tor', origin: 'reverse-name' }))
  await store.put(prefixOfText('203.0.0.0/16'), makeObservation({ networkClass: 'hosting' }))
  await store.put(
    prefixOfText('203.0.114.0/24'),
    makeObservation({ networkClass: 'mobile', expiresAt: Date.parse(START) + 10 }),
  )
  await store.put(prefixOfText('2a00::/32'), makeObservation({ networkClass: 'datacenter' }))
  await store.put(prefixOfText('0.0.0.0/0'), makeObservation({ networkClass: 'residential_clean' }))
  const classes = (...addresses: readonly string[]) =>
    addresses.map((text) => store.find(makeAddress(text))?.networkClass ?? 'none')
  t.same(classes('203.0.114.7', '203.0.113.7', '203.1.0.0'), ['mobile', 'hosting', 'residential_clean'])
  t.same(classes('2a00:0:ffff::1', '2a00:1::', '::203.0.114.7'), ['datacenter', 'none', 'none'])
  await store.put(hostPrefix(V4), makeObservation({ networkClass: 'vpn' }))
  t.same(classes('203.0.114.7', '203.0.114.8'), ['vpn', 'mobile'])
  clock.advance(10)
  t.same(classes('203.0.114.7', '203.0.114.8'), ['vpn', 'hosting'], 'a shorter one counts once the longer has ended')
  t.equal(await store.remove(prefixOfText('203.0.0.0/17'), 'operator'), false, 'of this very prefix')
  t.equal(await store.remove(prefixOfText('203.0.0.0/16'), 'operator'), true)
  t.equal(await store.remove(prefixOfText('0.0.0.0/0'), 'operator'), true)
  t.same(classes('203.0.114.8', '203.0.114.7'), ['none', 'vpn'])
  store.close()
  const again = await opened(t, file)
  t.same(
    (await again.store.list()).map(({ prefix }) => formatHostOrPrefix(prefix)),
    ['203.0.114.0/24', '203.0.114.7', '203.0.114.7', '2a00::/32'],
  )
})

t.test('it is all there after closing and opening again, and a closed store rejects', async (t) => {
  const { store, file } = await opened(t)
  await store.put(hostPrefix(V6), makeObservation({ expiresAt: Date.parse(START) + 9_000, provider: 'Tunnels' }))
  store.close()
  store.close()
  await t.rejects(store.put(hostPrefix(V4), makeObservation()))
  const again = await opened(t, file)
  const [listed] = await again.store.list()
  t.equal(listed && formatHostOrPrefix(listed.prefix), '2a00:1::7')
  t.match(again.store.find(V6), { provider: 'Tunnels', expiresAt: Date.parse(START) + 9_000 })
})

t.test('an ended observation leaves the file when another is put', async (t) => {
  const { store, clock, file } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation({ expiresAt: Date.parse(START) + 1 }))
  clock.advance(1)
  await store.put(hostPrefix(V6), makeObservation())
  store.close()
  const database = await openDatabase(file, [''])
  t.teardown(() => database.close())
  t.same(
    database
      .prepare('SELECT address FROM observation')
      .all()
      .map((row) => row['address']),
    ['2a00:1::7'],
  )
})

t.test('changes of another process are seen without opening again', async (t) => {
  const { store, file } = await opened(t)
  const child = startChild(t, 'observe', file, formatHostOrPrefix(hostPrefix(V4)))
  t.equal(await nextMessage(child), 'put')
  while (store.find(V4) === undefined) await delay(10)
  t.match(store.find(V4), { networkClass: 'tor' })
  child.send('remove')
  t.equal(await nextMessage(child), 'removed')
  while (store.find(V4) !== undefined) await delay(10)
  t.equal(store.find(V4), undefined)
})

t.test('a file from a later version is refused, not guessed at', async (t) => {
  const { store, file } = await opened(t)
  store.close()
  const database = await openDatabase(file, [''])
  database.exec("INSERT INTO observation VALUES ('203.0.114.7', 'operator', 'martian', '', 0, NULL, '')")
  database.close()
  await t.rejects(openSqliteObservations(file, createFakeClock(START)), /203\.0\.114\.7/)
})

t.test('what is known stays where a row that another version wrote cannot be read', async (t) => {
  const { store, file } = await opened(t)
  await store.put(hostPrefix(V4), makeObservation())
  const database = await openDatabase(file, [''])
  t.teardown(() => database.close())
  database.exec("INSERT INTO observation VALUES ('203.0.114.1', 'operator', 'martian', '', 0, NULL, '')")
  await t.rejects(store.list(), /203\.0\.114\.1/)
  t.match(store.find(V4), { networkClass: 'vpn' })
  database.exec("UPDATE observation SET network_class = 'tor'")
  await store.list()
  t.match(store.find(V4), { networkClass: 'tor' })
})

t.test('an observation that has ended is not held in memory for good', async (t) => {
  const { store, clock } = await opened(t, ':memory:')
  await store.put(hostPrefix(V4), makeObservation({ expiresAt: Date.parse(START) + 10 }))
  clock.advance(10)
  for (let written = 0; written < 1_000; written++) await store.put(hostPrefix(V6), makeObservation())
  clock.advance(-5)
  t.equal(store.find(V4), undefined, 'also by a clock that goes back')
  t.match(store.find(V6), { networkClass: 'vpn' })
})
