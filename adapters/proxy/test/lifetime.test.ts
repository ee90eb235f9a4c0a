import { createServer } from 'node:http'
import { connect } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { openProxy } from '../src/index.ts'
import { Frames } from '../src/tunnel/frames.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

/** Reports whether no server listens there any more. */
function isClosed(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
  }).finally(() => socket.destroy()) as Promise<boolean>
}

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

t.test('closing waits for requests in flight and takes no new ones', async (t) => {
  let finish: () => void = () => {}
  const { proxy, origin } = await proxyBefore(
    t,
    (socket, head) => {
      if (head.startsWith('GET /ok ')) {
        socket.write(OK)
        return
      }
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha')
      finish = () => socket.write('lf')
    },
    { timeouts: { drain: 600_000 } },
  )
  const idle = await dial(proxy.url)
  idle.write('GET /ok HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(idle, /ok$/)
  const client = await dial(proxy.url)
  client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(client, 'ha')
  const rest = readUntil(client, 'lf')
  const admin = String(proxy.adminUrl)
  const closing = proxy.close()
  while (!(await isClosed(proxy.url)));
  t.equal(
    readStatus(await exchange(admin, get('/readyz').replace('site.example', 'localhost'))),
    503,
    'and says that it is not ready',
  )
  t.equal(readStatus(await exchange(admin, get('/healthz').replace('site.example', 'localhost'))), 200)
  idle.write('GET /ok HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(await readUntil(idle), /\r\nConnection: close\r\n/i, 'an idle connection has one more answer')
  finish()
  t.equal(await rest, 'lf', 'the answer is whole')
  client.write(get('/ok'))
  t.match(await readUntil(client), /\r\nConnection: close\r\n/i, 'and one more request after it')
  await closing
  await until(() => origin.open() === 0)
})

t.test('closing cuts idle connections where that is asked for', async (t) => {
  const { proxy } = await proxyBefore(t, OK, { timeouts: { drain: 600_000 } })
  const idle = await dial(proxy.url)
  idle.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(idle, /ok$/)
  await proxy.close('cut')
  await readUntil(idle)
})

t.test('a lame duck accepts connections, and is not ready', async (t) => {
  const answers = async (lameDuck: number) => {
    const { proxy } = await proxyBefore(t, OK, { timeouts: { drain: 0, lameDuck } })
    const began = performance.now()
    const closing = proxy.close()
    const none = (): string => ''
    const readiness = exchange(String(proxy.adminUrl), get('/readyz').replace('site.example', 'localhost')).catch(none)
    const late = dial(proxy.url).then((socket) => {
      socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
      return readUntil(socket)
    })
    const [ready, answer] = await Promise.all([readiness, late.catch(none)])
    const isInTime = performance.now() - began < lameDuck
    await closing
    return { ready, answer, isInTime }
  }
  // A busy machine may take longer than any time that is worth waiting for.
  let lameDuck = 300
  let given = await answers(lameDuck)
  while (!given.isInTime) {
    lameDuck *= 2
    given = await answers(lameDuck)
  }
  t.equal(readStatus(given.ready), 503)
  t.match(given.answer, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/i)
})

t.test('closing cuts what takes longer than the drain', async (t) => {
  const { proxy, origin } = await proxyBefore(t, 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha', {
    timeouts: { drain: 50 },
  })
  const client = await dial(proxy.url)
  client.write(get('/'))
  await readUntil(client, 'ha')
  await proxy.close()
  await readUntil(client)
  await until(() => origin.open() === 0)
})

const ACCEPTED = [
  'HTTP/1.1 101 Switching Protocols',
  'Upgrade: websocket',
  'Connection: Upgrade',
  'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=',
  '',
  '',
].join('\r\n')

async function tunnelThrough(t: Test, frames: string) {
  const received: Buffer[] = []
  const { proxy, origin } = await proxyBefore(
    t,
    (socket) => {
      socket.write(`${ACCEPTED}${frames}`, 'latin1')
      socket.on('data', (bytes) => received.push(bytes))
    },
    { timeouts: { drain: 600_000 } },
  )
  const client = await dial(proxy.url)
  const fields = ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==']
  client.write(`GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\n${fields.join('\r\n')}\r\n\r\n`)
  t.match(await readUntil(client, frames), ' 101 ')
  return { client, proxy, origin, received: () => Buffer.concat(received) }
}

t.test('closing ends tunnels by a close frame to both sides', async (t) => {
  const { client, proxy, origin, received } = await tunnelThrough(t, '\x81\x02hi')
  const rest = readUntil(client)
  await proxy.close()
  t.equal(await rest, '\x88\x02\x03\xe9', 'going away, 1001')
  const frame = received()
  t.same([...frame.subarray(0, 2)], [0x88, 0x82], 'masked towards the origin')
  t.same(
    [6, 7].map((at) => (frame[at] as number) ^ (frame[at - 4] as number)),
    [0x03, 0xe9],
  )
  await until(() => origin.open() === 0)
  await proxy.close()
})

t.test('closing cuts a tunnel within a frame', async (t) => {
  const { client, proxy, origin } = await tunnelThrough(t, '\x81\x7e\x01\x00half')
  const rest = readUntil(client)
  await proxy.close()
  t.equal(await rest, '')
  await until(() => origin.open() === 0)
})

t.test('frames are followed however they are cut', async (t) => {
  const wrong: string[] = []
  const mask = Buffer.from([1, 2, 3, 4])
  for (const length of [0, 1, 125, 126, 65_535, 65_536]) {
    for (const masked of [false, true]) {
      const size = length < 126 ? Buffer.from([length]) : Buffer.alloc(length < 65_536 ? 3 : 9)
      if (length >= 126 && length < 65_536) size.writeUInt16BE(length, 1)
      if (length >= 65_536) size.writeBigUInt64BE(BigInt(length), 1)
      if (length >= 126) size[0] = length < 65_536 ? 126 : 127
      if (masked) size[0] = (size[0] as number) | 0x80
      const frame = Buffer.concat([Buffer.from([0x82]), size, ...(masked ? [mask] : []), Buffer.alloc(length, 0x88)])
      for (const step of [1, 2, 3, 7, 4_096, frame.length]) {
        const frames = new Frames()
        for (let at = 0; at < frame.length; at += step) {
          if (at > 0 && frames.areWhole) wrong.push(`${length} bytes, cut at ${at}`)
          frames.push(frame.subarray(at, at + step))
        }
        if (!frames.areWhole) wrong.push(`${length} bytes in steps of ${step}`)
      }
    }
  }
  t.same(wrong, [])
})

t.test('an address that is taken, and one that is none', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const sallyport = fakeSallyport()
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen: address }), {
    code: 'cannot_listen',
    message: `cannot listen on ${address}: another program already listens there. Stop the program, or use another address`,
  })
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, admin: address }), { code: 'cannot_listen' })
  for (const listen of ['nowhere', '127.0.0.1', '127.0.0.1:99999', '::1:80', ':80']) {
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen }), { code: 'invalid_config' }, listen)
  }
  for (const upstream of ['', 'nowhere', 'ftp://a', 'http://a/path', 'http://user@a', 'http://a?b']) {
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, upstream }), { code: 'invalid_config' }, upstream)
  }
})

t.test('a name to listen on that is not known is said to be one', async (t) => {
  await t.rejects(openProxy(fakeSallyport(), { ...LOOPBACK, listen: 'none.invalid:0' }), {
    code: 'cannot_listen',
    message: /^cannot listen on none\.invalid:0: its host name (?:is unknown|cannot be resolved now)$/,
  })
})

t.test('the health listener at its usual place is done without where that is taken', async (t) => {
  const notices: string[] = []
  const { listen, limits } = LOOPBACK
  const options = { listen, limits, onNotice: (notice: string) => void notices.push(notice) }
  const first = await openProxy(fakeSallyport(), options)
  const second = await openProxy(fakeSallyport(), options)
  t.teardown(() => Promise.all([first.close(), second.close()]))
  t.notOk(second.adminUrl)
  t.match(notices.at(-1), /^the admin listener could not start: cannot listen on 127.0.0.1:9090: another program/)
  t.equal(readStatus(await exchange(second.url, get('/v1/myip'))), 200, 'and the proxy works')
})

t.test('the health listener', async (t) => {
  const { proxy } = await proxyBefore(t, OK)
  const admin = String(proxy.adminUrl)
  t.match(
    await exchange(admin, get('/healthz').replace('site.example', 'localhost')),
    /^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}/,
  )
  t.match(await exchange(admin, get('/readyz?verbose').replace('site.example', 'localhost')), /\{"status":"ready"\}/)
  t.match(
    await exchange(admin, get('/sources').replace('site.example', 'localhost')),
    /"sources":\[\{"id":"asn".*"state":"loaded"/,
  )
  t.equal(
    readStatus(await exchange(admin, get('/metrics').replace('site.example', 'localhost'))),
    404,
    'where nothing is counted',
  )
  t.equal(
    readStatus(await exchange(admin, get('/healthz').replace('site.example', 'localhost').replace('GET', 'POST'))),
    405,
  )
  t.equal(readStatus(await exchange(admin, get('/toString').replace('site.example', 'localhost'))), 404)
})

t.test('without an origin all but the API is 404, also a handshake, and a block is a block', async (t) => {
  const proxy = await openProxy(fakeSallyport(), LOOPBACK)
  t.teardown(() => proxy.close())
  t.equal(proxy.upstream, undefined)
  const upgrade = [
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    `Sec-WebSocket-Key: ${KEY}`,
  ]
  t.match(await exchange(proxy.url, get('/')), /^HTTP\/1\.1 404 [\s\S]*"error":"not_found"/)
  t.match(await exchange(proxy.url, get('/', ...upgrade)), /^HTTP\/1\.1 404 [\s\S]*"error":"not_found"/)
  t.equal(readStatus(await exchange(proxy.url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`))), 403)
  t.equal(readStatus(await exchange(proxy.url, get('/v1/myip'))), 200)
})

const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='

t.test('an IPv6 address to listen on', async (t) => {
  const proxy = await openProxy(fakeSallyport(), { ...LOOPBACK, listen: '[::1]:0' }).catch(() => undefined)
  if (proxy === undefined) return void t.pass('skipped: this machine has no IPv6 loopback', { skip: true })
  t.match(proxy.url, /^http:\/\/\[::1\]:\d+$/)
  t.equal((await fetch(`${proxy.url}/v1/myip`)).status, 200)
  await proxy.close('cut')
})
