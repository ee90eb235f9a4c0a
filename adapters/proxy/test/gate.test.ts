import t from 'tap'
import { openProxy } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { dial, exchange, get, OK, openRawOrigin, readStatus, readUntil, until } from './wire.ts'

const LOOPBACK = { listen: '127.0.0.1:0', admin: '127.0.0.1:0', limits: { eventLoopDelay: '1m' } }

t.test('a block is a 403 that the origin never hears of', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const json = await exchange(url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`))
  t.equal(readStatus(json), 403)
  t.match(json, '"error":"request_blocked"')
  const html = await exchange(url, get('/', `X-Forwarded-For: ${VISITOR.blocked}`, 'Accept: text/html,*/*;q=0.8'))
  t.match(html, '<!doctype html>')
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10000000\r\n'
  t.equal(readStatus(await exchange(url, `${post}X-Forwarded-For: ${VISITOR.blocked}\r\n\r\nsome`)), 403)
  t.strictSame(origin.received, [])
})

t.test('every decision is reported', async (t) => {
  const told: string[] = []
  const { url } = await proxyBefore(t, OK, {
    onDecision: ({ action }, { target }) => told.push(`${action} ${target}`),
  })
  await exchange(url, get('/a', `X-Forwarded-For: ${VISITOR.blocked}`))
  await exchange(url, get('/b', `X-Forwarded-For: ${VISITOR.flagged}`))
  t.strictSame(told, ['block /a', 'flag /b'])
})

t.test('the API answers where it is mounted', async (t) => {
  const places = [
    { api: {}, ours: ['/v1', '/v1/myip?x=1', '/v1/'], theirs: ['/v10', '/', '/api/v1/myip'] },
    { api: { base: '/api' }, ours: ['/api/v1', '/api/v1/myip'], theirs: ['/v1/myip', '/apiv1', '/api', '/api/v10'] },
    { api: { enabled: false }, ours: [], theirs: ['/v1/myip', '/v1'] },
  ]
  for (const { api, ours, theirs } of places) {
    const { url, origin } = await proxyBefore(t, OK, { api })
    for (const target of ours) {
      const path = target.slice((api.base ?? '').length).split('?')[0]
      t.match(await exchange(url, get(target)), `"path":"${path}"`, target)
    }
    t.strictSame(origin.received, [])
    for (const target of theirs) {
      await exchange(url, get(target))
      t.match(origin.heads.at(-1), `GET ${target} HTTP/1.1\r\n`, target)
    }
  }
})

t.test('a body for the API is read, also after 100 Continue', async (t) => {
  const { url } = await proxyBefore(t, OK)
  const client = await dial(url)
  client.write(
    'POST /v1/x HTTP/1.1\r\nHost: a\r\nContent-Length: 7\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
  )
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 100 /)
  const answer = readUntil(client)
  client.write('{"a":1}')
  t.match(await answer, '"body":{"a":1}')
})

t.test('a bug is a 500 without detail, reported to the operator', async (t) => {
  const broken = fakeSallyport()
  const errors: unknown[] = []
  const bug = new TypeError('a secret')
  const host = {
    ...broken,
    decide: () => {
      throw bug
    },
    api: () => Promise.reject(bug),
  }
  const origin = await openRawOrigin(OK)
  const onFault = (error: unknown): void => void errors.push(error)
  const proxy = await openProxy(host, { ...LOOPBACK, upstream: origin.url, onFault })
  t.teardown(() => Promise.all([proxy.close(), origin.close()]))
  for (const target of ['/', '/v1/myip']) {
    const answer = await exchange(proxy.url, get(target))
    t.equal(readStatus(answer), 500)
    t.match(answer, '"error":"internal_error"')
    t.notMatch(answer, 'secret')
  }
  t.strictSame(errors, [bug, bug])
  t.strictSame(origin.received, [])
})

t.test('a head that is refused ends the connection, and nobody is asked', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const second = get('/second')
  const heads: Readonly<Record<string, number>> = {
    'GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n': 400,
    'GET /x/../admin HTTP/1.1\r\nHost: a\r\n\r\n': 400,
    'GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n': 400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n': 501,
    'GET / HTTP/1.1\r\nHost: a\r\nExpect: a-miracle\r\n\r\n': 417,
    'TRACE / HTTP/1.1\r\nHost: a\r\n\r\n': 405,
    'GET / HTTP/2.0\r\nHost: a\r\n\r\n': 505,
    'GET /a\r\n\r\n': 505,
    'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n': 400,
    'GET / HTTP/1.1\r\nHost: a\r\nX : b\r\n\r\n': 400,
    'GET / HTTP/1.1\r\n\r\n': 400,
  }
  for (const [head, status] of Object.entries(heads)) {
    const answer = await exchange(url, head + second)
    t.equal(readStatus(answer), status, JSON.stringify(head))
    t.equal(answer.split('HTTP/1.1 ').length, 2, 'one answer')
  }
  t.strictSame(origin.received, [])
})

t.test('pipelined requests take turns', async (t) => {
  let atOnce = 0
  let most = 0
  const { url } = await proxyBefore(t, (socket) => {
    most = Math.max(most, ++atOnce)
    setTimeout(() => {
      atOnce -= 1
      socket.write(OK)
    }, 20)
  })
  const keep = (target: string) => get(target).replace('Connection: close\r\n', '')
  const answers = await exchange(url, keep('/1') + keep('/2') + get('/3'))
  t.equal(answers.split('HTTP/1.1 200').length, 4)
  t.equal(most, 1)

  const stuck = await proxyBefore(t, () => {})
  const client = await dial(stuck.url)
  client.write(keep('/1') + keep('/2'))
  await until(() => stuck.origin.heads.length === 1)
  client.destroy()
  await until(() => stuck.origin.open() === 0)
  t.equal(stuck.origin.heads.length, 1, 'what waited in line is not sent on')
})

t.test('no field is out of sight, however many there are', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const many = (count: number) => Array.from({ length: count }, (_, i) => `A${i}:`)
  // Host, Connection and the last field make three.
  t.equal(readStatus(await exchange(url, get('/', ...many(97), `X-Forwarded-For: ${VISITOR.blocked}`))), 403)
  for (const count of [98, 1_100, 1_500]) {
    t.equal(readStatus(await exchange(url, get('/', ...many(count), `X-Forwarded-For: ${VISITOR.blocked}`))), 431)
  }
  t.equal(readStatus(await exchange(url, get('/', `X: ${'a'.repeat(17_000)}`))), 431, 'and 16 KiB is Node’s own limit')
  t.strictSame(origin.received, [])
})

t.test('OPTIONS * is about this server', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const answer = await exchange(url, 'OPTIONS * HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 204 [\s\S]*allow: GET, HEAD/)
  t.strictSame(origin.received, [])
})

t.test('a header that names one client is refused where it comes twice; a list in several lines is not', async (t) => {
  const sallyport = fakeSallyport({ clientHeader: 'x-real-ip' })
  const origin = await openRawOrigin(OK)
  const proxy = await openProxy(sallyport, {
    listen: '127.0.0.1:0',
    admin: '127.0.0.1:0',
    upstream: origin.url,
    timeouts: { drain: 0 },
    clientHeader: 'x-real-ip',
  })
  t.teardown(async () => {
    await proxy.close()
    await origin.close()
  })
  const twice = await exchange(proxy.url, get('/', `X-Real-IP: ${VISITOR.allowed}`, `X-Real-IP: ${VISITOR.blocked}`))
  t.match(twice, /^HTTP\/1\.1 400 [\s\S]*x-real-ip may be sent once only/)
  t.equal(readStatus(await exchange(proxy.url, get('/', `X-Real-IP: ${VISITOR.allowed}`))), 200)
  const lines = [`X-Forwarded-For: ${VISITOR.allowed}`, `X-Forwarded-For: ${VISITOR.allowed}`]
  const list = await proxyBefore(t, OK)
  t.equal(readStatus(await exchange(list.url, get('/', ...lines))), 200)
})
