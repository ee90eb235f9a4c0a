import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type BeforeOptions, proxyBefore } from './behind.ts'
import { type Answer, exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

async function limited(t: Test, trust: readonly string[], options: BeforeOptions) {
  const answer: Answer = (socket, head) => void (head.startsWith('GET /slow') || socket.write(OK))
  return proxyBefore(t, answer, { trust, timeouts: { drain: 0 }, ...options })
}

/** A connection after a whole exchange over it; `undefined` where it was refused, maybe before it stood. */
async function served(url: string, localAddress?: string, before = ''): Promise<Socket | undefined> {
  const socket = await send(url, `${before}GET / HTTP/1.1\r\nHost: a\r\n\r\n`, localAddress).catch(() => undefined)
  return socket && readStatus(await readUntil(socket, /ok$/)) === 200 ? socket : undefined
}

t.test('one address has its connections, and all others have theirs', async (t) => {
  const { url, refused } = await limited(t, [], { limits: { connectionsPerClient: 3 } })
  const held = await Promise.all(Array.from({ length: 3 }, () => served(url, '127.0.0.2')))
  t.notOk(held.includes(undefined))
  t.equal(await served(url, '127.0.0.2'), undefined, 'the fourth is refused')
  t.same(refused, ['connections'])
  t.ok(await served(url, '127.0.0.3'), 'another address is served')
  held[0]?.destroy()
  while (!(await served(url, '127.0.0.2')));
  t.pass('and the first again when it has closed one')
})

t.test('a site of IPv6 has sixteen times the connections of one of its networks', async (t) => {
  const { url, refused } = await limited(t, ['loopback'], { limits: { connectionsPerClient: 2 }, proxyProtocol: 'v1' })
  const from = (address: string) => served(url, undefined, `PROXY TCP6 ${address} ::1 1000 80\r\n`)
  const held: (Socket | undefined)[] = []
  for (let network = 0; network < 32; network++) held.push(await from(`2a01:4f8:1:${network.toString(16)}::1`))
  t.notOk(held.includes(undefined))
  t.equal(await from('2a01:4f8:1:ff::1'), undefined)
  t.same(refused, ['connections'])
  t.ok(await from('2a01:4f8:2::1'), 'another site is served')
  held[0]?.destroy()
  while (!(await from('2a01:4f8:1:ff::1')));
})

t.test('a trusted proxy has more connections than a client, and all together have a number of them', async (t) => {
  const { url, refused } = await limited(t, ['loopback'], { limits: { connectionsPerClient: 1, connections: 4 } })
  const held = await Promise.all(Array.from({ length: 4 }, () => served(url, '127.0.0.2')))
  t.notOk(held.includes(undefined))
  t.same(refused, [])
  t.equal(await served(url, '127.0.0.3'), undefined)
  t.same(refused, ['connections'])
})

t.test('a connection with too many waiting requests is cut, and what it sent is let go', async (t) => {
  let parsed = 0
  const count = () => parsed++
  subscribe('http.server.request.start', count)
  t.teardown(() => unsubscribe('http.server.request.start', count))
  const { url, refused, origin } = await limited(t, ['loopback'], { limits: { pipelined: 16 } })
  const client = await send(url, 'GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3_000))
  t.equal(await readUntil(client), '')
  t.same(refused, ['pipelined'])
  t.ok(origin.heads.length <= 1, 'nothing behind the first was carried out')
  t.ok(parsed < 100, `${parsed} were parsed`)
  const fewer = await send(url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(17))
  t.match(await readUntil(fewer, /(?:HTTP\/1\.1 200 OK[\s\S]*?ok){17}/), /ok$/, 'as many as may wait are answered')
  fewer.destroy()
})

const KEPT = 'GET / HTTP/1.1\r\nHost: site.example\r\n\r\n'

const BEHIND: Readonly<Record<string, string>> = {
  'a request behind Connection: close': get('/') + get('/behind'),
  'a request behind HTTP/1.0': `GET / HTTP/1.0\r\nHost: site.example\r\n\r\n${get('/behind')}`,
  'bytes that are no request': `${KEPT}\u0016\u0003\u0001 no request\r\n\r\n`,
  'half a bad head': `${KEPT}GET /behind HTTP/1.1\r\nHost : a\r\n`,
  'no request, and a request behind it': `${KEPT}no request\r\n\r\n${get('/behind')}`,
}

t.test('the request before bytes that are none gets its own answer, and its connection ends', async (t) => {
  for (const [name, bytes] of Object.entries(BEHIND)) {
    const { url, origin } = await proxyBefore(t, OK)
    t.match(await exchange(url, bytes), /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n\r\nok$/i, name)
    t.equal(origin.heads.length, 1)
  }
  const { url, origin } = await proxyBefore(t, OK)
  const body = 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n'
  t.equal(readStatus(await exchange(url, body)), 400, 'bytes of a body are no request of their own')
  t.equal(origin.heads.length, 0)
})

t.test('a client that leaves after such bytes takes its request with it', async (t) => {
  const closed: boolean[] = []
  const answer: Answer = (socket) => void socket.once('close', () => closed.push(true))
  for (const leave of ['end', 'destroy'] as const) {
    const { url, origin } = await proxyBefore(t, answer)
    const client = await send(url, `${KEPT}no request\r\n\r\n`)
    await until(() => origin.heads.length === 1)
    client[leave]()
    await until(() => closed.pop() === true)
  }
})
