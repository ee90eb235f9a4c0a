import { createServer } from 'node:http'
import { connect } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { openProxy } from '../src/index.ts'
import { Frames } from '../src/tunnel/frames.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { agreement, handshake, tunnel } from './tunnels.ts'
import { type Answer, exchange, get, getLocal, OK, readStatus, readUntil, send, until } from './wire.ts'

function isClosed(url: string): Promise<boolean> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  return new Promise((resolve) => {
    socket.once('connect', () => resolve(false)).once('error', () => resolve(true))
  }).finally(() => socket.destroy()) as Promise<boolean>
}

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

t.test('closing waits for requests in flight and takes no new ones', async (t) => {
  let finish: () => void = () => {}
  const answer: Answer = (socket, head) => {
    if (head.startsWith('GET /ok ')) return void socket.write(OK)
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha')
    finish = () => socket.write('lf')
  }
  const { proxy, origin, admin } = await proxyBefore(t, answer, { timeouts: { drain: 600_000 } })
  const idle = await send(proxy.url, 'GET /ok HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(idle, /ok$/)
  const client = await send(proxy.url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(client, 'ha')
  const rest = readUntil(client, 'lf')
  const closing = proxy.close()
  while (!(await isClosed(proxy.url)));
  t.equal(readStatus(await exchange(admin, getLocal('/readyz'))), 503, 'and says that it is not ready')
  t.equal(readStatus(await exchange(admin, getLocal('/healthz'))), 200)
  idle.write('GET /ok HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(await readUntil(idle), /\r\nConnection: close\r\n/i, 'an idle connection has one more answer')
  finish()
  t.equal(await rest, 'lf', 'the answer is whole')
  client.write(get('/ok'))
  t.match(await readUntil(client), /\r\nConnection: close\r\n/i, 'and one more request after it')
  await closing
  await until(() => origin.open() === 0)
})

t.test('closing cuts what takes longer than the drain, and idle connections where that is asked for', async (t) => {
  const half = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nha'
  const { proxy, origin } = await proxyBefore(t, half, { timeouts: { drain: 50 } })
  const client = await send(proxy.url, get('/'))
  await readUntil(client, 'ha')
  await proxy.close()
  await readUntil(client)
  await until(() => origin.open() === 0)
  const other = await proxyBefore(t, OK, { timeouts: { drain: 600_000 } })
  const idle = await send(other.url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  await readUntil(idle, /ok$/)
  await other.proxy.close('cut')
  await readUntil(idle)
})

t.test('a lame duck accepts connections, and is not ready', async (t) => {
  // A busy machine may take longer than any time that is worth waiting for.
  for (let [lameDuck, isInTime] = [300, false]; !isInTime; lameDuck *= 2) {
    const { proxy, url, admin } = await proxyBefore(t, OK, { timeouts: { drain: 0, lameDuck } })
    const began = performance.now()
    const closing = proxy.close()
    const asked = [exchange(admin, getLocal('/readyz')), exchange(url, 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')]
    const answers = await Promise.all(asked.map((answer) => answer.catch(() => '')))
    isInTime = performance.now() - began < lameDuck
    await closing
    if (isInTime) t.match(answers, [/^HTTP\/1\.1 503 /, /^HTTP\/1\.1 200 [\s\S]*\r\nConnection: close\r\n/i])
  }
})

t.test('closing ends tunnels by a close frame to both sides, and cuts one within a frame', async (t) => {
  for (const frames of ['\x81\x02hi', '\x81\x7e\x01\x00half']) {
    let received = Buffer.alloc(0)
    const answer: Answer = (socket, head) => {
      socket.write(`${agreement(head)}${frames}`, 'latin1')
      socket.on('data', (bytes) => (received = Buffer.concat([received, bytes])))
    }
    const { client, proxy, origin, head } = await tunnel(t, answer, { timeouts: { drain: 600_000 } })
    t.match(head, ' 101 ')
    const rest = readUntil(client)
    await proxy.close()
    await until(() => origin.open() === 0)
    if (frames.endsWith('half')) {
      t.notMatch(await rest, '\x88')
      continue
    }
    t.ok((await rest).endsWith('\x88\x02\x03\xe9'), 'going away, 1001')
    t.same([...received.subarray(0, 2)], [0x88, 0x82], 'masked towards the origin')
    t.equal((received.readUInt16BE(6) ^ received.readUInt16BE(2)).toString(16), '3e9')
    await proxy.close()
  }
})

t.test('frames are followed however they are cut', async (t) => {
  const wrong: string[] = []
  for (const [length, ...head] of [
    [0, 0],
    [125, 125 | 0x80, 1, 2, 3, 4],
    [126, 126, 0, 126],
    [65_535, 126 | 0x80, 255, 255, 1, 2, 3, 4],
    [65_536, 127, 0, 0, 0, 0, 0, 1, 0, 0],
  ] as const) {
    const frame = Buffer.concat([Buffer.from([0x82, ...head]), Buffer.alloc(length, 0x88)])
    for (const step of [1, 2, 3, 7, 4_096, frame.length]) {
      const frames = new Frames()
      for (let at = 0; at < frame.length; at += step) {
        if (at > 0 && frames.areWhole) wrong.push(`${length} bytes, cut at ${at}`)
        frames.push(frame.subarray(at, at + step))
      }
      if (!frames.areWhole) wrong.push(`${length} bytes in steps of ${step}`)
    }
  }
  t.same(wrong, [])
})

t.test('an address that is taken, one that is none, and a name that is not known', async (t) => {
  const taken = createServer()
  const address = `127.0.0.1:${await listening(t, taken)}`
  const sallyport = fakeSallyport()
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen: address }), {
    code: 'cannot_listen',
    message: `cannot listen on ${address}: another program already listens there. Stop the program, or use another address`,
  })
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, admin: address }), { code: 'cannot_listen' })
  for (const listen of ['nowhere', '127.0.0.1:99999', '::1:80', ':80'])
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen }), { code: 'invalid_config' }, listen)
  for (const upstream of ['', 'nowhere', 'ftp://a', 'http://a/path', 'http://user@a', 'http://a?b'])
    await t.rejects(openProxy(sallyport, { ...LOOPBACK, upstream }), { code: 'invalid_config' }, upstream)
  await t.rejects(openProxy(sallyport, { ...LOOPBACK, listen: 'none.invalid:0' }), {
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
  const { admin } = await proxyBefore(t, OK)
  const ask = (target: string, method = 'GET') => exchange(admin, getLocal(target).replace('GET', method))
  t.match(await ask('/healthz'), /^HTTP\/1\.1 200 [\s\S]*\{"status":"ok"\}/)
  t.match(await ask('/readyz?verbose'), /\{"status":"ready"\}/)
  for (const target of ['/metrics', '/toString']) t.equal(readStatus(await ask(target)), 404, target)
  t.equal(readStatus(await ask('/healthz', 'POST')), 405)
})

t.test('without an origin all but the API is 404, also a handshake, and a block is a block', async (t) => {
  const proxy = await openProxy(fakeSallyport(), LOOPBACK)
  t.teardown(() => proxy.close())
  t.equal(proxy.upstream, undefined)
  for (const bytes of [get('/'), handshake()])
    t.match(await exchange(proxy.url, bytes), /^HTTP\/1\.1 404 [\s\S]*"error":"not_found"/)
  t.equal(readStatus(await exchange(proxy.url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`))), 403)
  t.equal(readStatus(await exchange(proxy.url, get('/v1/myip'))), 200)
})

t.test('an IPv6 address to listen on', async (t) => {
  const proxy = await openProxy(fakeSallyport(), { ...LOOPBACK, listen: '[::1]:0' }).catch(() => undefined)
  if (proxy === undefined) return void t.pass('skipped: this machine has no IPv6 loopback', { skip: true })
  t.match(proxy.url, /^http:\/\/\[::1\]:\d+$/)
  t.equal((await fetch(`${proxy.url}/v1/myip`)).status, 200)
  await proxy.close('cut')
})
