import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createSecure } from 'node:https'
import { join } from 'node:path'
import type { ServiceEvent } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import t, { type Test } from 'tap'
import { createRoutes } from '../src/gate/routes.ts'
import { openProxy, type ProxyHost } from '../src/index.ts'
import { createMembers } from '../src/origin/members.ts'
import { type BeforeOptions, GONE, openNamed, openOrigin, proxyBefore } from './behind.ts'
import { certificateFolder, makeCertificate, NO_OPENSSL } from './certificate.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { handshake } from './tunnels.ts'
import { exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

async function openRoutes(t: Test, options: BeforeOptions) {
  const before = await proxyBefore(t, OK, { upstream: undefined, ...options })
  const { url } = before
  const ask = (host: string, target: string, ...fields: readonly string[]): Promise<string> =>
    exchange(url, get(target, ...fields).replace('site.example', host))
  const body = async (host: string, target = '/'): Promise<string> =>
    (await ask(host, target)).replace(/^[\s\S]*\r\n\r\n/, '')
  return { ...before, ask, body }
}

t.test('the nearest host, then the longest path', async (t) => {
  const rows = [
    { id: 'rest' },
    { id: 'shop', host: 'shop.example' },
    { id: 'cart', host: 'shop.example', path: '/cart' },
    { id: 'below', host: '*.shop.example' },
    { id: 'farther', host: '*.example' },
    { id: 'api', path: '/api/' },
  ]
  const { find } = createRoutes(rows)
  const first = (host: string, target: string): string | undefined => find(host, target)?.[0]?.id
  t.equal(first('shop.example', '/'), 'shop')
  t.equal(first('SHOP.example.:8080', '/cart/1?x'), 'cart')
  t.equal(first('shop.example', '/cartoon'), 'shop', 'by whole segments')
  t.equal(first('a.shop.example', '/cart'), 'below')
  t.equal(first('a.b.shop.example', '/'), 'below')
  t.equal(first('other.example', '/api'), 'farther', 'a host goes before a path')
  t.equal(first('elsewhere.test', '/api/x'), 'api')
  t.equal(first('elsewhere.test', '/apix'), 'rest')
  t.match(find('shop.example', '/cart'), [{ id: 'cart' }, { id: 'shop' }, { id: 'farther' }, { id: 'rest' }])
  t.equal(createRoutes(rows.slice(1, 4)).find('elsewhere.test', '/'), undefined, 'no route has the host')
  t.same(createRoutes([{ host: 'a', path: '/x' }]).find('a', '/'), [])
})

t.test('several sites, and parts of them', async (t) => {
  const [shop, cart, rest] = [await openNamed(t, 'shop'), await openNamed(t, 'cart'), await openNamed(t, 'rest')]
  const { body } = await openRoutes(t, {
    upstream: rest.url,
    routes: [
      { host: 'shop.example', upstreams: [shop.url] },
      { host: 'shop.example', path: '/cart', upstreams: [cart.url] },
      { host: 'shop.example', path: '/events', stream: true },
    ],
  })
  t.equal(await body('shop.example'), 'shop')
  t.equal(await body('shop.example', '/cart/1'), 'cart')
  t.equal(await body('shop.example', '/events'), 'shop', 'a part without servers has those of its site')
  t.equal(await body('elsewhere.test'), 'rest')
})

t.test('a site that is not served is 421, a path that is not is 404, and the API is everywhere', async (t) => {
  const shop = await openNamed(t, 'shop')
  const { ask } = await openRoutes(t, { routes: [{ host: 'shop.example', path: '/a', upstreams: [shop.url] }] })
  t.match(await ask('elsewhere.test', '/a'), /^HTTP\/1\.1 421 [\s\S]*"error":"misdirected_request"/)
  t.equal(readStatus(await ask('shop.example', '/')), 404)
  t.equal(readStatus(await ask('shop.example', '/a/b')), 200)
  t.equal(readStatus(await ask('elsewhere.test', '/v1/x')), 200)
})

t.test('servers take turns, and one that is not there costs no request and is left out', async (t) => {
  const servers = [await openNamed(t, 'a'), await openNamed(t, 'b')]
  const upstreams = [...servers.map(({ url }) => url), GONE]
  const { url, body, notices } = await openRoutes(t, { routes: [{ upstreams }] })
  const seen: string[] = []
  while (seen.length < 12) seen.push(await body('x'))
  t.same(new Set(seen), new Set(['a', 'b']))
  t.same(notices, [`the origin ${GONE} failed 3 times in a row and is skipped for 10 s`])
  t.not(await body('x'), await body('x'))
  const client = await send(url, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody`)
  t.match(await readUntil(client, /[ab]$/), /^HTTP\/1\.1 200 /, 'a body that is here as a whole goes on too')
  client.destroy()
  const none = await openRoutes(t, { routes: [{ upstreams: [GONE, 'http://127.0.0.1:2'] }] })
  t.equal(readStatus(await none.ask('x', '/')), 502, 'once each server was tried')
  t.equal(none.errors.length, 1)
  const up = await openOrigin(t, 'HTTP/1.1 418 No\r\nContent-Length: 0\r\n\r\n')
  const tunnels = await openRoutes(t, { routes: [{ upstreams: [GONE, up.url] }] })
  for (let turn = 0; turn < 2; turn++)
    t.equal(readStatus(await exchange(tunnels.url, handshake())), 418, 'a WebSocket goes to the next server')
})

const TWO = ['http://a', 'http://b'].map((text) => ({
  address: { text, url: new URL(text) },
  connections: undefined as never,
}))

t.test('a server is left out for longer each time, until it answers', async (t) => {
  let now = 0
  const lines: string[] = []
  const members = createMembers(TWO, { clock: { now: () => now }, onNotice: (line) => lines.push(line) })
  const [one] = members.all
  const names = (): readonly (string | undefined)[] => [1, 2, 3, 4].map(() => members.next()?.address.text)
  const gone = Object.assign(new Error('gone'), { code: 'ECONNREFUSED' })
  for (let count = 0; count < 3; count++) one?.failed(gone, '/')
  t.same(new Set(names()), new Set(['http://b']))
  now = 10_000
  t.same(new Set(names()), new Set(['http://a', 'http://b']), 'tried again')
  one?.failed(gone, '/')
  now += 19_999
  t.same(new Set(names()), new Set(['http://b']), 'one more failure is enough')
  now += 1
  one?.succeeded('/')
  one?.failed(gone, '/')
  one?.failed(gone, '/')
  t.ok(one?.up, 'an answer counts from the start')
  for (const member of members.all) for (let count = 0; count < 3; count++) member.failed(gone, '/')
  t.equal(new Set(names()).size, 2, 'where all are left out, all are tried')
  t.equal(members.next(new Set(members.all)), undefined)
  t.match(lines[1], /is skipped for 20 s$/)
})

t.test('a page that fails is no server that fails, unless another server answers it', async (t) => {
  const [one, two] = createMembers(TWO, { clock: { now: () => 0 } }).all
  const late = Object.assign(new Error('late'), { code: 'ETIMEDOUT' })
  for (let count = 0; count < 9; count++) one?.failed(late, `/page?turn=${count}`)
  one?.failed(late, '/other')
  t.ok(one?.up, 'two pages')
  two?.failed(late, '/page')
  t.ok(one?.up && two?.up, 'another server fails of it too')
  two?.succeeded('/page')
  one?.failed(late, '/page')
  t.notOk(one?.up, 'another server answers it')
  for (const path of ['/x', '/y', '/z']) two?.failed(late, path)
  t.notOk(two?.up, 'three pages in a row')
})

t.test('health checks', async (t) => {
  let well = true
  const asked: string[] = []
  const site = createServer((request, response) => {
    asked.push(`${request.url} ${request.headers['user-agent']}`)
    response.writeHead(request.url === '/healthz' && !well ? 503 : 200, { 'content-length': 5 }).end('first')
  })
  const url = `http://127.0.0.1:${await listening(t, site)}`
  const second = await openNamed(t, 'second')
  const health = { path: '/healthz', interval: 20, timeout: 5_000 }
  const raised: ServiceEvent[] = []
  const sallyport = Object.assign(fakeSallyport(), { raise: (event: ServiceEvent) => void raised.push(event) })
  const { body, notices } = await openRoutes(t, { sallyport, routes: [{ upstreams: [url, second.url], health }] })
  await until(() => asked.length > 1)
  t.equal(asked[0], '/healthz sallyport')
  well = false
  await until(() => notices.length === 1)
  t.equal(notices[0], `the origin ${url} fails its health checks`)
  t.same([await body('x'), await body('x')], ['second', 'second'])
  well = true
  await until(() => notices.length === 2)
  t.same(new Set([await body('x'), await body('x')]), new Set(['first', 'second']))
  t.match(raised[0], { kind: 'origin', about: url, details: { reason: 'health checks' } })
  t.match(raised[1], { about: url, over: true })
})

t.test('a health check whose answer never ends has failed', async (t) => {
  const origin = await openOrigin(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const dripping = setInterval(() => socket.write('1\r\n.\r\n'), 10)
    socket.once('close', () => clearInterval(dripping))
  })
  const health = { path: '/healthz', interval: 5, timeout: 60 }
  const { notices } = await openRoutes(t, { routes: [{ upstreams: [origin.url], health }] })
  await until(() => notices.length === 1)
  t.same(notices, [`the origin ${origin.url} fails its health checks`])
})

t.test('a socket of this machine, also for a WebSocket', async (t) => {
  const path = join(certificateFolder(t), 's')
  const site = createServer((request, response) => response.end(`unix ${request.headers.host}`))
  site.on('upgrade', (_, socket) => socket.end('HTTP/1.1 418 No\r\nContent-Length: 0\r\n\r\n'))
  site.listen(path)
  await once(site, 'listening')
  t.teardown(() => void site.close().closeAllConnections())
  const { body, proxy, url } = await openRoutes(t, { upstream: `unix:${path}` })
  t.match(await body('a.example'), /unix a\.example/)
  t.equal(proxy.upstream, `unix:${path}`)
  t.equal(readStatus(await exchange(url, handshake())), 418)
})

t.test('https servers, by authorities of their own and by their own names', { skip: NO_OPENSSL }, async (t) => {
  const folder = certificateFolder(t)
  const { cert, key } = makeCertificate(folder, ['localhost'])
  const site = createSecure({ cert: readFileSync(cert), key: readFileSync(key) }, (request, response) =>
    response.end(`host ${request.headers.host}`),
  )
  const url = `https://localhost:${await listening(t, site)}`
  const { ask, body } = await openRoutes(t, {
    routes: [
      { host: 'a.example', upstreams: [url], ca: cert },
      { host: 'b.example', upstreams: [url], ca: cert, hostHeader: 'origin' },
      { host: 'c.example', upstreams: [url] },
    ],
  })
  t.equal(await body('a.example'), 'host a.example')
  t.equal(await body('b.example'), `host ${new URL(url).host}`)
  t.equal(readStatus(await ask('c.example', '/')), 502, 'an authority that nobody trusts')
})

t.test('a policy of one route, and times', async (t) => {
  const origin = await openOrigin(t, (socket, head) => void (head.startsWith('GET /slow') || socket.write(OK)))
  const { ask } = await openRoutes(t, {
    upstream: origin.url,
    timeouts: { idleBody: 2_000, originHeaders: 200 },
    routes: [
      { host: 'open.example', mode: 'monitor' },
      { path: '/slow/very', timeouts: { originHeaders: 1_500 } },
    ],
  })
  const blocked = `X-Forwarded-For: ${VISITOR.blocked}`
  t.equal(readStatus(await ask('site.example', '/', blocked)), 403)
  t.equal(readStatus(await ask('open.example', '/', blocked)), 200)
  const began = performance.now()
  t.equal(readStatus(await ask('site.example', '/slow')), 504)
  const first = performance.now() - began
  t.equal(readStatus(await ask('site.example', '/slow/very')), 504)
  t.ok(performance.now() - began - first > 1_000, 'the route has a longer time')
})

t.test('routes that cannot be meant', async (t) => {
  const noCertificate = join(t.testdir(), 'ca.pem')
  writeFileSync(noCertificate, 'nothing')
  for (const [route, message] of [
    [{ upstreams: ['ftp://a'] }, /^routes\.0\.upstreams: "ftp:\/\/a" is not an origin/],
    [{ upstreams: ['http://a/path'] }, /is not an origin/],
    [{ upstreams: ['unix:relative'] }, /is not an origin/],
    [{ upstreams: ['https://a'], ca: '/nowhere/ca.pem' }, /^routes\.0\.ca: \/nowhere\/ca\.pem does not exist/],
    [{ upstreams: ['https://a'], ca: noCertificate }, /contains no certificate in PEM/],
    [{ upstreams: ['http://a'], policy: { preset: 'observe' } }, /^routes\.0: this host supports only one policy/],
  ] as const) {
    const alone: ProxyHost = Object.assign(fakeSallyport(), { decider: undefined })
    const opening = openProxy(alone, { listen: '127.0.0.1:0', routes: [route as never] })
    await t.rejects(opening, { code: 'invalid_config', message })
  }
})
