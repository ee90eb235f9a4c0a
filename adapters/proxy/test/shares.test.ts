import { once } from 'node:events'
import type { Socket } from 'node:net'
import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import type { ProxyOptions } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { handshake } from './tunnels.ts'
import { type Answer, exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

/** Opens a proxy before an origin that answers everything but `/slow`, and never a WebSocket. */
async function openShared(t: Test, options: ProxyOptions) {
  const slow: Socket[] = []
  const answer: Answer = (socket, head) => void (/^\w+ \/slow/.test(head) ? slow.push(socket) : socket.write(OK))
  return { ...(await proxyBefore(t, answer, options)), slow }
}

const name = (client: string): string => `X-Forwarded-For: ${client}`
const POST = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'

t.test('a client beyond its requests in flight waits, then gets 503; others are served', async (t) => {
  const { url, refused, slow } = await openShared(t, { limits: { inFlightPerClient: 2 }, timeouts: { queue: 100 } })
  const held = await Promise.all([1, 2].map(() => send(url, get('/slow', name('21.0.0.9')))))
  await until(() => slow.length === 2)
  const waiting = exchange(url, get('/', name('21.0.0.9')))
  t.equal(readStatus(await exchange(url, get('/', name('21.0.0.10')))), 200)
  t.match(await waiting, /^HTTP\/1\.1 503 [\s\S]*\r\nretry-after: 5\r\n[\s\S]*"error":"service_unavailable"/i)
  t.equal(readStatus(await exchange(url, get('/v1/x', name('21.0.0.9')))), 503, 'a request for the API is counted too')
  t.equal(readStatus(await exchange(url, get('/v1/x', name('21.0.0.10')))), 200)
  t.same(refused, ['in_flight', 'in_flight'])
  held[0]?.destroy()
  // One that left makes room.
  while (readStatus(await exchange(url, get('/', name('21.0.0.9')))) !== 200);
  held[1]?.destroy()
})

t.test('a site of IPv6 has no more of what all share than sixteen clients', async (t) => {
  const { url, refused, slow } = await openShared(t, { limits: { originConnections: 64 }, timeouts: { queue: 300 } })
  const networks = Array.from({ length: 64 }, (_, network) => `2a01:4f8:1:${network.toString(16)}::1`)
  const held = await Promise.all(networks.map((address) => send(url, get('/slow', name(address)))))
  await until(() => slow.length + refused.length === 64)
  t.ok(slow.length >= 16 && slow.length < 64, `${slow.length} of 64`)
  for (const other of ['21.0.0.9', '2a01:4f8:2::1']) {
    t.equal(readStatus(await exchange(url, get('/', name(other)))), 200, other)
  }
  for (const socket of held) socket.destroy()
})

t.test('the queue for the origin has an end and a clock', async (t) => {
  const limits = { originConnections: 1, originQueue: 1 }
  const { url, refused, slow } = await openShared(t, { limits, timeouts: { queue: 200 } })
  const held = await send(url, get('/slow', name('21.0.0.1')))
  await until(() => slow.length === 1)
  const waiting = exchange(url, get('/', name('21.0.0.2')))
  // This one may come before the one that waits.
  const third = exchange(url, get('/', name('21.0.0.3')))
  t.equal(readStatus(await Promise.race([waiting, third])), 503)
  await until(() => refused.length === 2)
  t.same(refused, ['origin_queue', 'origin_queue'])
  slow[0]?.write(OK)
  while (readStatus(await exchange(url, get('/', name('21.0.0.2')))) !== 200);
  await readUntil(held)
})

t.test('a slow body holds no connection to the origin', async (t) => {
  const { url, origin } = await openShared(t, { limits: { originConnections: 1 }, timeouts: { queue: 0 } })
  const slow = await Promise.all([
    send(url, `${POST}Content-Length: 1000\r\n\r\nx`),
    send(url, `${POST}Content-Length: 9000000\r\n\r\n`),
    send(url, `${POST}Transfer-Encoding: chunked\r\n\r\n`),
    send(url, `${POST}Expect: 100-continue\r\nContent-Length: 1000\r\n\r\n`),
  ])
  t.match(await readUntil(slow[3] as Socket, '\r\n\r\n'), ' 100 ', 'who waits to be asked is asked')
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  t.equal(origin.heads.length, 1)
  slow[0]?.write('x'.repeat(999))
  t.equal(readStatus(await readUntil(slow[0] as Socket)), 200, 'it goes on when it is whole')
  slow[2]?.write('1\r\nx\r\n')
  await until(() => origin.heads.length === 3)
  t.match(origin.heads[2], /^POST [\s\S]*transfer-encoding: chunked/i, 'a longer one from its first bytes')
  for (const socket of slow) socket.destroy()
})

t.test('bodies that are held', async (t) => {
  const { url, refused, origin } = await openShared(t, { limits: { bufferedBytes: 65_536 } })
  const held = await send(url, `${POST}Content-Length: 60000\r\n\r\n${'x'.repeat(50_000)}`)
  const untilStatus = async (status: number): Promise<void> => {
    while (readStatus(await exchange(url, `${POST}Content-Length: 40000\r\n\r\n${'x'.repeat(40_000)}`)) !== status);
  }
  await untilStatus(503)
  t.same(new Set(refused), new Set(['buffered_bytes']))
  held.destroy()
  await untilStatus(200)
  t.ok(origin.heads.length > 0, 'and when they are gone others are taken')
})

t.test('a body larger than is taken', async (t) => {
  const { url, refused } = await openShared(t, { limits: { bodyBytes: 100_000 } })
  t.equal(readStatus(await exchange(url, `${POST}Content-Length: 100001\r\n\r\n`)), 413)
  const asked = await exchange(url, `${POST}Expect: 100-continue\r\nContent-Length: 100001\r\n\r\n`)
  t.equal(readStatus(asked), 413, 'before it is asked for')
  const chunks = await send(url, `${POST}Transfer-Encoding: chunked\r\n\r\n`)
  const answer = readUntil(chunks)
  for (let sent = 0; sent < 11; sent++) chunks.write(`2710\r\n${'x'.repeat(10_000)}\r\n`)
  t.match(await answer, /^HTTP\/1\.1 413 [\s\S]*"error":"payload_too_large"[\s\S]*larger than limits\.bodyBytes/)
  t.same(refused, ['body_bytes', 'body_bytes', 'body_bytes'])
  t.equal(readStatus(await exchange(url, `${POST}Content-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`)), 200)
})

t.test('tunnels, and handshakes for them', async (t) => {
  const shake = (client: string): string => handshake('/slow', name(client))
  const { url, refused, slow } = await openShared(t, { limits: { tunnelsPerClient: 1 }, timeouts: { queue: 20 } })
  const first = await send(url, shake('21.0.0.1'))
  await until(() => slow.length === 1)
  const second = await send(url, shake('21.0.0.1'))
  t.match(await readUntil(second), /^HTTP\/1\.1 503 [\s\S]*retry-after: 5/i)
  const other = await send(url, shake('21.0.0.2'))
  await until(() => slow.length === 2)
  first.resetAndDestroy()
  if (!first.closed) await once(first, 'close')
  await until(() => slow[0]?.destroyed === true)
  const again = await send(url, shake('21.0.0.1'))
  await until(() => slow.length === 3)
  t.same(refused, ['tunnels'])
  for (const socket of [other, again]) socket.destroy()
})

t.test('a request that is decided after its client has left takes no slot, and is not forwarded', async (t) => {
  const counts: (() => void)[] = []
  const ends: string[] = []
  const observe = ({ status }: ObservedRequest): void => void ends.push(`observed ${status}`)
  const sallyport = Object.assign(fakeSallyport(), { observe })
  sallyport.count = (decision) =>
    sallyport.decided.length > 1
      ? { decision }
      : new Promise((resolve) => counts.push(() => resolve({ decision, ended: () => void ends.push('counted') })))
  const limits = { inFlight: 1, inFlightPerClient: 1 }
  const { url, origin } = await proxyBefore(t, OK, { sallyport, limits, timeouts: { queue: 0 } })
  const socket = await send(url, get('/left'))
  await until(() => counts.length === 1)
  socket.destroy()
  await until(() => ends.length === 1)
  counts[0]?.()
  await until(() => ends.length === 2)
  t.same(ends, ['observed 0', 'counted'])
  for (const path of ['/one', '/two']) t.equal(readStatus(await exchange(url, get(path))), 200, 'its share is free')
  t.match(origin.heads, [/^GET \/one /, /^GET \/two /])
})
