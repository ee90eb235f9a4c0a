import { fetchText } from '@sallyport/core'
import { createFakeDns, makeAddress } from '@sallyport/core/testing'
import t from 'tap'
import { createDns, createFetch } from '../../src/net/index.ts'
import { openNameServer } from './name-server.ts'
import { openWebServer } from './web-server.ts'

const REQUEST = { maxBytes: 10_000, timeoutMs: 5_000 }
const NO_NAMES = createFakeDns({})
/** A way out that may go to this machine. */
const inward = createFetch({ dns: NO_NAMES, allowPrivate: ['127.0.0.0/8'] })

const foundAt = (...texts: readonly string[]) => ({ state: 'found', addresses: texts.map(makeAddress) }) as const

/** Every way to write loopback that some program reads as loopback. */
const LOOPBACK = (
  '127.0.0.1 127.0.0.1. 127.1 0x7f.1 0x7f000001 2130706433 0177.0.0.1 017700000001 %31%32%37.0.0.1 ' +
  '１２７.0.0.1 127。0。0。1 0 0.0.0.0 [::1] [::ffff:127.0.0.1] [::ffff:7f00:1] [0:0:0:0:0:ffff:7f00:1] ' +
  '[::127.0.0.1] [::] [64:ff9b::127.0.0.1] [2002:7f00:1::]'
).split(' ')

const INSIDE = ['10.0.0.1', '169.254.169.254', '100.64.0.1', '192.168.0.1', '[fd00::1]', '[fe80::1]', '[ff02::1]']

t.test('an address that is not public is refused however it is written', async (t) => {
  const server = await openWebServer(t, (_request, response) => response.end('secret'))
  const outbound = createFetch({ dns: NO_NAMES })
  for (const host of [...LOOPBACK, ...INSIDE]) {
    const answer = await outbound.fetch({ ...REQUEST, url: `http://${host}:${server.port}/`, allowHttp: true })
    t.match(answer, { state: 'failed', reason: /is not a public address$/ }, host)
  }
  t.equal(server.connections(), 0)
})

t.test('a target that is no URL of http or https is refused', async (t) => {
  const outbound = createFetch({ dns: NO_NAMES, allowPrivate: ['::/0', '0.0.0.0/0'] })
  const urls = ['', 'x', '/x', 'file:///etc/passwd', 'ftp://example.org/', 'data:,x', 'http://', 'http://a b/']
  for (const url of [...urls, 'http://[fe80::1%25eth0]/', 'http://[::1%lo]/', 'http://256.0.0.1/', 'http://h:99999/']) {
    const answer = await outbound.fetch({ ...REQUEST, url, allowHttp: true })
    t.match(answer, { state: 'failed', reason: /is not a URL$|is not http or https$/ }, url)
  }
  const named = await outbound.fetch({ ...REQUEST, url: 'https://user:word@example.org/' })
  t.match(named, { state: 'failed', reason: 'the URL contains a user name or password' })
})

t.test('plain http needs the caller or net.allowPrivate, and is refused before anything is dialled', async (t) => {
  const answer = await createFetch({ dns: NO_NAMES }).fetch({ ...REQUEST, url: 'http://8.8.8.8/' })
  t.match(answer, { state: 'failed', reason: '8.8.8.8: plain http is not permitted' })
  const server = await openWebServer(t, (_request, response) => response.end('fixture'))
  t.match(await fetchText(inward, { ...REQUEST, url: server.origin }), { status: 200, body: 'fixture' })
})

t.test('net.allowPrivate opens what it names and nothing beside it', async (t) => {
  const server = await openWebServer(t, (_request, response) => response.end('fixture'))
  const outbound = createFetch({ dns: NO_NAMES, allowPrivate: ['127.0.0.1/32'] })
  t.match(await outbound.fetch({ ...REQUEST, url: `http://127.0.0.2:${server.port}` }), { state: 'failed' })
  t.match(await outbound.fetch({ ...REQUEST, url: `http://[::1]:${server.port}` }), { state: 'failed' })
  t.match(await fetchText(outbound, { ...REQUEST, url: `http://[::ffff:7f00:1]:${server.port}` }), { status: 200 })
  for (const text of ['127.0.0.1', 'loopback', '10.0.0.0/33', '']) {
    const wrong = () => createFetch({ dns: NO_NAMES, allowPrivate: ['10.0.0.0/8', text] })
    t.throws(wrong, { code: 'invalid_config', message: `configuration: net.allowPrivate: "${text}" is not a CIDR` })
  }
})

t.test('one inside address among the answers refuses the name', async (t) => {
  const server = await openWebServer(t, (_request, response) => response.end('secret'))
  const names = { 'mixed.example.org': foundAt('127.0.0.1', '10.0.0.1'), 'inside.example.org': foundAt('127.0.0.1') }
  const dns = createFakeDns(names)
  const outbound = createFetch({ dns, allowPrivate: ['127.0.0.0/8'] })
  const mixed = await outbound.fetch({ ...REQUEST, url: `http://mixed.example.org:${server.port}/` })
  t.match(mixed, { state: 'failed', reason: 'mixed.example.org resolves to 10.0.0.1, which is not a public address' })
  t.equal(server.connections(), 0)
  const allowed = await fetchText(outbound, { ...REQUEST, url: `http://inside.example.org:${server.port}/` })
  t.match(allowed, { status: 200, body: 'secret' })
})

t.test('our DNS alone resolves names, and a missing name differs from a failed question', async (t) => {
  const dns = createFakeDns({ 'lame.example.org': { state: 'failed', reason: 'ESERVFAIL' } })
  const outbound = createFetch({ dns, allowPrivate: ['127.0.0.0/8', '::1/128'] })
  for (const host of ['localhost', 'localhost.', 'ip6-localhost', 'absent.example.org']) {
    const answer = await outbound.fetch({ ...REQUEST, url: `http://${host}/` })
    t.match(answer, { state: 'failed', reason: `${host}: the name does not exist` })
  }
  const lame = await outbound.fetch({ ...REQUEST, url: 'https://lame.example.org/' })
  t.match(lame, { state: 'failed', reason: 'lame.example.org: ESERVFAIL' })
})

t.test('a name that changes its address: asked once a request, and what was checked is what is dialled', async (t) => {
  const outside = await openWebServer(t, (_request, response) => response.end('public'))
  const inside = await openWebServer(t, (_request, response) => response.end('secret'), '127.0.0.2')
  let asked = 0
  const names = await openNameServer(t, (type) => {
    if (type !== 'A') return []
    return [asked++ % 2 === 0 ? '127.0.0.1' : '127.0.0.2']
  })
  const dns = createDns({ servers: [names.address], timeoutMs: 5_000 })
  const outbound = createFetch({ dns, allowPrivate: ['127.0.0.1/32'] })
  const url = `http://rebinding.example.org:${outside.port}/`
  t.match(await fetchText(outbound, { ...REQUEST, url }), { status: 200, body: 'public' })
  t.equal(asked, 1)
  const reason = /127\.0\.0\.2, which is not a public address$/
  t.match(await fetchText(outbound, { ...REQUEST, url }), { state: 'failed', reason })
  t.equal(inside.connections(), 0)
})

t.test('a peer that is not one of the addresses that were checked is not spoken to', async (t) => {
  const server = await openWebServer(t, (_request, response) => response.end('secret'))
  // The system takes the unspecified address for its own: what was checked is not what is connected.
  const outbound = createFetch({ dns: NO_NAMES, allowPrivate: ['0.0.0.0/32'] })
  const answer = await outbound.fetch({ ...REQUEST, url: `http://0.0.0.0:${server.port}/` })
  const reason = '0.0.0.0: the connection has an address that was not checked'
  t.match(answer, { state: 'failed', reason })
  await server.idle()
  t.strictSame([server.connections(), server.asked.length], [1, 0], 'connected, and not asked anything')
})

t.test('a redirect is an answer unless redirects are asked for', async (t) => {
  const server = await openWebServer(t, ({ url }, response) => {
    if (url === '/end') response.end('arrived')
    else response.writeHead(302, { location: url === '/loop' ? '/loop' : '/end' }).end()
  })
  t.match(await fetchText(inward, { ...REQUEST, url: `${server.origin}/start` }), { status: 302 })
  const followed = await fetchText(inward, { ...REQUEST, url: `${server.origin}/start`, redirects: 1 })
  t.match(followed, { status: 200, body: 'arrived' })
  const loop = await fetchText(inward, { ...REQUEST, url: `${server.origin}/loop`, redirects: 2 })
  t.match(loop, { status: 302, headers: { location: '/loop' } })
  t.equal(server.asked.filter(({ url }) => url === '/loop').length, 3)
  await server.idle()
})

t.test('every redirect is checked again', async (t) => {
  const inside = await openWebServer(t, (_request, response) => response.end('secret'), '127.0.0.2')
  const dns = createFakeDns({ 'inside.example.org': foundAt('127.0.0.2') })
  const outbound = createFetch({ dns, allowPrivate: ['127.0.0.1/32'] })
  const hosts = ['127.0.0.2', '0x7f.2', '2130706434', '0177.0.0.2', '[::ffff:7f00:2]', 'inside.example.org']
  const elsewhere = hosts.flatMap((host) => [`http://${host}:${inside.port}/`, `//${host}:${inside.port}/`])
  const odd = ['http://8.8.8.8/', 'file:///etc/passwd', 'http://', 'http://user:word@127.0.0.1/']
  for (const location of [...elsewhere, ...odd]) {
    const server = await openWebServer(t, (_request, response) => response.writeHead(307, { location }).end())
    const answer = await outbound.fetch({ ...REQUEST, url: server.origin, redirects: 5 })
    t.equal(answer.state, 'failed', location)
    if (location === 'http://8.8.8.8/') t.match(answer, { reason: '8.8.8.8: plain http is not permitted' })
    if (location.includes('@')) t.match(answer, { reason: 'the URL contains a user name or password' })
    await server.idle()
  }
  t.equal(inside.connections(), 0)
})

t.test('fields that are for one origin do not go along to another', async (t) => {
  const other = await openWebServer(t, (_request, response) => response.end())
  const server = await openWebServer(t, ({ url }, response) => {
    response.writeHead(302, { location: url === '/same' ? '/again' : other.origin }).end()
  })
  const headers = { Authorization: 'Bearer secret', Cookie: 'a=b', Accept: 'text/plain' }
  await fetchText(inward, { ...REQUEST, url: `${server.origin}/same`, headers, redirects: 2 })
  const told = [...server.asked, ...other.asked].map((request) => request.headers.authorization)
  t.strictSame(told, ['Bearer secret', 'Bearer secret', undefined])
  t.match(other.asked[0]?.headers, { accept: 'text/plain', cookie: undefined })
})

t.test('no proxy of the environment and no cookie', async (t) => {
  const server = await openWebServer(t, (_request, response) => {
    response.writeHead(200, { 'set-cookie': 'a=b' }).end()
  })
  for (const name of ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'NODE_USE_ENV_PROXY']) {
    const before = process.env[name]
    process.env[name] = name === 'NODE_USE_ENV_PROXY' ? '1' : 'http://127.0.0.1:1'
    t.teardown(() => {
      if (before === undefined) delete process.env[name]
      else process.env[name] = before
    })
  }
  for (const _ of [1, 2]) t.match(await fetchText(inward, { ...REQUEST, url: server.origin }), { status: 200 })
  for (const { headers } of server.asked) t.equal(headers.cookie, undefined)
})
