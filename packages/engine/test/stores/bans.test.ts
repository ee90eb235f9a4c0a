import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Ban, BanList } from '@sallyport/core'
import t from 'tap'
import { openRedisBans } from '../../src/stores/bans/redis-bans.ts'
import { openSqliteBans } from '../../src/stores/bans/sqlite-bans.ts'
import { createMemoryBans } from '../../src/stores/index.ts'
import { type Cleanup, NO_REDIS, startRedis } from '../../src/stores/testing/index.ts'
import { closeAfter, temporaryFolder } from './processes.ts'

const START = Date.now()

function ban(id: string, until: number): Ban {
  return { id, key: `client ${id}`, on: 'status:404', count: 3, since: START, until }
}

type Make = (t: Cleanup, now: () => number, most?: number) => Promise<readonly [BanList, BanList]>

/** Two that share what they hold; in memory they are one. */
const STORES: Readonly<Record<string, Make>> = {
  memory: async (_, now, most) => {
    const bans = createMemoryBans(now, most)
    return [bans, bans]
  },
  SQLite: async (t, now, most) => {
    const path = join(await temporaryFolder(t), 'bans.db')
    const both = [await openSqliteBans(path, now, most), await openSqliteBans(path, now, most)] as const
    for (const one of both) t.teardown(() => one.close())
    return both
  },
  Redis: async (t, now, most) => {
    const { url } = await startRedis(t)
    const both = [await openRedisBans(url, { now, most }), await openRedisBans(url, { now, most })] as const
    for (const one of both) t.teardown(() => one.close())
    return both
  },
}

const listIds = async (bans: BanList) => (await bans.list()).map(({ id }) => id)

const DAY_MS = 86_400_000

for (const [name, make] of Object.entries(STORES)) {
  const skip = name === 'Redis' && NO_REDIS
  t.test(`${name}: a ban is found until it ends or is lifted, by all`, { skip }, async (t) => {
    let now = START
    const [first, other] = await make(t, () => now)
    await first.put(ban('b', START + 7_000_000))
    await first.put(ban('a', START + 3_000_000))
    t.equal(first.find('client a')?.id, 'a')
    while (other.find('client b') === undefined) await delay(20)
    t.same(await listIds(other), ['a', 'b'])
    t.same(other.find('client a'), ban('a', START + 3_000_000))
    now = START + 3_000_000
    t.equal(other.find('client a'), undefined)
    t.same(await listIds(first), ['b'])
    t.equal(await other.lift('b'), true)
    t.equal(other.find('client b'), undefined)
    while (first.find('client b') !== undefined) await delay(20)
    t.equal(await first.lift('b'), false)
  })

  t.test(`${name}: a ban made under a wrong clock ends in its time`, { skip }, async (t) => {
    let now = START + 400 * DAY_MS
    const [first, other] = await make(t, () => now)
    await first.put({ ...ban('a', now + 900_000), since: now })
    while (other.find('client a') === undefined) await delay(20)
    now = START
    for (const bans of [first, other]) {
      t.equal(bans.find('client a')?.until, START + 900_000, 'it begins when the clock is right')
      t.match(await bans.list(), [{ until: START + 900_000 }])
    }
    now = START + 500_000
    for (const bans of [first, other]) t.equal(bans.find('client a')?.until, START + 900_000, 'once')
    now = START + 900_000
    for (const bans of [first, other]) {
      t.equal(bans.find('client a'), undefined)
      t.same(await bans.list(), [])
    }
    now = START + 400 * DAY_MS
    for (const bans of [first, other]) t.equal(bans.find('client a'), undefined, 'nor does it begin a second time')
  })

  t.test(`${name}: the soonest to end go where there are too many`, { skip }, async (t) => {
    const [first, other] = await make(t, () => START, 300)
    for (let made = 0; made < 1_000; made++) await first.put(ban(String(made), START + 900_000 + made))
    for (const bans of [first, other]) {
      const kept = await bans.list()
      t.equal(kept.length, 300)
      t.equal(kept[0]?.id, '700')
      t.equal(bans.find('client 999')?.id, '999')
    }
  })

  t.test(`${name}: a lift is known as long as strikes before it could count`, { skip }, async (t) => {
    let now = START
    const [first, other] = await make(t, () => now)
    const offences = { 'status:404': 2, blocked: 1 }
    await first.put({ ...ban('a', START + 900_000), offences, windowMs: 60_000 })
    t.match(await other.list(), [{ id: 'a', offences, windowMs: 60_000 }])
    t.equal(other.liftedAt('a'), undefined)
    t.ok(await other.lift('a'))
    t.notOk(await other.lift('a'), 'once')
    t.equal(other.liftedAt('a'), START)
    while (first.liftedAt('a') === undefined) await delay(20)
    await first.put({ ...ban('a', START + 900_000), windowMs: 60_000 })
    t.equal(first.liftedAt('a'), START, 'also beside the next ban')
    while (!(await other.lift('a'))) await delay(20)
    t.equal(other.liftedAt('a'), START + 1, 'another lift at the same moment is another one')
    now = START + 120_000
    // Redis ends a lift by its own clock.
    if (name !== 'Redis') for (const bans of [first, other]) t.equal(bans.liftedAt('a'), undefined)
  })
}

t.test('Redis: a node whose clock is a day ahead takes no ban away from the others', { skip: NO_REDIS }, async (t) => {
  const { url } = await startRedis(t)
  const [ahead, right] = [await openRedisBans(url, { now: () => START + DAY_MS }), await openRedisBans(url)]
  for (const one of [ahead, right]) t.teardown(() => one.close())
  await right.put(ban('a', START + 900_000))
  await ahead.list()
  await right.put(ban('b', START + 900_000))
  t.same(await listIds(right), ['a', 'b'])
})

t.test('SQLite: a ban is found as soon as its file is opened again', async (t) => {
  const path = join(await temporaryFolder(t), 'bans.db')
  const first = await openSqliteBans(path)
  await first.put(ban('a', START + 900_000))
  first.close()
  const second = closeAfter(t, await openSqliteBans(path))
  t.equal(second.find('client a')?.id, 'a')
})

t.test('Redis: what is known holds through an outage, and is said', { skip: NO_REDIS }, async (t) => {
  const redis = await startRedis(t)
  const faults: unknown[] = []
  const bans = closeAfter(t, await openRedisBans(redis.url, { onFault: (error) => faults.push(error) }))
  await bans.put(ban('known', START + 600_000))
  await redis.stop()
  await t.rejects(bans.put(ban('new', START + 600_000)))
  t.equal(bans.find('client known')?.id, 'known')
  t.equal(bans.find('client new')?.id, 'new', 'it holds in the process that made it')
  while (faults.length === 0) await delay(20)
})
