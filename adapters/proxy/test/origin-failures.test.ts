import t from 'tap'
import { GONE, proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, dial, exchange, get, OK, readStatus, readUntil, send, stall, until } from './wire.ts'

function readError(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error
}

t.test('an origin that answers with what is not HTTP is a bad gateway', async (t) => {
  const answer: Answer = (socket, head) =>
    socket.end(head.startsWith('GET /good ') ? OK : 'SSH-2.0-OpenSSH_9.2\r\n\r\n')
  const { url, errors } = await proxyBefore(t, answer)
  t.equal(readError(await exchange(url, get('/'))), 'bad_gateway')
  t.match(errors, [{ code: /./ }], 'which is a failure outside, not a bug that shows a stack')
  const twice = await proxyBefore(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok')
  t.equal(readStatus(await exchange(twice.url, get('/'))), 502)
  t.match(String(twice.errors[0]), 'Duplicate Content-Length', 'the error names its reason')
  t.equal(readStatus(await exchange(url, get('/good'))), 200, 'and the proxy lives')
})

t.test('an origin that is not there, and a request with a body', async (t) => {
  const { url } = await proxyBefore(t, OK, { upstream: GONE })
  t.equal(readError(await exchange(url, get('/'))), 'bad_gateway')
  const client = await send(url, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`)
  t.match(await readUntil(client, 'bad_gateway'), /^HTTP\/1\.1 502 /)
  client.write(get('/v1/next'))
  t.match(await readUntil(client), '"path":"/v1/next"', 'the connection is used again')
  const large = await send(url, 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome')
  t.match(await readUntil(large), /^HTTP\/1\.1 502 [\s\S]*\r\nConnection: close\r\n/i, 'nobody receives the rest')
})

t.test('an origin that resets the connection', async (t) => {
  const before = await proxyBefore(t, (socket) => void socket.resetAndDestroy())
  t.equal(readError(await exchange(before.url, get('/'))), 'bad_gateway')
  t.equal(before.origin.heads.length, 1, 'a GET over a fresh connection is not tried again')
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody'
  t.equal(readError(await exchange(before.url, post)), 'bad_gateway')
  t.equal(before.origin.heads.length, 2, 'nor is a POST')
})

t.test('an origin that says nothing is a gateway timeout', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 100 } })
  const answer = await exchange(url, get('/'))
  t.equal(readError(answer), 'gateway_timeout')
  t.match(answer, 'longer than timeouts.originHeaders', 'which names the key')
  await until(() => origin.open() === 0)
  const half = 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf'
  const stops = await proxyBefore(t, half, { timeouts: { idleBody: 100, originHeaders: 100 } })
  t.match(await exchange(stops.url, get('/')), /\r\n\r\nhalf$/, 'one that stops within an answer cuts the client')
})

t.test('two answers to one request: the second is for nobody', async (t) => {
  const { url } = await proxyBefore(t, `${OK}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`)
  for (let i = 0; i < 3; i += 1) {
    const answer = await exchange(url, get('/'))
    t.match(answer, /\r\n\r\nok$/)
    t.notMatch(answer, 'evil')
  }
})

/** Sends so many requests over one connection, and collects the statuses that are not 200. */
async function others(url: string, method: string, count: number): Promise<readonly number[]> {
  const client = await dial(url)
  const wrong: number[] = []
  for (let sent = 0; sent < count; sent++) {
    client.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
    const status = readStatus(await readUntil(client, /ok$|\}$/))
    if (status !== 200) wrong.push(status)
  }
  client.destroy()
  return wrong
}

t.test('a process that stood still takes no origin for one that keeps its connections', async (t) => {
  const times = { decide: 0, close: 50 }
  const host = fakeSallyport()
  const decide: typeof host.decide = (request) => {
    stall(times.decide)
    return host.decide(request)
  }
  const answer: Answer = (socket) => void socket.write(OK, () => setTimeout(() => socket.end(), times.close))
  const { url } = await proxyBefore(t, answer, { sallyport: { ...host, decide } })
  const client = await dial(url)
  const ask = (method: string) => client.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
  ask('GET')
  await readUntil(client, /ok$/)
  ask('POST')
  stall(200)
  times.close = 1_000
  t.equal(readStatus(await readUntil(client, /ok$|\}$/)), 200)
  // The origin is about to close as the next request is sent to it.
  Object.assign(times, { decide: 25, close: 20 })
  for (let sent = 0; sent < 3; sent++) {
    ask('POST')
    t.equal(readStatus(await readUntil(client, /ok$|\}$/)), 200)
  }
  client.destroy()
})

t.test('an origin that keeps its connections is asked over them, with what may not be sent twice too', async (t) => {
  const { url, origin } = await proxyBefore(t, OK)
  t.same(await others(url, 'GET', 3), [])
  t.equal(origin.received.length, 1)
  while (origin.received.length < 100) {
    const before = origin.received.length
    t.same(await others(url, 'POST', 20), [])
    if (origin.received.length === before) break
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  t.ok(origin.received.length < 100, 'once it has kept one for a moment')
})

t.test('a GET is tried once more where a used connection ends under it, a POST is not', async (t) => {
  for (const [method, status, heads] of [
    ['GET', [], 4],
    ['POST', [502], 3],
  ] as const) {
    const { url, origin } = await proxyBefore(t, (socket) => {
      if (origin.heads.length === 3) socket.resetAndDestroy()
      else socket.write(OK)
    })
    t.same(await others(url, 'GET', 2), [])
    t.same(await others(url, method, 1), status)
    t.equal(origin.heads.length, heads)
  }
})
