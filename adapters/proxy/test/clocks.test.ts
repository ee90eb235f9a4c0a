import type { Socket } from 'node:net'
import { parseTimeouts } from '@sallyport/engine/limits'
import t from 'tap'
import { startClocks, type Watched } from '../src/exchange/clocks.ts'
import type { Side } from '../src/exchange/exchange.ts'
import { Roster } from '../src/exchange/roster.ts'
import { proxyBefore } from './behind.ts'
import { type Answer, dial, exchange, get, readStatus, readUntil, send, until } from './wire.ts'

/** `bytes` move each time that the clocks look; `ends`: the exchange ends as soon as it is late. */
const LOOKED = { side: 'body' as Side, bytes: 0, minRate: 1_000, looks: 1e9, over: false, ended: false, ends: false }

/** Returns what the clocks do with one exchange, until they leave it or have looked so often. */
async function lookAt(options: Partial<typeof LOOKED>) {
  const { side, bytes, minRate, looks, ends, ...state } = { ...LOOKED, ...options }
  const roster = new Roster<Watched>()
  const told: string[] = []
  const timeouts = parseTimeouts({ idleBody: 60, clientUnread: 60, originHeaders: 60, minRate })
  const stop = startClocks(roster, timeouts, () => told.push('leaked'))
  let looked = 0
  const watched: Watched = Object.assign(state, {
    place: 0,
    wait: undefined,
    times: {},
    awaited() {
      looked++
      return side
    },
    moved: () => looked * bytes,
    isLost: () => false,
    late() {
      told.push('late')
      if (ends) Object.assign(state, { over: true, ended: true })
    },
    lose() {
      told.push('cut')
      state.over = true
    },
    end: () => void told.push('ended'),
    fail() {},
  })
  roster.add(watched)
  await until(() => roster.size === 0 || looked > looks)
  stop()
  return told
}

t.test('a client moves at least so much while it is waited for, an origin something', async (t) => {
  for (const [side, bytes, minRate, late] of [
    ['body', 0, 1_000, true],
    ['body', 1, 1_000, true],
    ['body', 1_000, 1_000, false],
    ['body', 1, 0, false],
    ['reading', 1, 1_000, true],
    ['reading', 1_000, 1_000, false],
    ['answer', 1, 1_000, false],
    ['answer', 0, 1_000, true],
    ['head', 0, 1_000, true],
  ] as const) {
    const told = await lookAt({ side, bytes, minRate, looks: late ? 1_000 : 40, ends: true })
    t.same(told, late ? ['late'] : [], `${bytes} bytes of ${side} at ${minRate}`)
  }
})

t.test('a late or gone exchange is looked at until it has ended', async (t) => {
  t.same(await lookAt({ over: true, ended: true }), [])
  t.same(await lookAt({}), ['late', 'cut', 'ended', 'leaked'], 'its answer has not gone out')
  t.same(await lookAt({ over: true }), ['ended', 'leaked'], 'nobody said that its connection had gone')
})

t.test('a body that comes too slowly', async (t) => {
  const { url, origin, refused } = await proxyBefore(t, () => {}, { timeouts: { idleBody: 200, minRate: 1_000 } })
  for (const length of [1_000, 1_000_000]) {
    const client = await send(url, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${length}\r\n\r\nx`)
    const drip = setInterval(() => client.write('x'), 20)
    t.match(await readUntil(client), /^HTTP\/1\.1 408 [\s\S]*connection: close/i, `of ${length} bytes`)
    clearInterval(drip)
  }
  t.same(refused, ['slow_body', 'slow_body'])
  await until(() => origin.open() === 0)
})

t.test('an origin that takes no more of a body', async (t) => {
  const timeouts = { idleBody: 100, originHeaders: 100 }
  const { url } = await proxyBefore(t, (socket) => void socket.pause(), { timeouts })
  const client = await send(url, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9000000\r\n\r\n')
  client.write('x'.repeat(9_000_000))
  t.equal(readStatus(await readUntil(client, '}')), 504)
  client.destroy()
})

t.test('a client that does not read is cut', async (t) => {
  const big = Buffer.alloc(10_000_000, 'x').toString('latin1')
  const answer = `HTTP/1.1 200 OK\r\nContent-Length: ${big.length}\r\n\r\n${big}`
  const { url, refused } = await proxyBefore(t, answer, { timeouts: { clientUnread: 400, minRate: 1_000 } })
  const stuck = await dial(url)
  stuck.pause()
  stuck.write(get('/'))
  await until(() => refused.length > 0)
  t.same(refused, ['slow_reader'])
  stuck.destroy()
})

t.test('events, and routes that say so, have no clock of the origin', async (t) => {
  const event = 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nfirst\r\n'
  const plain = event.replace('text/event-stream', 'text/plain')
  const patient: Socket[] = []
  const answer: Answer = (socket, head) => {
    if (/^GET \/(?:events|poll\/)/.test(head)) patient.push(socket)
    socket.write(head.startsWith('GET /events') ? event : plain)
  }
  const timeouts = { idleBody: 50, originHeaders: 50 }
  const { url } = await proxyBefore(t, answer, { timeouts, routes: [{ path: '/poll', stream: true }] })
  const streams = ['/events', '/poll/more?x'].map((path) => exchange(url, get(path)))
  await until(() => patient.length === 2)
  for (const path of ['/other', '/polling']) t.match(await exchange(url, get(path)), /first\r\n$/, `${path} is cut`)
  for (const socket of patient) socket.write('4\r\nlast\r\n0\r\n\r\n')
  for (const answer of await Promise.all(streams)) t.match(answer, 'last')
})
