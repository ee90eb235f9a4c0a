import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { ClientLimit, Limits } from '@sallyport/accounts'
import { LIMITS_CONTRACT } from '@sallyport/accounts/testing'
import t from 'tap'
import { createMemoryLimits, createSharedLimits, openSqliteLimits } from '../src/index.ts'
import { openRedisLimits } from '../src/limits/redis-limits.ts'
import { connect } from '../src/sqlite/driver.ts'
import { type Cleanup, freePort, NO_REDIS, startRedis } from '../src/testing/index.ts'
import { nextMessage, startChild, temporaryFolder } from './processes.ts'

const LIMIT = { name: 'L', max: 4, windowSeconds: 3600 }

async function sqliteLimits(t: Cleanup, options = {}) {
  const path = join(await temporaryFolder(t), 'limits.db')
  const limits = await openSqliteLimits(path, options)
  t.teardown(() => limits.close())
  return { path, limits }
}

for (const row of LIMITS_CONTRACT) {
  t.test(`memory, contract: ${row.name}`, (t) => row.run(createMemoryLimits(), t))
  t.test(`SQLite, contract: ${row.name}`, async (t) => row.run((await sqliteLimits(t)).limits, t))
  t.test(`shared, contract: ${row.name}`, async (t) => row.run(createSharedLimits((await sqliteLimits(t)).limits), t))
}

async function taken(limits: Limits, calls: number, key = 'k'): Promise<readonly boolean[]> {
  const states = []
  for (let call = 0; call < calls; call++) states.push(await limits.take(LIMIT, key))
  return states.map(({ allowed }) => allowed)
}

const HERE = {
  memory: async (_: Cleanup, options: { maxKeys?: number; now?: () => number }) => createMemoryLimits(options),
  SQLite: async (t: Cleanup, options: { maxKeys?: number; now?: () => number }) =>
    (await sqliteLimits(t, options)).limits,
}

for (const [name, make] of Object.entries(HERE)) {
  t.test(`${name}: a window ends on its clock, and the reset stays where it is`, async (t) => {
    let now = 0
    const limits = await make(t, { now: () => now })
    const limit = { name: 'L', max: 1, windowSeconds: 60 }
    const rows = [
      [0, true],
      [59_999, false],
      [60_000, true],
      [61_000, false],
    ] as const
    for (const [time, allowed] of rows) {
      now = time
      t.same(await limits.take(limit, 'k'), { allowed, limit: 1, remaining: 0, resetAt: time < 60_000 ? 60 : 120 })
    }
  })

  t.test(`${name}: a look begins no window, and sees none that has ended`, async (t) => {
    let now = 0
    const limits = await make(t, { now: () => now })
    const limit = { name: 'L', max: 1, windowSeconds: 60 }
    t.same(await limits.look(limit, 'k'), { allowed: true, limit: 1, remaining: 1, resetAt: 60 })
    now = 30_000
    await limits.take(limit, 'k')
    now = 89_999
    t.same(await limits.look(limit, 'k'), { allowed: false, limit: 1, remaining: 0, resetAt: 90 })
    now = 90_000
    t.same(await limits.look(limit, 'k'), { allowed: true, limit: 1, remaining: 1, resetAt: 150 })
    t.same(await limits.take(limit, 'k'), { allowed: true, limit: 1, remaining: 0, resetAt: 150 })
  })

  t.test(`${name}: a clock that goes back opens nothing, and holds nobody out for longer than a window`, async (t) => {
    const limit = { name: 'L', max: 1, windowSeconds: 60 }
    for (const backMs of [3_600_000, 400 * 86_400_000]) {
      for (const ask of ['take', 'look'] as const) {
        let now = 500 * 86_400_000
        const limits = await make(t, { now: () => now })
        t.equal((await limits.take(limit, 'k')).allowed, true)
        now -= backMs
        t.same(await limits[ask](limit, 'k'), { allowed: false, limit: 1, remaining: 0, resetAt: now / 1000 + 60 })
        now += 59_999
        t.equal((await limits[ask](limit, 'k')).allowed, false)
        now++
        t.equal((await limits[ask](limit, 'k')).allowed, true)
      }
    }
  })

  t.test(`${name}: an exhausted key stays exhausted, whatever number of others comes`, async (t) => {
    const limits = await make(t, { maxKeys: 500 })
    t.same(await taken(limits, 5, 'flooder'), [true, true, true, true, false])
    for (let key = 0; key < 4_000; key++) await limits.take(LIMIT, `k${key}`)
    t.same(await taken(limits, 1, 'flooder'), [false])
  })

  t.test(`${name}: of more keys than it may hold, those longest unseen are forgotten`, async (t) => {
    const limits = await make(t, { maxKeys: 500 })
    const remaining = async () => (await limits.take(LIMIT, 'first')).remaining
    t.equal(await remaining(), 3)
    for (let key = 0; key < 4_000; key++) await limits.take(LIMIT, `k${key}`)
    t.equal(await remaining(), 3)
  })
}

/** How many counts a file holds. */
async function rowsIn(t: Cleanup, path: string): Promise<() => number> {
  const database = await connect(path, 1_000)
  t.teardown(() => database.close())
  return () => Number(database.prepare('SELECT count(*) AS rows FROM client').get()?.['rows'])
}

t.test('SQLite: the file is bounded', async (t) => {
  const { path, limits } = await sqliteLimits(t, { maxKeys: 200 })
  const rows = await rowsIn(t, path)
  for (let key = 0; key < 5_000; key++) await limits.take(LIMIT, `k${key}`)
  t.ok(rows() <= 200 + 1_000, `${rows()} counts: those it keeps, and what comes between two clearings`)
})

t.test('SQLite: what has ended is removed, exhausted or not', async (t) => {
  let now = 0
  const { path, limits } = await sqliteLimits(t, { now: () => now })
  const rows = await rowsIn(t, path)
  for (let key = 0; key < 900; key++) await limits.take({ ...LIMIT, max: 1 + (key % 2) }, `k${key}`)
  t.equal(rows(), 900)
  now += LIMIT.windowSeconds * 1_000
  for (let call = 0; call < 100; call++) await limits.take(LIMIT, 'later')
  t.equal(rows(), 1)
})

t.test('SQLite: four processes on one file are allowed exactly the limit', async (t) => {
  const path = join(await temporaryFolder(t), 'limits.db')
  const children = Array.from({ length: 4 }, () => startChild(t, 'take', path, '150', '60'))
  const allowed = (await Promise.all(children.map(nextMessage))).map(Number)
  t.equal(
    allowed.reduce((sum, count) => sum + count, 0),
    150,
  )
})

t.test('SQLite: a count outlives its process', async (t) => {
  const path = join(await temporaryFolder(t), 'limits.db')
  const child = startChild(t, 'take', path, '150', '60')
  await nextMessage(child)
  child.kill('SIGKILL')
  const limits = await openSqliteLimits(path)
  t.teardown(() => limits.close())
  t.equal((await limits.take({ name: 'L', max: 150, windowSeconds: 3600 }, 'k')).remaining, 89)
  t.ok((await readdir(join(path, '..'))).includes('limits.db'))
})

t.test('a store that fails is half the rate, reported once, and never unlimited', async (t) => {
  const { limits } = await sqliteLimits(t)
  const outages: unknown[] = []
  const shared = createSharedLimits(limits, { onOutage: (error) => outages.push(error) })
  t.same(await taken(shared, 5, 'known'), [true, true, true, true, false])
  limits.close()
  t.same(await taken(shared, 4), [true, true, false, false])
  t.same(await taken(shared, 1, 'known'), [false], 'an exhausted client is not given more')
  t.equal(outages.length, 1)
  t.match(await shared.take({ ...LIMIT, name: 'ONE', max: 1 }, 'k'), { allowed: true, limit: 1 })
})

t.test('a store that fails is not asked by every request', async (t) => {
  let asked = 0
  const gone = async () => {
    asked++
    throw new Error('gone')
  }
  const failing: Limits = { take: gone, look: gone }
  await taken(createSharedLimits(failing), 50)
  t.ok(asked < 10, `asked ${asked} times for 50 requests`)
})

t.test('a client that is looked at and exhausted costs the store nothing more', async (t) => {
  const { limits } = await sqliteLimits(t)
  let asked = 0
  const counted = (ask: Limits['take']): Limits['take'] => {
    return (limit, key) => {
      asked++
      return ask(limit, key)
    }
  }
  const shared = createSharedLimits({ take: counted(limits.take), look: counted(limits.look) })
  t.same(await taken(limits, 4), [true, true, true, true])
  for (let call = 0; call < 10; call++) t.equal((await shared.look(LIMIT, 'k')).allowed, false)
  t.same(await taken(shared, 1), [false])
  t.equal(asked, 1)
})

t.test('a store that does not answer is not waited for', async (t) => {
  const silent = () => new Promise<never>(() => {})
  const shared = createSharedLimits({ take: silent, look: silent })
  t.same(await taken(shared, 4), [true, true, false, false])
  t.match(await shared.look(LIMIT, 'k'), { allowed: false, limit: 2, remaining: 0 }, 'a look sees the half')
})

t.test('limits in Redis', { skip: NO_REDIS }, async (t) => {
  const server = await startRedis(t)
  const opened = async (t: Cleanup) => {
    const limits = await openRedisLimits(server.url)
    t.teardown(() => limits.close())
    return limits
  }

  for (const [index, row] of LIMITS_CONTRACT.entries()) {
    t.test(`contract: ${row.name}`, async (t) => {
      const limits = await opened(t)
      // One server for all rows: a row's limits are its own by their names.
      const own = (limit: ClientLimit) => ({ ...limit, name: `${limit.name}_${index}` })
      const take: Limits['take'] = (limit, key) => limits.take(own(limit), key)
      await row.run({ take, look: (limit, key) => limits.look(own(limit), key) }, t)
    })
  }

  t.test('two nodes share one count, and the reset is the end of the window', async (t) => {
    const nodes = [await opened(t), await opened(t)] as const
    const before = Math.floor(Date.now() / 1000)
    const limit = { ...LIMIT, name: 'NODES' }
    const states = await Promise.all(
      Array.from({ length: 10 }, (_, call) => nodes[call % 2 === 0 ? 0 : 1].take(limit, 'k')),
    )
    t.equal(states.filter(({ allowed }) => allowed).length, 4)
    const resets = states.map(({ resetAt }) => resetAt - before)
    t.ok(Math.min(...resets) >= 3600 && Math.max(...resets) <= 3605, `${resets}`)
    for (const node of nodes) t.match(await node.look(limit, 'k'), { allowed: false, limit: 4, remaining: 0 })
  })

  const outages = {
    stop: () => server.stop(),
    'kill -9': () => server.kill(),
    SIGSTOP: async () => server.freeze(),
  }
  for (const [name, begin] of Object.entries(outages)) {
    t.test(`${name}: half the rate in this process, and the whole rate again after it`, async (t) => {
      const store = await opened(t)
      const outages: unknown[] = []
      const shared = createSharedLimits(store, { onOutage: (error) => outages.push(error) })
      t.equal((await shared.take(LIMIT, `${name} before`)).remaining, 3)
      await begin()
      t.same(await taken(shared, 4, name), [true, true, false, false])
      t.equal(outages.length, 1)
      if (name === 'SIGSTOP') server.thaw()
      else await server.restart()
      const deadline = performance.now() + 15_000
      let limit = 2
      for (let call = 0; limit === 2 && performance.now() < deadline; call++) {
        limit = (await shared.take(LIMIT, `${name} ${call}`)).limit
        await new Promise((resolve) => setTimeout(resolve, 50))
      }
      t.equal(limit, 4, 'the whole rate again')
    })
  }

  t.test('a connection that has gone silent is replaced by a new one', async (t) => {
    // As when a firewall forgets a connection: nothing is closed, and nothing comes through any more.
    const sockets = new Set<Socket>()
    const between = createServer((near) => {
      const far = connectTo(server.port, '127.0.0.1')
      for (const socket of [near, far]) sockets.add(socket.on('error', () => {}))
      near.pipe(far).pipe(near)
    }).listen(0, '127.0.0.1')
    await once(between, 'listening')
    const { port } = between.address() as AddressInfo
    const limits = await openRedisLimits(`redis://127.0.0.1:${port}`, { pingMs: 100 })
    t.teardown(() => {
      limits.close()
      between.close()
      for (const socket of sockets) socket.destroy()
    })
    const shared = createSharedLimits(limits)
    const limit = async (key: string) => (await shared.take(LIMIT, key)).limit
    t.equal(await limit('silent before'), 4)
    for (const socket of sockets) socket.unpipe().pause()
    t.equal(await limit('silent'), 2)
    const deadline = performance.now() + 15_000
    for (let call = 0; (await limit(`silent ${call}`)) === 2 && performance.now() < deadline; call++) await delay(50)
    t.equal(await limit('silent after'), 4)
  })

  t.test('refused from the beginning, it counts here until the server comes', async (t) => {
    const limits = await openRedisLimits(`redis://127.0.0.1:${await freePort()}`)
    t.teardown(() => limits.close())
    t.same(await taken(createSharedLimits(limits), 4), [true, true, false, false])
  })
})
