import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { NO_REDIS, startRedis } from '#stores/testing'
import { openBanExport } from '../../src/open/bans/ban-export.ts'
import type { ExportedBan } from '../../src/open/bans/exported-ban.ts'
import { createNftablesExport, LEASE_MS } from '../../src/open/bans/nftables.ts'
import { createStanding } from '../../src/open/bans/standing.ts'
import { parseConfig } from '../../src/open/config/read.ts'
import { open } from '../../src/open/index.ts'
import { createMemoryBans } from '../../src/stores/bans/memory-bans.ts'
import { openRedisBans } from '../../src/stores/bans/redis-bans.ts'
import { madeConfig } from './made-sources.ts'

/** A socket like that of the helper, which keeps what comes and answers each line with `answer`. */
async function openHelper(t: Test) {
  // The path of a socket is short.
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-nft-'))
  t.teardown(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'socket')
  const lines: string[] = []
  const state = { answer: 'ok' }
  const server = createServer((socket) => {
    // The client may leave with answers unread.
    socket.on('error', () => {})
    socket.setEncoding('latin1').on('data', (text: string) => {
      const came = text.split('\n').filter((line) => line !== '')
      lines.push(...came)
      socket.write(`${state.answer}\n`.repeat(came.length))
    })
  }).listen(path)
  await once(server, 'listening')
  t.teardown(() => server.close())
  /** The lines since the last call. */
  const come = (): readonly string[] => lines.splice(0)
  return { path, come, state, server }
}

function bansOf(...rows: readonly (readonly [target: string, until: number])[]): ReadonlyMap<string, ExportedBan> {
  return new Map(
    rows.map(([target, until]) => {
      const ban = { id: target, key: `client ${target}`, on: 'blocked', count: 1, since: 0, until }
      return [target, { ban, rule: 'strikes', target }]
    }),
  )
}

function following(t: Test, path: string) {
  const clock = { time: 1_000_000, now: () => clock.time }
  const notices: string[] = []
  const counts: string[] = []
  const standing = createStanding('nftables', {
    notice: (message) => void notices.push(message),
    audit() {},
    count: (_, outcome, by) => void counts.push(`${outcome} ${by}`),
  })
  const firewall = createNftablesExport(path, clock, standing)
  t.teardown(() => firewall.close())
  return { clock, notices, counts, firewall }
}

t.test('an element is sent once, renewed within its lease, and taken out with its ban', async (t) => {
  const { path, come } = await openHelper(t)
  const { clock, firewall, notices } = following(t, path)
  const begun = clock.time
  const bans = bansOf(['192.0.2.1', begun + 30_000], ['2001:db8::/64', begun + 3 * LEASE_MS])
  await firewall.follow(bans)
  t.same(come(), ['add 192.0.2.1 30', 'add 2001:db8::/64 600'])
  await firewall.follow(bans)
  t.same(come(), [])
  clock.time += 30_001
  const left = bansOf(['2001:db8::/64', begun + 3 * LEASE_MS])
  await firewall.follow(left)
  t.same(come(), [], 'what has ended is gone there too')
  clock.time = begun + LEASE_MS / 2
  await firewall.follow(left)
  t.same(come(), ['add 2001:db8::/64 600'])
  clock.time = begun + 2.9 * LEASE_MS
  await firewall.follow(left)
  t.same(come(), ['add 2001:db8::/64 60'], 'no longer than the ban')
  await firewall.follow(bansOf())
  t.same(come(), ['del 2001:db8::/64'])
  await firewall.follow(bansOf())
  t.same([come(), notices], [[], []])
})

t.test('after a failure all is sent again, a pause later', async (t) => {
  const { path, come, state } = await openHelper(t)
  const { clock, firewall, notices, counts } = following(t, path)
  const until = clock.time + LEASE_MS
  await firewall.follow(bansOf(['192.0.2.1', until]))
  state.answer = 'failed'
  await firewall.follow(bansOf(['192.0.2.1', until], ['192.0.2.2', until]))
  t.same(come(), ['add 192.0.2.1 600', 'add 192.0.2.2 600'])
  state.answer = 'ok'
  await firewall.follow(bansOf(['192.0.2.1', until], ['192.0.2.2', until]))
  t.same(come(), [])
  clock.time += 1_000
  await firewall.follow(bansOf(['192.0.2.1', until], ['192.0.2.2', until]))
  t.same(come(), ['add 192.0.2.1 599', 'add 192.0.2.2 599'])
  t.same(counts, ['sent 1', 'failed 1', 'sent 2'])
  t.match(notices, [/bans hold here alone: nft could not do it/, /reached again/])
})

t.test('many are sent in parts, and none is lost', async (t) => {
  const { path, come } = await openHelper(t)
  const { clock, firewall, counts } = following(t, path)
  const rows = Array.from({ length: 1_200 }, (_, at) => [`198.51.${at >> 8}.${at & 255}`, clock.time + 60_000] as const)
  await firewall.follow(bansOf(...rows))
  t.same(
    come(),
    rows.map(([target]) => `add ${target} 60`),
  )
  t.same(counts, ['sent 500', 'sent 500', 'sent 200'])
})

t.test('no helper, one that leaves, and one that says something else', async (t) => {
  const { path, state, server } = await openHelper(t)
  const { clock, firewall, notices } = following(t, path)
  const bans = bansOf(['192.0.2.1', clock.time + LEASE_MS])
  state.answer = 'HTTP/1.1 400 Bad Request'
  await firewall.follow(bans)
  t.match(notices, [/nft could not do it/])
  server.close()
  await once(server, 'close')
  const away = following(t, path)
  await away.firewall.follow(bans)
  t.match(away.notices, [/no helper listens at/])
  const leaving = createServer((socket) =>
    socket
      .on('error', () => {})
      .resume()
      .end(),
  ).listen(path)
  await once(leaving, 'listening')
  t.teardown(() => leaving.close())
  const left = following(t, path)
  await left.firewall.follow(bans)
  t.match(left.notices, [/the helper ended the connection/])
})

t.test('of those that share their bans the one that leads keeps the set, and then the next', async (t) => {
  const { path, come } = await openHelper(t)
  const bans = createMemoryBans()
  const config = parseConfig({ policy: { strikes: { count: 3, window: '10m', on: ['blocked'], for: '1h' } } })
  const state = { leader: 'first' }
  const looks = { first: 0, second: 0 }
  const exportAs = (name: keyof typeof looks) => {
    const list = async () => {
      looks[name]++
      return bans.list()
    }
    const unused = { notice() {}, audit() {}, count() {}, outbound: { feeds: { fetch: () => t.fail() as never } } }
    const ports = { ...unused, bans: { list }, config: () => config, onFault: (error: unknown) => void t.error(error) }
    const clock = { now: () => Date.now() }
    const one = openBanExport(
      { export: { nftables: path, list: false } },
      { ...ports, clock, leads: () => state.leader === name },
    )
    t.teardown(() => one.close())
    return one
  }
  const [first, second] = [exportAs('first'), exportAs('second')]
  const since = Date.now()
  const ban = { id: 'a', key: 'client 8.4.0.9', on: 'blocked', count: 3, since, until: since + 3_600_000 }
  await bans.put(ban)
  for (const one of [first, second]) t.equal(one.made(ban)?.target, '8.4.0.9')
  while (looks.first < 3) await delay(20)
  t.same([come(), looks.second], [['add 8.4.0.9 600'], 0])
  state.leader = 'second'
  const lines: string[] = []
  while (lines.length === 0) {
    lines.push(...come())
    await delay(20)
  }
  t.same(lines, ['add 8.4.0.9 600'])
})

t.test('bans that never cease are exported while they come', async (t) => {
  const { path, come } = await openHelper(t)
  const bans = createMemoryBans()
  const config = parseConfig({ policy: { strikes: { count: 3, window: '10m', on: ['blocked'], for: '1h' } } })
  const unused = { notice() {}, audit() {}, count() {}, outbound: { feeds: { fetch: () => t.fail() as never } } }
  const exported = openBanExport(
    { export: { nftables: path, list: false } },
    {
      ...unused,
      bans,
      clock: { now: () => Date.now() },
      config: () => config,
      onFault: (error) => void t.error(error),
    },
  )
  t.teardown(() => exported.close())
  const since = Date.now()
  let lines: readonly string[] = []
  for (let made = 0; lines.length === 0 && made < 500; made++) {
    const address = `8.4.${made >> 8}.${made & 255}`
    const ban = { id: address, key: `client ${address}`, on: 'blocked', count: 3, since, until: since + 3_600_000 }
    await bans.put(ban)
    exported.made(ban)
    await delay(10)
    lines = come()
  }
  t.match(lines[0], /^add 8\.4\.0\.\d+ 600$/)
})

t.test('a machine exports what it hears of others by Redis', { skip: NO_REDIS }, async (t) => {
  const { url } = await startRedis(t)
  const { path, come } = await openHelper(t)
  const sallyport = await open({
    ...madeConfig(t.testdir()),
    redis: url,
    bans: { export: { nftables: path } },
    policy: { strikes: { count: 3, window: '10m', on: ['blocked'], for: '1h' } },
  })
  t.teardown(() => sallyport.close())
  const other = await openRedisBans(url)
  t.teardown(() => other.close())
  const since = Date.now()
  const ban = { id: 'a', key: 'client 8.4.0.9', on: 'blocked', count: 3, since, until: since + 3_600_000 }
  const lines: string[] = []
  await other.put(ban)
  for (const line of ['add 8.4.0.9 600', 'del 8.4.0.9']) {
    while (lines.at(-1) !== line) {
      lines.push(...come())
      await delay(20)
    }
    await other.lift('a')
  }
  t.same(lines, ['add 8.4.0.9 600', 'del 8.4.0.9'])
})
