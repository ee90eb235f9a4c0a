import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import t from 'tap'
import { receive } from '../src/receive.ts'
import { mountedPath } from '../src/request/mounted-path.ts'
import { dial, serve } from './support.ts'

t.test('fields keep their order, case and repetitions, and the target its form', async (t) => {
  const received = new Promise<ReturnType<typeof receive>['head']>((resolve) => {
    void serve(t, (req, res) => {
      resolve(receive({}, req).head)
      res.end()
    }).then((port) => {
      dial(t, port, 'GET /a%2fb?x=%00 HTTP/1.0\r\nuser-AGENT: x\r\nX-A: 1\r\naccept: */*\r\nx-a: 2\r\n\r\n')
    })
  })
  const { id, ...rest } = await received
  t.match(id, /^[\da-f-]{36}$/)
  t.same(rest, {
    peer: '127.0.0.1',
    method: 'GET',
    target: '/a%2fb?x=%00',
    scheme: 'http',
    httpVersion: '1.0',
    fields: ['user-AGENT', 'x', 'X-A', '1', 'accept', '*/*', 'x-a', '2'],
  })
})

t.test('peer and scheme are those of the socket, whatever the headers say', async (t) => {
  const req = new IncomingMessage(new Socket())
  req.headers = { 'x-forwarded-for': '192.0.2.1', 'x-forwarded-proto': 'https' }
  t.hasStrict(receive({}, req).head, { peer: '', scheme: 'http' }, 'a socket that is gone has no address')
  const secure = new IncomingMessage(Object.assign(new Socket(), { encrypted: true }))
  t.equal(receive({}, secure).head.scheme, 'https')
  Object.assign(secure, { socket: undefined })
  t.hasStrict(receive({}, secure).head, { peer: '', scheme: 'unknown' })
  t.equal(receive({}, req, '/detect/v1/myip').head.target, '/detect/v1/myip', 'as a host that strips its mount says')
})

t.test('a target under a mount', async (t) => {
  for (const [target, base, path] of [
    ['/v1/myip?x=1', '', '/v1/myip?x=1'],
    ['/detect/v1/myip', '/detect', '/v1/myip'],
    ['/detect', '/detect', ''],
    ['/detective/v1', '/detect', undefined],
    ['/DETECT/v1', '/detect', undefined],
    ['http://site.example/detect/v1', '/detect', '/v1'],
    ['HTTPS://site.example:1/v1#x', '', '/v1#x'],
    ['http://v1/myip', '', '/myip'],
    ['*', '', undefined],
  ] as const)
    t.equal(mountedPath(target, base), path, `${target} under "${base}"`)
})
