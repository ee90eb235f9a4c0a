import { connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as delay, setImmediate as turn } from 'node:timers/promises'
import type { Counts, CountTask, Taken } from '@sallyport/core'
import t from 'tap'
import { openRedisCounts } from '../../src/stores/counts/redis-counts.ts'
import { createMemoryCounts, createSharedCounts } from '../../src/stores/index.ts'
import { type Cleanup, listening, NO_REDIS, startRedis } from '../../src/stores/testing/index.ts'
import { FLIGHT, listUsed, task } from './count-tasks.ts'
import { closeAfter } from './processes.ts'

async function redisCounts(t: Cleanup, url: string, pingMs?: number) {
  const store = closeAfter(t, await openRedisCounts(url, pingMs === undefined ? {} : { pingMs }))
  return store
}

t.test('a store that fails is not asked by every request', async (t) => {
  let asked = 0
  const gone = async () => {
    asked++
    throw new Error('gone')
  }
  const counts = createSharedCounts({ take: gone, leave: () => {} }, { deadlineMs: 20, share: 0.5 })
  for (let call = 0; call < 50; call++) await counts.take([task('fixed', 8, 60_000)], 'f')
  t.ok(asked < 10, `asked ${asked} times for 50 requests`)
  t.same(listUsed(await counts.take([task('fixed', 1, 60_000, { key: 'one' })], 'f')), ['1'], 'never nothing')
  const flights = [await counts.take([FLIGHT], 'p.1'), await counts.take([FLIGHT], 'p.2')].map(listUsed)
  t.same(flights, [['1'], ['1!']], 'half of two in flight')
})

/** Memory whose answers come when they are let through. */
function heldBack(share = 0.5, onOutage: (error: unknown) => void = t.error) {
  const memory = createMemoryCounts()
  const late: (() => void)[] = []
  const store: Counts = {
    ...memory,
    take: (tasks, flight) => new Promise((resolve) => late.push(() => resolve(memory.take(tasks, flight)))),
  }
  return { memory, late, counts: createSharedCounts(store, { deadlineMs: 20, share, onOutage }) }
}

t.test('an answer that lies in a socket while the loop is busy is no late one', { skip: NO_REDIS }, async (t) => {
  const redis = await startRedis(t)
  const store = await redisCounts(t, redis.url)
  const counts = createSharedCounts(store, { deadlineMs: 100, share: 0.5, onOutage: t.error })
  const limit = task('fixed', 100, 60_000)
  await store.take([{ ...limit, cost: 0 }], 'f')
  const taken = Array.from({ length: 200 }, () => counts.take([limit], 'f'))
  // They are written by the end of this turn, and the next one is longer than the deadline.
  setImmediate(() => setImmediate(() => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)))
  const all = await Promise.all(taken)
  t.ok(all.every(({ share }) => share === undefined))
  t.equal(all.filter(({ states }) => states[0]?.allowed).length, 100)
})

t.test('one late answer is no outage, and a spend waits for it', async (t) => {
  const { late, counts } = heldBack()
  const spend = counts.take([task('fixed', 1, 60_000, { key: 'spent', spends: true })], 'f')
  t.equal((await counts.take([task('fixed', 8, 60_000)], 'f')).share, 0.5)
  t.equal(late.length, 2)
  for (const answer of late) answer()
  t.equal((await spend).share, undefined)
  const next = counts.take([task('fixed', 8, 60_000)], 'f')
  late.at(-1)?.()
  t.equal((await next).share, undefined, 'the store is asked on')
})

t.test('a store that answers after five deadlines is waited for, and no share is counted here', async (t) => {
  const { late, counts } = heldBack()
  const burst = Array.from({ length: 8 }, () => counts.take([task('fixed', 4, 60_000)], 'f'))
  setTimeout(() => late.map((answer) => answer()), 100)
  const taken = await Promise.all(burst)
  t.equal(taken.filter(({ states }) => states[0]?.allowed).length, 4)
  t.ok(taken.every(({ share }) => share === undefined))
})

t.test('a store that answers nobody for a second is out; what was spent meanwhile stays spent', async (t) => {
  const outages: unknown[] = []
  const { memory, late, counts } = heldBack(0.5, (error) => outages.push(error))
  const spend = (key: string) => counts.take([task('fixed', 1, 600_000, { key, spends: true })], 'f')
  const before = spend('before')
  late[0]?.()
  await before
  t.same(listUsed(await spend('asked')), ['1'])
  t.equal(outages.length, 1)
  t.same(listUsed(await spend('meanwhile')), ['1'])
  t.same(listUsed(await spend('before')), ['1!'], 'known from before')
  t.equal(late.length, 2, 'an outage is not waited for')
  late[1]?.()
  await turn()
  t.same(listUsed((await memory.take([task('fixed', 1, 600_000, { key: 'meanwhile', cost: 0 })], 'f')) as Taken), ['0'])
  t.same(listUsed(await spend('meanwhile')), ['1!'], 'the store does not know of it')
})

t.test('a request in flight that the store takes too late leaves it again', async (t) => {
  const { memory, late, counts } = heldBack(1, () => {})
  for (const flight of ['f.1', 'f.2']) {
    const taken = await counts.take([FLIGHT], flight)
    t.equal(taken.share, 1, 'it is counted here')
    counts.leave([FLIGHT.key], flight)
  }
  for (const answer of late) answer()
  await turn()
  t.same(listUsed((await memory.take([FLIGHT], 'f.3')) as Taken), ['1'])
})

t.test('what was counted here without being in flight is not taken to fly here', async (t) => {
  const { counts, store, outage } = overMemory()
  outage.isOn = true
  t.equal((await counts.take([task('fixed', 8, 60_000)], 'f')).share, 0.5)
  outage.isOn = false
  while ((await counts.take([task('fixed', 8, 60_000)], 'f')).share !== undefined) await delay(20)
  await counts.take([FLIGHT], 'f')
  counts.leave([FLIGHT.key], 'f')
  t.same(listUsed((await store.take([FLIGHT], 'g')) as Taken), ['1'])
})

t.test('what is held is given back where it was taken, also late', async (t) => {
  const { counts, store, outage } = overMemory()
  const held = task('fixed', 2, 60_000, { held: true })
  const look = async () => listUsed((await store.take([{ ...held, cost: 0 }], 'f')) as Taken)[0]
  for (const flight of ['f.1', 'f.2', 'f.3']) await counts.take([held], flight)
  t.equal(await look(), '2')
  counts.leave([], 'f.1', [held])
  t.same(listUsed(await counts.take([held], 'f.4')), ['2'], 'no refusal is remembered')
  outage.isOn = true
  t.equal((await counts.take([held], 'f.5')).share, 0.5)
  outage.isOn = false
  counts.leave([], 'f.5', [held])
  t.equal(await look(), '2', 'it was taken here')
})

/** Shared counts over memory, which may fail, and the tasks that were asked there. */
function overMemory() {
  const memory = createMemoryCounts()
  const asked: CountTask[] = []
  const outage = { isOn: false }
  const store: Counts = {
    ...memory,
    async take(tasks, flight) {
      if (outage.isOn) throw new Error('gone')
      asked.push(...tasks)
      return memory.take(tasks, flight)
    },
  }
  return { counts: createSharedCounts(store, { deadlineMs: 500, share: 0.5 }), store, asked, outage }
}

t.test('a fixed count that was exceeded costs the store nothing more, and an outage gives it no more', async (t) => {
  const { counts, asked, outage } = overMemory()
  const narrow = task('fixed', 9, 60_000, { key: 'narrow' })
  const wide = task('fixed', 2, 60_000, { key: 'wide' })
  const take = async (...tasks: CountTask[]) => listUsed(await counts.take(tasks, 'f'))
  for (const used of ['1', '2', '2!']) t.same(await take(wide), [used])
  asked.length = 0
  for (let call = 0; call < 5; call++) t.same(await take(wide), ['2!'])
  t.same(asked, [])
  t.same(await take(narrow, wide), ['1', '2!'], 'what stands before it is taken')
  t.same(await take(task('fixed', 1, 60_000, { key: 'narrow' }), wide), ['1!'], 'or ends it')
  t.same(await take({ ...wide, cost: 0 }), ['2'], 'a look is asked')
  t.same(await take(task('fixed', 4, 60_000, { key: 'wide' })), ['3'], 'and so is a limit that is higher now')
  t.same(await take({ ...wide, binding: false }, narrow), ['3!', '2'], 'a rule on trial ends nothing')
  outage.isOn = true
  t.same(await take(wide), ['3!'])
  t.same(await take(narrow), ['1'])
})

t.test('what was exceeded is asked again after its window', async (t) => {
  const { counts } = overMemory()
  const short = task('fixed', 1, 100)
  const take = async () => listUsed(await counts.take([short], 'f'))[0]
  let used: string | undefined
  // A machine that stalls may be a window late between any two calls.
  do used = await take()
  while (used === '1')
  t.equal(used, '1!')
  while (used === '1!') {
    await delay(5)
    used = await take()
  }
  t.equal(used, '1')
})

t.test('a connection that has gone silent is replaced by a new one', { skip: NO_REDIS }, async (t) => {
  const server = await startRedis(t)
  // As when a firewall forgets a connection: nothing is closed, and nothing comes through any more.
  const sockets = new Set<Socket>()
  const between = createServer((near) => {
    const far = connectTo(server.port, '127.0.0.1')
    for (const socket of [near, far]) sockets.add(socket.on('error', () => {}))
    near.pipe(far).pipe(near)
  })
  const port = await listening(t, between)
  t.teardown(() => {
    for (const socket of sockets) socket.destroy()
  })
  const store = await redisCounts(t, `redis://127.0.0.1:${port}`, 100)
  const counts = createSharedCounts(store, { deadlineMs: 500, share: 0.5 })
  const isLocal = async () => (await counts.take([task('fixed', 1_000, 60_000)], 'f')).share !== undefined
  t.equal(await isLocal(), false)
  for (const socket of sockets) socket.unpipe().pause()
  t.equal(await isLocal(), true)
  while (await isLocal()) await delay(50)
})
