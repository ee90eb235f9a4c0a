import type { Decision, InspectionRequest } from '@sallyport/core'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

t.test('every decision is reported', async (t) => {
  const told: string[] = []
  const onDecision = ({ action }: Decision, { target }: InspectionRequest) => told.push(`${action} ${target}`)
  const { url, origin } = await proxyBefore(t, OK, { onDecision })
  await exchange(url, get('/a', `X-Forwarded-For: ${VISITOR.blocked}`))
  await exchange(url, get('/b', `X-Forwarded-For: ${VISITOR.flagged}`))
  t.strictSame(told, ['block /a', 'flag /b'])
  t.match(origin.heads, [/^GET \/b /], 'and the origin never hears of a block')
  t.equal(origin.heads.length, 1)
})

t.test('the API answers where it is mounted', async (t) => {
  for (const [api, ours, theirs] of [
    [{}, ['/v1', '/v1/myip?x=1', '/v1/'], ['/v10', '/', '/api/v1/myip']],
    [{ base: '/api' }, ['/api/v1', '/api/v1/myip'], ['/v1/myip', '/apiv1', '/api', '/api/v10']],
    [{ enabled: false }, [], ['/v1/myip', '/v1']],
  ] as const) {
    const { url, origin } = await proxyBefore(t, OK, { api })
    for (const target of ours) t.match(await exchange(url, get(target)), /"path":"\/v1/, target)
    for (const target of theirs) t.match(await exchange(url, get(target)), /ok$/, target)
    t.equal(origin.heads.length, theirs.length)
  }
  const { url } = await proxyBefore(t, OK)
  const client = await send(url, get('/v1/x', 'Content-Length: 7', 'Expect: 100-continue').replace('GET', 'POST'))
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 100 /)
  const answer = readUntil(client)
  client.write('{"a":1}')
  t.match(await answer, '"body":{"a":1}', 'a body is read, also after 100 Continue')
})

t.test('a bug is a 500 without detail, reported to the operator', async (t) => {
  const errors: unknown[] = []
  const bug = new TypeError('a secret')
  const decide = (): never => {
    throw bug
  }
  const sallyport = { ...fakeSallyport(), decide, api: () => Promise.reject(bug) }
  const { url, origin } = await proxyBefore(t, OK, { sallyport, onFault: (error) => errors.push(error) })
  for (const target of ['/', '/v1/myip']) {
    const answer = await exchange(url, get(target))
    t.match(answer, /^HTTP\/1\.1 500 [\s\S]*"error":"internal_error"/)
    t.notMatch(answer, 'secret')
  }
  t.strictSame(errors, [bug, bug])
  t.strictSame(origin.received, [])
})

t.test('a head that is refused ends the connection, and nobody is asked', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  const second = get('/second')
  const heads: Readonly<Record<string, number>> = {
    'GET /x/../admin HTTP/1.1\r\nHost: a\r\n\r\n': 400,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n': 501,
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
  const many = (count: number) => Array.from({ length: count }, (_, i) => `A${i}:`)
  // Host, Connection and the last field make three.
  for (const count of [98, 1_100, 1_500])
    t.equal(readStatus(await exchange(url, get('/', ...many(count), `X-Forwarded-For: ${VISITOR.blocked}`))), 431)
  t.equal(readStatus(await exchange(url, get('/', `X: ${'a'.repeat(17_000)}`))), 431, 'and 16 KiB is Node’s own limit')
  const blocked = await exchange(url, get('/', ...many(97), `X-Forwarded-For: ${VISITOR.blocked}`))
  t.equal(readStatus(blocked), 403, 'no field is out of sight')
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
  const client = await send(stuck.url, keep('/1') + keep('/2'))
  await until(() => stuck.origin.heads.length === 1)
  client.destroy()
  await until(() => stuck.origin.open() === 0)
  t.equal(stuck.origin.heads.length, 1, 'what waited in line is not sent on')
})

t.test('a header that names one client is refused where it comes twice; a list in several lines is not', async (t) => {
  const allowed = (name: string) => `${name}: ${VISITOR.allowed}`
  const { url } = await proxyBefore(t, OK, { clientHeader: 'x-real-ip' })
  const twice = await exchange(url, get('/', allowed('X-Real-IP'), allowed('x-real-ip')))
  t.match(twice, /^HTTP\/1\.1 400 [\s\S]*x-real-ip may be sent once only/)
  t.equal(readStatus(await exchange(url, get('/', allowed('X-Real-IP')))), 200)
  const list = await proxyBefore(t, OK)
  for (const name of ['X-Forwarded-For', 'X-Real-IP'])
    t.equal(readStatus(await exchange(list.url, get('/', allowed(name), allowed(name)))), 200, name)
})
