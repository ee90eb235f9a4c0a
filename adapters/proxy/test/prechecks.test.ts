import t from 'tap'
import { precheck, type RequestHead } from '../src/gate/prechecks.ts'

const HEAD: RequestHead = { httpVersion: '1.1', method: 'GET', target: '/', fields: ['Host', 'site.example'] }
const KEY = 'dGhlIHNhbXBsZSBub25jZQ=='
const ASKED = ['Connection', 'keep-alive, Upgrade', 'Upgrade', 'websocket', 'Sec-WebSocket-Version']
const WEBSOCKET = [...ASKED, '13', 'Sec-WebSocket-Key', KEY]

function readStatus(change: Partial<RequestHead>, ...fields: readonly string[]): number | undefined {
  const head = { ...HEAD, ...change }
  return precheck({ ...head, fields: [...head.fields, ...fields] })?.status
}

t.test('heads that pass', async (t) => {
  const targets = [
    '/',
    '/a/b?c=d&e=%20',
    '/a%2Fb',
    '/a//b',
    '//index.php',
    '///',
    '/repo/./InRelease',
    '/keyword/%C0%B5%B5%AC%C9%BD%B8%BD',
    '/x;v=1,2',
    "/it's(fine)!",
    '/@user/~me',
    '/a[0]|b^c',
    '/%E2%82%AC',
    '/?filter[name]=x|y',
    '/?q=100%',
    '/?{"a"}'.replaceAll('"', ''),
    '/?a=b?c',
    '/?%00',
    '/?a\\b',
  ]
  for (const target of targets) t.equal(readStatus({ target }), undefined, target)
  const hosts = ['site.example', 'site.example:8080', 'my_host', '192.0.2.1:80', '[2001:db8::1]', '[::1]:8080']
  for (const host of hosts) t.equal(readStatus({ fields: ['host', host] }), undefined, host)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    t.equal(readStatus({ method }), undefined, method)
  }
  t.equal(readStatus({ method: 'OPTIONS', target: '*' }), undefined, 'OPTIONS *')
  t.equal(readStatus({ httpVersion: '1.0', fields: [] }), undefined, 'HTTP/1.0 without Host')
  t.equal(readStatus({}, 'Transfer-Encoding', 'Chunked', 'Trailer', 'X-Sum'), undefined, 'chunked with a trailer')
  // A server in front that speaks HTTP/2 passes the field on with a length.
  t.equal(
    readStatus({ method: 'POST' }, 'Content-Length', '2', 'Trailer', 'X-Sum'),
    undefined,
    'a trailer that never comes',
  )
  t.equal(readStatus({}, 'Content-Length', '0010'), undefined, 'a length with zeros')
  t.equal(readStatus({}, 'Connection', 'keep-alive, X-Mine', 'Expect', '100-Continue'), undefined, 'connection, expect')
  t.equal(readStatus({}, ...WEBSOCKET), undefined, 'websocket')
})

const REFUSED: readonly (readonly [name: string, status: number, change: Partial<RequestHead>, ...fields: string[]])[] =
  [
    ['HTTP/0.9', 505, { httpVersion: '0.9' }],
    ['HTTP/2.0 in HTTP/1 bytes', 505, { httpVersion: '2.0' }],
    ['CONNECT', 405, { method: 'CONNECT', target: 'site.example:443' }],
    ['TRACE', 405, { method: 'TRACE' }],
    ['no Host', 400, { fields: [] }],
    ['two Hosts', 400, {}, 'host', 'other.example'],
    ['the same Host twice', 400, {}, 'HOST', 'site.example'],
    ['an empty Host', 400, { fields: ['Host', ''] }],
    ['a Host with userinfo', 400, { fields: ['Host', 'user@site.example'] }],
    ['a Host with a path', 400, { fields: ['Host', 'site.example/x'] }],
    ['a list of Hosts', 400, { fields: ['Host', 'a.example, b.example'] }],
    ['an absolute target', 400, { target: 'http://site.example/' }],
    ['* with GET', 400, { target: '*' }],
    ['a backslash', 400, { target: '/\\admin' }],
    ['an escaped backslash', 400, { target: '/x%5cadmin' }],
    ['a dot segment', 400, { target: '/x/../admin' }],
    ['an escaped dot segment', 400, { target: '/x/%2e%2e/admin' }],
    ['a dot segment with a parameter', 400, { target: '/public/..;/admin' }],
    ['a dot segment that is escaped twice', 400, { target: '/x/%252e%252e/admin' }],
    ['a fragment', 400, { target: '/admin#x' }],
    ['a fragment in a query', 400, { target: '/?a#x' }],
    ['an escaped NUL', 400, { target: '/a%00b' }],
    ['a percent sign that starts no escape', 400, { target: '/a%2' }],
    ['an escape that is no hex', 400, { target: '/a%zz' }],
    ['an overlong slash', 400, { target: '/a%C0%AFb' }],
    ['bytes over ASCII', 400, { target: '/caf\u00e9' }],
    ['angle brackets in a query', 400, { target: '/?a=<b>' }],
    ['an endless target', 414, { target: `/${'a'.repeat(8192)}` }],
    ['TE and CL', 400, {}, 'Transfer-Encoding', 'chunked', 'Content-Length', '5'],
    ['TE in HTTP/1.0', 400, { httpVersion: '1.0' }, 'Transfer-Encoding', 'chunked'],
    ['TE with an empty element', 501, {}, 'Transfer-Encoding', ',chunked'],
    ['TE with gzip', 501, {}, 'Transfer-Encoding', 'gzip, chunked'],
    ['TE twice', 501, {}, 'Transfer-Encoding', 'chunked', 'transfer-encoding', 'chunked'],
    ['TE identity', 501, {}, 'Transfer-Encoding', 'identity'],
    ['a length with a sign', 400, {}, 'Content-Length', '+5'],
    ['a length with a point', 400, {}, 'Content-Length', '5.0'],
    ['two lengths', 400, {}, 'Content-Length', '5', 'Content-Length', '5'],
    ['two User-Agents', 400, {}, 'User-Agent', 'a', 'user-agent', 'b'],
    ['two Authorizations', 400, {}, 'Authorization', 'a', 'Authorization', 'b'],
    ['two Content-Types', 400, {}, 'Content-Type', 'a/b', 'Content-Type', 'c/d'],
    ['an unknown expectation', 417, {}, 'Expect', 'a-miracle'],
    ['an upgrade by POST', 400, { method: 'POST' }, ...WEBSOCKET],
    ['another WebSocket version', 426, {}, ...ASKED, '8', 'Sec-WebSocket-Key', KEY],
    ['a short WebSocket key', 400, {}, ...ASKED, '13', 'Sec-WebSocket-Key', 'abc'],
    ['no WebSocket key', 400, {}, ...ASKED, '13'],
    ['101 fields', 431, {}, ...Array.from({ length: 100 }, (_, i) => [`X-${i}`, '']).flat()],
  ]

for (const [name, status, change, ...fields] of REFUSED) {
  t.test(`refused: ${name}`, async (t) => t.equal(readStatus(change, ...fields), status))
}

t.test('a refusal says what is wrong with the path', async (t) => {
  const targets = ['/a/../b', '/a%5Cb', '/a%00', '/100%', '/a%C0%AF', '/caf\u00e9', 'a']
  const refused = targets.map((target) => precheck({ ...HEAD, target })?.reason)
  t.same(refused, [
    'The path holds a dot segment.',
    'The path holds a backslash.',
    'The path holds a NUL.',
    'The path holds a percent sign that starts no escape.',
    'The path holds overlong UTF-8.',
    'The path has bytes that must be escaped.',
    'The target is neither a path nor the URL of one.',
  ])
})

t.test('a method that is not named reaches nobody', async (t) => {
  for (const method of ['PROPFIND', 'PURGE', 'SUBSCRIBE', 'get']) t.equal(readStatus({ method }), 405, method)
  t.equal(
    readStatus({ method: 'PROPFIND', methods: ['GET', 'PROPFIND'] }),
    undefined,
    'unless the configuration names it',
  )
  t.equal(readStatus({ method: 'PROPFIND', api: true }), undefined, 'and the API answers for itself')
  t.equal(readStatus({ method: 'TRACE', api: true }), undefined)
  t.equal(readStatus({ method: 'CONNECT', api: true }), 405)
})

t.test('an upgrade that is none of ours is as if it were absent', async (t) => {
  const asked = (upgrade: string, connection = 'Upgrade') => ['Connection', connection, 'Upgrade', upgrade]
  for (const upgrade of ['h2c', 'TLS/1.2', 'a, b', 'h2c, websocket', 'websocket, h2c', 'websocket/13', 'IRC/6.9', '']) {
    for (const body of [[], ['Content-Length', '5'], ['Transfer-Encoding', 'chunked']]) {
      t.equal(readStatus({ method: 'POST' }, ...asked(upgrade), ...body), undefined, `${upgrade} ${body}`)
    }
  }
  t.equal(readStatus({}, ...asked('websocket', 'close')), undefined, 'nor where Connection does not name it')
  t.equal(readStatus({ httpVersion: '1.0' }, ...asked('websocket')), undefined, 'nor in HTTP/1.0')
})
t.test('no path or query of the API is refused here', async (t) => {
  const long = `/v1/demo/${'a'.repeat(9_000)}`
  const targets = [
    '/v1/demo/%00',
    '/v1/demo/%zz',
    '/v1/demo/a%5cb',
    '/v1/../v1',
    '/v1/asn/directory?q="<>',
    '/v1#x',
    long,
  ]
  for (const target of targets) {
    for (const paths of ['strict', 'pass', undefined] as const) {
      t.equal(readStatus({ target, paths, api: true }), undefined, target)
    }
    t.ok(readStatus({ target }), `${target} of the origin`)
  }
  t.equal(readStatus({ target: '/v1', api: true, fields: [] }), 400, 'no Host')
  t.equal(readStatus({ target: 'http://other.example/v1', api: true }), 400)
  t.equal(readStatus({ target: '/v1', api: true }, 'Trailer', 'x'), undefined)
})

t.test('an upgrade with a body is refused', async (t) => {
  t.equal(readStatus({}, ...WEBSOCKET, 'Content-Length', '0'), undefined)
  t.equal(readStatus({}, ...WEBSOCKET, 'Content-Length', '5'), 400)
  t.equal(readStatus({}, ...WEBSOCKET, 'Transfer-Encoding', 'chunked'), 400)
})

t.test('paths may be left to the origin', async (t) => {
  const targets = ['/a/../b', '/a/%2e%2e/b', '/a\\b', '/a%00', '/a%2', '/100%', '//admin', '/a%C0%AF']
  for (const target of targets) t.equal(readStatus({ target, paths: 'pass' }), undefined, target)
  for (const target of ['http://site.example/', '/a#b', '/caf\u00e9']) {
    t.equal(readStatus({ target, paths: 'pass' }), 400, target)
  }
})

t.test('a client header of one address may be sent once, a list in several lines', async (t) => {
  const twice = ['X-Real-IP', '192.0.2.1', 'x-real-ip', '192.0.2.1']
  t.equal(readStatus({ singleHeader: 'x-real-ip' }, ...twice), 400)
  t.equal(readStatus({ singleHeader: 'x-real-ip' }, ...twice.slice(2)), undefined)
  t.equal(readStatus({}, ...twice), undefined, 'where it is not the one that is believed')
  t.equal(readStatus({}, 'X-Forwarded-For', '192.0.2.1', 'X-Forwarded-For', '192.0.2.2'), undefined)
})

t.test('100 fields pass', async (t) => {
  t.equal(readStatus({}, ...Array.from({ length: 99 }, (_, i) => [`X-${i}`, '']).flat()), undefined)
})

t.test('Connection may not take along what others rely on', async (t) => {
  const names = [
    'Host',
    'authorization',
    'Cookie',
    'content-length',
    'X-Forwarded-For',
    'sallyport-action',
    'Sec-WebSocket-Key',
  ]
  for (const name of [...names, 'SALLYPORT_ASN', 'sallyport.country']) {
    t.equal(readStatus({}, 'Connection', `close, ${name}`), 400, name)
  }
})
