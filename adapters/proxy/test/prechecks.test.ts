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
  const paths = `/ /a/b?c=d&e=%20 /a%2Fb /a//b //index.php /// /repo/./InRelease /keyword/%C0%B5%B5%AC /x;v=1,2 /it's(fine)!
    /@user/~me /a[0]|b^c /%E2%82%AC /?filter[name]=x|y /?q=100% /?{a} /?a=b?c /?%00 /?a\\b`
  for (const target of paths.split(/\s+/)) t.equal(readStatus({ target }), undefined, target)
  for (const host of ['site.example:8080', 'my_host', '192.0.2.1:80', '[2001:db8::1]', '[::1]:8080'])
    t.equal(readStatus({ fields: ['host', host] }), undefined, host)
  for (const method of ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
    t.equal(readStatus({ method }), undefined, method)
  t.equal(readStatus({ method: 'OPTIONS', target: '*' }), undefined, 'OPTIONS *')
  t.equal(readStatus({ httpVersion: '1.0', fields: [] }), undefined, 'HTTP/1.0 without Host')
  t.equal(readStatus({}, 'Transfer-Encoding', 'Chunked', 'Trailer', 'X-Sum'), undefined, 'chunked with a trailer')
  // A server in front that speaks HTTP/2 passes the field on with a length.
  t.equal(readStatus({ method: 'POST' }, 'Content-Length', '2', 'Trailer', 'X-Sum'), undefined, 'a trailer never comes')
  t.equal(readStatus({}, 'Content-Length', '0010'), undefined, 'a length with zeros')
  t.equal(readStatus({}, 'Connection', 'keep-alive, X-Mine', 'Expect', '100-Continue'), undefined, 'connection, expect')
  t.equal(readStatus({}, ...WEBSOCKET), undefined, 'websocket')
})

const REFUSED: readonly (readonly [name: string, status: number, change: Partial<RequestHead>, ...fields: string[]])[] =
  [
    ['HTTP/0.9', 505, { httpVersion: '0.9' }],
    ['CONNECT', 405, { method: 'CONNECT', target: 'site.example:443' }],
    ['two Hosts', 400, {}, 'host', 'other.example'],
    ['an empty Host', 400, { fields: ['Host', ''] }],
    ['a Host with userinfo', 400, { fields: ['Host', 'user@site.example'] }],
    ['a Host with a path', 400, { fields: ['Host', 'site.example/x'] }],
    ['TE and CL', 400, {}, 'Transfer-Encoding', 'chunked', 'Content-Length', '5'],
    ['TE with gzip', 501, {}, 'Transfer-Encoding', 'gzip, chunked'],
    ['TE twice', 501, {}, 'Transfer-Encoding', 'chunked', 'transfer-encoding', 'chunked'],
    ['a length with a sign', 400, {}, 'Content-Length', '+5'],
    ['two lengths', 400, {}, 'Content-Length', '5', 'Content-Length', '5'],
    ['an unknown expectation', 417, {}, 'Expect', 'a-miracle'],
    ['an upgrade by POST', 400, { method: 'POST' }, ...WEBSOCKET],
    ['a short WebSocket key', 400, {}, ...ASKED, '13', 'Sec-WebSocket-Key', 'abc'],
    ['no WebSocket key', 400, {}, ...ASKED, '13'],
    ['a WebSocket with a body', 400, {}, ...WEBSOCKET, 'Content-Length', '5'],
    ['a WebSocket with chunks', 400, {}, ...WEBSOCKET, 'Transfer-Encoding', 'chunked'],
  ]

t.test('heads that are refused', async (t) => {
  for (const [name, status, change, ...fields] of REFUSED) t.equal(readStatus(change, ...fields), status, name)
  const targets = `http://site.example/ * /\\admin /x%5cadmin /x/%2e%2e/admin /public/..;/admin /admin#x /a%00b /a%2
    /a%C0%AFb /caf\u00e9 /?a=<b>`
  for (const target of targets.split(/\s+/)) t.equal(readStatus({ target }), 400, target)
  for (const target of ['http://site.example/', '/a#b', '/caf\u00e9'])
    t.equal(readStatus({ target, paths: 'pass' }), 400, `${target}, where paths are left to the origin`)
  const names = 'Host authorization Cookie content-length X-Forwarded-For sallyport-asn Sec-WebSocket-Key SALLYPORT_X'
  for (const name of names.split(' '))
    t.equal(readStatus({}, 'Connection', `close, ${name}`), 400, `Connection: ${name}`)
})

t.test('a method that is not named reaches nobody', async (t) => {
  for (const method of ['PROPFIND', 'PURGE', 'SUBSCRIBE', 'get']) t.equal(readStatus({ method }), 405, method)
  t.equal(readStatus({ method: 'PROPFIND', methods: ['GET', 'PROPFIND'] }), undefined, 'unless the configuration does')
  t.equal(readStatus({ method: 'PROPFIND', api: true }), undefined, 'and the API answers for itself')
  t.equal(readStatus({ method: 'TRACE', api: true }), undefined)
  t.equal(readStatus({ method: 'CONNECT', api: true }), 405)
})

t.test('no path or query of the API is refused here', async (t) => {
  const long = `/v1/demo/${'a'.repeat(9_000)}`
  for (const target of ['/v1/demo/%00', '/v1/demo/%zz', '/v1/demo/a%5cb', '/v1/../v1', '/v1/a?q="<>', '/v1#x', long]) {
    t.equal(readStatus({ target, api: true }), undefined, target)
    t.ok(readStatus({ target }), `${target} of the origin`)
  }
  t.equal(readStatus({ target: '/v1', api: true, fields: [] }), 400, 'no Host')
  t.equal(readStatus({ target: 'http://other.example/v1', api: true }), 400)
  t.equal(readStatus({ target: '/v1', api: true }, 'Trailer', 'x'), undefined)
})
