import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { parseLimits, parseTimeouts } from '@sallyport/engine/limits'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { type Side, startClocks, type Watched } from '../src/exchange/clocks.ts'
import { Roster } from '../src/exchange/roster.ts'
import type { ProxyOptions } from '../src/index.ts'
import { openProxy } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { dial, exchange, get, readStatus, readUntil, until } from './wire.ts'

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** Verdicts of the clocks on a side that moves so many bytes each time it is looked at. */
async function lateness(
  side: Side,
  bytes: number,
  timeouts: ProxyOptions['timeouts'],
  looks: number,
): Promise<boolean> {
  const roster = new Roster<Watched>()
  const stop = startClocks(roster, parseTimeouts(timeouts), () => {})
  let late = false
  let looked = 0
  const watched: Watched = {
    over: false,
    ended: false,
    place: 0,
    wait: undefined,
    end() {},
    awaited() {
      looked++
      return side
    },
    moved: () => looked * bytes,
    late() {
      late = true
    },
    isLost: () => false,
    lose() {},
    fail() {},
  }
  roster.add(watched)
  while (!late && looked < looks) await pause(5)
  stop()
  return late
}

t.test('a client moves at least so much while it is waited for, an origin something', async (t) => {
  const short = { idleBody: 60, clientUnread: 60, originHeaders: 60, minRate: 1_000 }
  t.ok(await lateness('body', 0, short, 1_000))
  t.ok(await lateness('body', 1, short, 1_000), 'a byte now and then is not enough')
  t.notOk(await lateness('body', 1_000, short, 40))
  t.ok(await lateness('reading', 1, short, 1_000))
  t.notOk(await lateness('reading', 1_000, short, 40))
  t.notOk(await lateness('answer', 1, short, 40), 'of an origin it is')
  t.ok(await lateness('answer', 0, short, 1_000))
  t.ok(await lateness('head', 0, short, 1_000))
  t.notOk(await lateness('body', 1, { ...short, minRate: 0 }, 40), 'nor is there a rate where none is configured')
})

/** Returns what the clocks do with one that is late, or gone, until they leave it. */
async function leaving(
  t: Test,
  state: { over?: boolean | undefined; ended?: boolean | undefined; onLate?: 'ends' | undefined },
): Promise<readonly string[]> {
  const roster = new Roster<Watched>()
  const told: string[] = []
  const stop = startClocks(roster, parseTimeouts({ idleBody: 40, clientUnread: 40, originHeaders: 40 }), () => {
    told.push('leaked')
  })
  t.teardown(stop)
  let { over = false, ended = false } = state
  roster.add({
    fail() {},
    place: 0,
    wait: undefined,
    get over() {
      return over
    },
    get ended() {
      return ended
    },
    awaited: () => 'body',
    moved: () => 0,
    isLost: () => false,
    late() {
      told.push('late')
      if (state.onLate === 'ends') over = ended = true
    },
    lose() {
      told.push('cut')
      over = true
    },
    end() {
      told.push('ended')
    },
  })
  await until(() => roster.size === 0)
  return told
}

t.test('a late or gone exchange is looked at until it has ended', async (t) => {
  t.same(await leaving(t, { over: true, ended: true }), [])
  t.same(await leaving(t, { onLate: 'ends' }), ['late'])
  t.same(await leaving(t, {}), ['late', 'cut', 'ended', 'leaked'], 'its answer has not gone out')
  t.same(await leaving(t, { over: true }), ['ended', 'leaked'], 'nobody said that its connection had gone')
})

t.test('balancers close first, origins may think, and slow clients have no longer', async (t) => {
  const { keepAlive, originHeaders, header, idleBody, clientUnread, minRate } = parseTimeouts()
  t.ok(keepAlive > 60_000, 'the idle time of AWS')
  t.equal(originHeaders, 300_000)
  t.same([header, idleBody, clientUnread, minRate], [10_000, 30_000, 120_000, 500])
  t.equal(parseLimits().bodyBytes, undefined)
})

t.test('a body that comes too slowly', async (t) => {
  const refused: string[] = []
  const { url, origin } = await proxyBefore(t, () => {}, {
    timeouts: { idleBody: 200, minRate: 1_000 },
    onRefused: (cause) => refused.push(cause),
  })
  for (const length of [1_000, 1_000_000]) {
    const client = await dial(url)
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\nx`)
    const drip = setInterval(() => client.write('x'), 20)
    t.match(await readUntil(client), /^HTTP\/1\.1 408 [\s\S]*connection: close/i, `of ${length} bytes`)
    clearInterval(drip)
  }
  t.same(refused, ['slow_body', 'slow_body'])
  await until(() => origin.open() === 0)
})

t.test('a body that comes steadily takes as long as it takes', async (t) => {
  const server = createServer(async (request, response) => {
    let bytes = 0
    for await (const chunk of request) bytes += chunk.length
    response.end(String(bytes))
  })
  const upstream = `http://127.0.0.1:${await listening(t, server)}`
  const proxy = await openProxy(fakeSallyport(), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    limits: { eventLoopDelay: '1m' },
    upstream,
    timeouts: { idleBody: 100, originHeaders: 100, minRate: 500, drain: 0 },
  })
  t.teardown(() => proxy.close())
  const client = await dial(proxy.url)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 80000\r\n\r\n')
  const answer = readUntil(client)
  for (let sent = 0; sent < 80_000; sent += 2_000) {
    client.write('x'.repeat(2_000))
    await pause(10)
  }
  t.match(await answer, /^HTTP\/1\.1 200 [\s\S]*80000/, 'for longer than any of the clocks')
})

t.test('an origin that takes no more of a body', async (t) => {
  const timeouts = { idleBody: 100, originHeaders: 100 }
  const { url } = await proxyBefore(t, (socket) => void socket.pause(), { timeouts })
  const client = await dial(url)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n')
  client.write('x'.repeat(9_000_000))
  t.equal(readStatus(await readUntil(client, '}')), 504)
  client.destroy()
})

t.test('a client that does not read is cut, one that reads slowly is not', async (t) => {
  const big = Buffer.alloc(10_000_000, 'x').toString('latin1')
  const refused: string[] = []
  const before = async (clientUnread: number) => {
    const { url } = await proxyBefore(t, `HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n${big}`, {
      timeouts: { clientUnread, minRate: 1_000 },
      onRefused: (cause) => refused.push(cause),
    })
    return connect(Number(new URL(url).port), '127.0.0.1')
  }
  const stuck = await before(400)
  stuck.on('error', () => {})
  stuck.pause()
  stuck.write(get('/'))
  while (refused.length === 0) await pause(10)
  t.same(refused, ['slow_reader'])
  stuck.destroy()
  // Reading takes longer than that; it is long, since a machine that is busy may stand still for a while.
  const reader = await before(2_000)
  reader.write(get('/'))
  let received = 0
  reader.on('data', async (bytes) => {
    received += bytes.length
    reader.pause()
    await pause(20)
    reader.resume()
  })
  await once(reader, 'close')
  t.ok(received > big.length, `${received} bytes`)
  t.equal(refused.length, 1)
})

t.test('events, and routes that say so, have no clock of the origin', async (t) => {
  const event = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n'
  const plain = event.replace('text/event-stream', 'text/plain')
  const patient: Socket[] = []
  const { url } = await proxyBefore(
    t,
    (socket, head) => {
      const isEvent = head.startsWith('GET /events')
      if (isEvent || head.startsWith('GET /poll/')) patient.push(socket)
      socket.write(isEvent ? event : plain)
    },
    { timeouts: { idleBody: 50, originHeaders: 50 }, routes: [{ path: '/poll', stream: true }] },
  )
  const streams = ['/events', '/poll/more?x'].map((path) => exchange(url, get(path)))
  await until(() => patient.length === 2)
  for (const path of ['/other', '/polling']) t.match(await exchange(url, get(path)), /first\r\n$/, `${path} is cut`)
  for (const socket of patient) socket.write('4\r\nlast\r\n0\r\n\r\n')
  for (const answer of await Promise.all(streams)) t.match(answer, 'last')
})
