import type { ObservedRequest } from '@sallyport/core'
import t, { type Test } from 'tap'
import { proxyBefore } from './behind.ts'
import { fakeSallyport, VISITOR } from './sallyport.ts'
import { exchange, get, OK, readStatus, send, until } from './wire.ts'

async function watched(t: Test, origin: Parameters<typeof proxyBefore>[1], trust: readonly string[] = ['loopback']) {
  const seen: ObservedRequest[] = []
  const sallyport = { ...fakeSallyport({ trust }), observe: (observed: ObservedRequest) => void seen.push(observed) }
  const proxy = await proxyBefore(t, origin, { sallyport, limits: { bodyBytes: 1_000_000 } })
  const next = async (): Promise<ObservedRequest> => {
    await until(() => seen.length > 0)
    return seen.shift() as ObservedRequest
  }
  return { ...proxy, seen, next }
}

const readId = (answer: string) => /^x-request-id: (\S+)/im.exec(answer)?.[1]

t.test('an answer, the origin and the observation have one id', async (t) => {
  const own = OK.replace('\r\n\r\n', '\r\nX-Request-ID: its own\r\n\r\n')
  const { url, origin, next } = await watched(t, own, [])
  const answer = await exchange(url, get('/a?secret=1', 'x-request-id: not/trusted', 'X_Request_Id: spelled'))
  const id = readId(answer)
  t.equal(answer.match(/^x.request.id:/gim)?.length, 1)
  t.match(origin.heads[0], `sallyport-request-id: ${id}`)
  const asked = { id, method: 'GET', host: 'site.example', path: '/a', peer: '127.0.0.1', client: '127.0.0.1' }
  const answered = { answeredBy: 'origin', status: 200, bytesReceived: 0, bytesSent: answer.length }
  t.match(await next(), { ...asked, ...answered, decision: { id, action: 'allow' } })
})

t.test('a trusted proxy names the id, or the trace', async (t) => {
  const { url } = await watched(t, OK)
  const trace = '0af7651916cd43dd8448eb211c80319c'
  for (const [fields, expected] of [
    [['X-Request-Id: abc-1.2:3/4+5=6@7~8'], 'abc-1.2:3/4+5=6@7~8'],
    [[`traceparent: 00-${trace}-b7ad6b7169203331-01`], trace],
    [['X-Request-Id: has space', `traceparent: 00-${trace}-b7ad6b7169203331-01`], trace],
    [[`X-Request-Id: ${'x'.repeat(129)}`], undefined],
    [['X-Request-Id: <script>'], undefined],
    [['traceparent: 00-nothing'], undefined],
  ] as const) {
    const id = readId(await exchange(url, get('/', ...fields, `X-Forwarded-For: ${VISITOR.allowed}`)))
    if (expected === undefined) t.match(id, /^[\da-f-]{36}$/, fields.join())
    else t.equal(id, expected, fields.join())
  }
})

t.test('our own answers name the id in their body too, and why', async (t) => {
  const { url, next } = await watched(t, OK)
  for (const [bytes, status, answeredBy, refusedFor] of [
    [get('/', `X-Forwarded-For: ${VISITOR.blocked}`), 403, 'refusal', undefined],
    [get('/a/../b'), 400, 'refusal', 'head'],
    [get('/', 'Content-Length: 99999999', 'Expect: 100-continue'), 413, 'refusal', 'body_bytes'],
  ] as const) {
    const answer = await exchange(url, bytes)
    t.equal(readStatus(answer), status)
    const id = readId(answer)
    t.equal(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).details?.requestId, id, `${status}`)
    const observed = await next()
    t.match(observed, { id, status, answeredBy })
    t.equal(observed.refusedFor, refusedFor)
  }
  t.equal(readStatus(await exchange(url, get('/v1/myip'))), 200)
  t.match(await next(), { answeredBy: 'api', path: '/v1/myip', client: '127.0.0.1' })
  const garbage = await exchange(url, 'no request at all\r\n\r\n')
  t.equal(readStatus(garbage), 400)
  t.equal(JSON.parse(garbage.slice(garbage.indexOf('\r\n\r\n') + 4)).details.requestId, readId(garbage))
})

t.test('a client that leaves is observed when it has left', async (t) => {
  const { url, next, seen } = await watched(t, () => {})
  const client = await send(url, get('/slow'))
  await new Promise((resolve) => setTimeout(resolve, 30))
  t.equal(seen.length, 0)
  client.destroy()
  t.match(await next(), { path: '/slow', status: 0 })
})

t.test('an observer that throws harms nobody', async (t) => {
  const warned = new Promise<Error>((resolve) => process.once('warning', resolve))
  const observe = (): never => {
    throw new Error('of the observer')
  }
  const { url } = await proxyBefore(t, OK, { sallyport: { ...fakeSallyport(), observe } })
  t.equal(readStatus(await exchange(url, get('/'))), 200)
  t.match(await warned, { message: /not observed: Error: of the observer/ })
})
