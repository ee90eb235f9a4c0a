import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type Socket } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import { stopParsingWhenEnded } from '@sallyport/node/internal'
import t, { type Test } from 'tap'
import { openProxy, type ProxyOptions } from '../src/index.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { dial, exchange, get, OK, openRawOrigin, readStatus, readUntil, until } from './wire.ts'

async function limited(
  t: Test,
  trust: readonly string[],
  limits: ProxyOptions['limits'],
  proxyProtocol?: ProxyOptions['proxyProtocol'],
) {
  const origin = await openRawOrigin((socket, head) => void (head.startsWith('GET /slow') || socket.write(OK)))
  const refused: string[] = []
  const proxy = await openProxy(fakeSallyport({ trust }), {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: origin.url,
    proxyProtocol,
    timeouts: { drain: 0 },
    limits: { eventLoopDelay: '1m', ...limits },
    onRefused: (cause) => refused.push(cause),
  })
  t.teardown(async () => {
    await proxy.close()
    await origin.close()
  })
  return { origin, refused, url: proxy.url }
}

/** A connection from an address of loopback, after a whole exchange over it; `undefined` where it was refused. */
async function served(url: string, localAddress: string): Promise<Socket | undefined> {
  const socket = connect({ port: Number(new URL(url).port), host: '127.0.0.1', localAddress })
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  return readStatus(await readUntil(socket, /ok$/)) === 200 ? socket : undefined
}

t.test('one address has its connections, and all others have theirs', async (t) => {
  const { url, refused } = await limited(t, [], { connectionsPerClient: 3 })
  const held = await Promise.all(Array.from({ length: 3 }, () => served(url, '127.0.0.2')))
  t.notOk(held.includes(undefined))
  t.equal(await served(url, '127.0.0.2'), undefined, 'the fourth is refused')
  t.same(refused, ['connections'])
  const other = await served(url, '127.0.0.3')
  t.ok(other, 'another address is served')
  held[0]?.destroy()
  let again: Socket | undefined
  while (again === undefined) again = await served(url, '127.0.0.2')
  t.ok(again, 'and the first again when it has closed one')
  for (const socket of [...held, other, again]) socket?.destroy()
})

t.test('a site of IPv6 has sixteen times the connections of one of its networks', async (t) => {
  const { url, refused } = await limited(t, ['loopback'], { connectionsPerClient: 2 }, 'v1')
  const from = async (address: string): Promise<Socket | undefined> => {
    const socket = await dial(url)
    socket.write(`PROXY TCP6 ${address} ::1 1000 80\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n`)
    return readStatus(await readUntil(socket, /ok$/)) === 200 ? socket : undefined
  }
  const held: (Socket | undefined)[] = []
  for (let network = 0; network < 32; network++) held.push(await from(`2a01:4f8:1:${network.toString(16)}::1`))
  t.notOk(held.includes(undefined))
  t.equal(await from('2a01:4f8:1:ff::1'), undefined)
  t.same(refused, ['connections'])
  const other = await from('2a01:4f8:2::1')
  t.ok(other, 'another site is served')
  held[0]?.destroy()
  let again: Socket | undefined
  while (again === undefined) again = await from('2a01:4f8:1:ff::1')
  for (const socket of [...held, other, again]) socket?.destroy()
})

t.test('the connections of a trusted proxy are not counted by address', async (t) => {
  const { url, refused } = await limited(t, ['loopback'], { connectionsPerClient: 1 })
  const held = await Promise.all(Array.from({ length: 4 }, () => served(url, '127.0.0.2')))
  t.notOk(held.includes(undefined))
  t.same(refused, [])
  for (const socket of held) socket?.destroy()
})

t.test('all clients together have a number of connections too', async (t) => {
  const { url, refused } = await limited(t, [], { connections: 2 })
  const held = [await served(url, '127.0.0.2'), await served(url, '127.0.0.3')]
  t.equal(await served(url, '127.0.0.4'), undefined)
  t.same(refused, ['connections'])
  for (const socket of held) socket?.destroy()
})

t.test('a connection with too many waiting requests is cut, and what it sent is let go', async (t) => {
  const { url, refused, origin } = await limited(t, ['loopback'], { pipelined: 16 })
  const client = await dial(url)
  client.write('GET /slow HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3_000))
  t.equal(await readUntil(client), '')
  t.same(refused, ['pipelined'])
  t.ok(origin.heads.length <= 1, 'nothing behind the first was carried out')
  const fewer = await dial(url)
  fewer.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(17))
  t.match(await readUntil(fewer, /(?:HTTP\/1\.1 200 OK[\s\S]*?ok){17}/), /ok$/, 'as many as may wait are answered')
  fewer.destroy()
})

t.test('bytes already read are not parsed behind the request that cut the connection', async (t) => {
  let parsed = 0
  const server = createServer((request) => {
    parsed++
    request.socket.destroy()
  })
  server.on('connection', stopParsingWhenEnded)
  const client = await dial(`http://127.0.0.1:${await listening(t, server)}`)
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2_000))
  await readUntil(client)
  t.equal(parsed, 1)
})

t.test('nothing is carried out behind an answer that ends the connection', async (t) => {
  const { url, origin } = await limited(t, ['loopback'], {})
  const second = 'GET /second HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const first of [
    'GET /x%00 HTTP/1.1\r\nHost: a\r\n\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n',
    'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n',
    `POST / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${VISITOR.blocked}\r\nExpect: 100-continue\r\nContent-Length: ${second.length}\r\n\r\n`,
    `POST / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${VISITOR.blocked}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  ]) {
    const client = await dial(url)
    client.write(first + second)
    await readUntil(client)
  }
  t.same(
    origin.heads.filter((head) => head.startsWith('GET /second')),
    [],
  )
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  await until(() => origin.open() === 0)
})

t.test('a client that leaves gives its connections back', async (t) => {
  const { url } = await limited(t, [], { connectionsPerClient: 2 })
  for (let round = 0; round < 6; round++) {
    const socket = await served(url, '127.0.0.5')
    if (socket === undefined) {
      round--
      continue
    }
    socket.resetAndDestroy()
    if (!socket.closed) await once(socket, 'close')
  }
  t.pass('six connections in turn, two at a time')
})
