import { join } from 'node:path'
import type { Counts, CountTask, Taken } from '@sallyport/core'
import t from 'tap'
import { openRedisCounts } from '../../src/stores/counts/redis-counts.ts'
import { openSqliteCounts } from '../../src/stores/counts/sqlite-counts.ts'
import { createMemoryCounts } from '../../src/stores/index.ts'
import { connect } from '../../src/stores/sqlite/driver.ts'
import { type Cleanup, NO_REDIS, startRedis } from '../../src/stores/testing/index.ts'
import { FLIGHT, type Kind, listUsed, task } from './count-tasks.ts'
import { closeAfter, nextMessage, startChild, temporaryFolder } from './processes.ts'

type Options = Readonly<Partial<{ now: () => number; maxKeys: number }>>

async function sqliteCounts(t: Cleanup, options: Options = {}) {
  const path = join(await temporaryFolder(t), 'counts.db')
  const counts = closeAfter(t, await openSqliteCounts(path, options))
  return { path, counts }
}

async function redisCounts(t: Cleanup, options: Options = {}) {
  const { url } = await startRedis(t)
  const counts = closeAfter(t, await openRedisCounts(url, options))
  return { url, counts }
}

const STORES: Readonly<Record<string, (t: Cleanup, options: Options) => Promise<Counts>>> = {
  memory: async (_, options) => createMemoryCounts(options),
  SQLite: async (t, options) => (await sqliteCounts(t, options)).counts,
  Redis: async (t, options) => (await redisCounts(t, options)).counts,
}

const START = 1_800_000_000_000

for (const [name, make] of Object.entries(STORES)) {
  const skip = name === 'Redis' && NO_REDIS

  t.test(`${name}: each kind lets through what fits and says when more does`, { skip }, async (t) => {
    let now = START
    const counts = await make(t, { now: () => now })
    const rows: readonly (readonly [kind: Kind, at: number, allowed: boolean, used: number, resetMs: number])[] = [
      ['fixed', 0, true, 1, 10_000],
      ['fixed', 4_000, true, 2, 6_000],
      ['fixed', 9_999, false, 2, 1],
      ['fixed', 10_000, true, 1, 10_000],
      ['sliding', 0, true, 1, 10_000],
      ['sliding', 9_000, true, 2, 1_000],
      // It weighs in the window after its own, and half of it is over in the middle.
      ['sliding', 9_500, false, 2, 5_500],
      ['sliding', 14_999, false, 2, 1],
      ['sliding', 15_000, true, 2, 5_000],
      ['bucket', 0, true, 1, 5_000],
      ['bucket', 0, true, 2, 10_000],
      ['bucket', 1_000, false, 2, 4_000],
      ['bucket', 5_000, true, 2, 10_000],
    ]
    for (const [kind, at, allowed, used, resetMs] of rows) {
      now = START + at
      const { states } = await counts.take([task(kind, 2, 10_000)], 'f')
      t.same(pick(states[0]), { allowed, used, resetMs }, `${kind} at ${at}`)
    }
  })

  t.test(`${name}: tasks are taken in order, up to the first that binds and is exceeded`, { skip }, async (t) => {
    const counts = await make(t, { now: () => START })
    const first = task('fixed', 5, 10_000, { key: 'first' })
    const trial = task('fixed', 1, 10_000, { key: 'trial', binding: false })
    const tight = task('fixed', 2, 10_000, { key: 'tight' })
    const last = task('fixed', 9, 10_000, { key: 'last' })
    const seen = []
    for (let call = 0; call < 4; call++)
      seen.push(listUsed(await counts.take([first, trial, tight, last], 'f')).join(' '))
    t.same(seen, ['1 1 1 1', '2 1! 2 2', '3 1! 2!', '4 1! 2!'])
  })

  t.test(`${name}: a cost counts as a whole, and what is dearer than the limit never fits`, { skip }, async (t) => {
    const counts = await make(t, { now: () => START })
    for (const kind of ['fixed', 'sliding', 'bucket'] as const) {
      const seen = []
      for (const cost of [3, 3, 2, 0, 1])
        seen.push(listUsed(await counts.take([task(kind, 5, 10_000, { cost })], 'f'))[0])
      t.same(seen, ['3', '3!', '5', '5', '5!'], kind)
      const { states } = await counts.take([task(kind, 5, 10_000, { key: kind, cost: 6 })], 'f')
      t.equal(states[0]?.allowed, false)
      t.ok((states[0]?.resetMs ?? -1) >= 0)
    }
  })

  t.test(`${name}: a look begins no window, takes nothing, and sees what was taken`, { skip }, async (t) => {
    let now = START
    const counts = await make(t, { now: () => now })
    const ask = async (kind: Kind, cost: number) =>
      pick((await counts.take([task(kind, 1, 10_000, { cost })], 'f')).states[0])
    for (const kind of ['fixed', 'sliding', 'bucket'] as const) {
      now = START
      t.match(await ask(kind, 0), { allowed: true, used: 0 }, kind)
      now += 4_000
      t.match(await ask(kind, 1), { allowed: true, used: 1 }, kind)
      now += 1_000
      for (let look = 0; look < 3; look++) t.match(await ask(kind, 0), { allowed: true, used: 1 }, kind)
      t.equal((await ask(kind, 1)).allowed, false, kind)
      if (kind === 'fixed') t.equal((await ask(kind, 0)).resetMs, 9_000)
      now += 30_000
      t.match(await ask(kind, 0), { allowed: true, used: 0 }, kind)
    }
  })

  t.test(`${name}: a clock that jumps back opens no limit, far back counts from none`, { skip }, async (t) => {
    let now = START
    const counts = await make(t, { now: () => now })
    const taken = async (kind: Kind, at: number) => {
      now = START + at
      return listUsed(await counts.take([task(kind, 2, 10_000)], 'f'))[0]
    }
    for (const kind of ['fixed', 'sliding', 'bucket'] as const) {
      t.same([await taken(kind, 0), await taken(kind, 0), await taken(kind, -5_000)], ['1', '2', '2!'], kind)
      t.equal(await taken(kind, -3_600_000), '2!', `${kind}, an hour back`)
      t.equal(await taken(kind, -3_600_000 + 2_000), '2!', `${kind}, and going on from there`)
      t.equal(await taken(kind, -3_600_000 + 20_000), '1', `${kind}, for a window and no longer`)
      t.equal(await taken(kind, -100_000_000), '1', `${kind}, far back`)
      t.equal(await taken(kind, 100_000_000), '1', `${kind}, far on`)
    }
  })

  t.test(`${name}: what is in flight counts until it is left`, { skip }, async (t) => {
    const counts = await make(t, { now: () => START })
    t.same(listUsed(await counts.take([FLIGHT], 'p.1')), ['1'])
    t.same(listUsed(await counts.take([FLIGHT], 'p.2')), ['2'])
    t.same(listUsed(await counts.take([FLIGHT], 'p.3')), ['2!'])
    counts.leave([FLIGHT.key], 'p.1')
    t.same(listUsed(await counts.take([FLIGHT], 'p.4')), ['2'])
  })

  const noLease = skip || (name === 'memory' && 'flights of a process end with it')
  t.test(`${name}: what nobody renews is forgotten, also by a clock that went back`, { skip: noLease }, async (t) => {
    let now = START
    const counts = await make(t, { now: () => now })
    for (const flight of ['p.1', 'p.2']) await counts.take([FLIGHT], flight)
    now -= 3_600_000
    t.same(listUsed(await counts.take([FLIGHT], 'p.3')), ['2!'])
    now += 30_001
    t.same(listUsed(await counts.take([FLIGHT], 'p.4')), ['1'])
  })

  t.test(`${name}: what was held is given back, and leaves room`, { skip }, async (t) => {
    let now = START
    const counts = await make(t, { now: () => now })
    for (const kind of ['fixed', 'sliding', 'bucket'] as const) {
      const held = task(kind, 2, 10_000, { held: true })
      const take = async (one = held) => listUsed(await counts.take([one], 'f'))[0]
      // Nobody waits for what is given back.
      const giveBack = async (unused: readonly CountTask[], used: string) => {
        counts.leave([], 'f', unused)
        while ((await take({ ...held, cost: 0 })) !== used);
      }
      now += 100_000
      t.same([await take(), await take(), await take()], ['1', '2', '2!'], kind)
      await giveBack([held], '1')
      t.same([await take(), await take()], ['2', '2!'], `${kind}: one fits again`)
      await giveBack([held, held], '0')
      await giveBack([held, { ...held, key: `${kind} of nobody` }], '0')
      t.same([await take(), await take(), await take()], ['1', '2', '2!'], `${kind}: never below nothing`)
      // In the next window it is given back to the one that it was taken in.
      if (kind === 'sliding') now += 10_000
      await giveBack([held, held], '0')
    }
  })
}

// SQLite removes what has ended after 1,000 requests, and a clock that goes back would bring it back elsewhere.
for (const first of [7, 8, 9]) {
  t.test(`all stores say the same of any sequence, from ${first}`, { skip: NO_REDIS }, async (t) => {
    let now = START
    const stores = await Promise.all(Object.values(STORES).map((make) => make(t, { now: () => now })))
    let seed = first
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648
      return seed % below
    }
    const differing: unknown[] = []
    for (let step = 0; step < 990; step++) {
      now += random(20) === 0 ? random(30_000) : random(900)
      if (random(100) === 0) now -= random(4_000_000)
      const kind = (['sliding', 'fixed', 'bucket'] as const)[random(3)] as Kind
      const max = 2 + random(2) * 7
      const given = { key: `${kind} ${max}`, cost: random(4), refill: 1 + (max % 3) }
      const asked = task(kind, max, 10_000, kind === 'bucket' ? given : { ...given, refill: max })
      const said = await Promise.all(stores.map(async (store) => pick((await store.take([asked], 'f')).states[0])))
      if (new Set(said.map((one) => JSON.stringify(one))).size > 1) differing.push({ step, asked, said })
    }
    t.same(differing, [])
  })
}

t.test('SQLite: a full file gives up counts, the exhausted last; ended ones go', async (t) => {
  let now = START
  const { path, counts } = await sqliteCounts(t, { maxKeys: 500, now: () => now })
  const take = (key: string) => counts.take([task('fixed', 2, 60_000, { key })], 'f')
  for (let call = 0; call < 3; call++) await take('flooder')
  for (let key = 0; key < 4_000; key += 100) {
    await Promise.all(Array.from({ length: 100 }, (_, at) => take(`k${key + at}`)))
  }
  t.equal((await take('flooder')).states[0]?.allowed, false)
  const database = closeAfter(t, await connect(path, 1_000))
  const rows = () => Number(database.prepare('SELECT count(*) AS n FROM count').get()?.['n'])
  t.ok(rows() <= 1_500, `${rows()} rows`)
  now += 60_001
  for (let key = 0; key < 2_100; key += 100) {
    await Promise.all(Array.from({ length: 100 }, () => take('one')))
  }
  t.ok(rows() <= 10, `${rows()} rows after the window`)
})

t.test('SQLite: no key is readable in the file', async (t) => {
  const { path, counts } = await sqliteCounts(t)
  await counts.take([task('fixed', 2, 60_000, { key: 'login 203.0.113.77' }), FLIGHT], 'p.1')
  const database = closeAfter(t, await connect(path, 1_000))
  const ids = database.prepare('SELECT id FROM count UNION ALL SELECT id FROM flight').all()
  t.equal(ids.length, 2)
  for (const { id } of ids) t.match(String(id), /^[\w-]{22}$/)
})

t.test('Redis: no key names anybody and each ends in time; a request is one trip', { skip: NO_REDIS }, async (t) => {
  const { url, counts } = await redisCounts(t)
  await counts.take([task('fixed', 2, 60_000, { key: 'login 203.0.113.77' }), FLIGHT], 'p.1')
  const { createClient } = await import('@redis/client')
  const client = createClient({ url })
  await client.connect()
  t.teardown(() => client.destroy())
  const keys = (await client.keys('*')).filter((key) => !key.endsWith('secret'))
  t.equal(keys.length, 2)
  for (const key of keys) {
    t.match(key, /^sallyport:\{counts\}:[\w-]{22}$/)
    t.ok((await client.pTTL(key)) > 0)
  }
  await client.configResetStat()
  const tasks = Array.from({ length: 20 }, (_, at) => task('sliding', 5, 60_000, { key: `rule ${at}` }))
  t.equal((await counts.take(tasks, 'f')).states.length, 20)
  t.match(await client.info('commandstats'), /cmdstat_evalsha:calls=1,/)
  await client.flushAll()
  t.same(listUsed(await counts.take([task('fixed', 2, 60_000)], 'f')), ['1'], 'a server that lost everything counts on')
})

t.test('SQLite: a count outlives its process', async (t) => {
  const path = join(await temporaryFolder(t), 'counts.db')
  const child = startChild(t, 'count', `sqlite:${path}`, '150', '60')
  await nextMessage(child)
  child.kill('SIGKILL')
  const counts = closeAfter(t, await openSqliteCounts(path))
  t.same(listUsed(await counts.take([task('fixed', 150, 600_000, { key: 'shared' })], '')), ['61'])
})

t.test('processes share a limit exactly', async (t) => {
  for (const [name, url] of [
    ['SQLite', `sqlite:${join(await temporaryFolder(t), 'counts.db')}`],
    ['Redis', NO_REDIS ? undefined : (await startRedis(t)).url],
  ] as const) {
    if (url === undefined) continue
    const children = Array.from({ length: 4 }, () => startChild(t, 'count', url, '1000', '500'))
    const passed = await Promise.all(children.map(nextMessage))
    const sum = passed.reduce((sum: number, one) => sum + Number(one), 0)
    t.equal(sum, 1_000, name)
  }
})

function pick({ allowed, used, resetMs }: Taken['states'][number] = { allowed: false, used: -1, resetMs: -1 }) {
  return { allowed, used, resetMs }
}
