import t from 'tap'
import type { ProxyHost } from '../src/index.ts'
import { proxyBefore } from './behind.ts'
import { fakeSallyport } from './sallyport.ts'
import { type Answer, dial, exchange, get, OK, openRawOrigin, readUntil, statusOf, until } from './wire.ts'

/** The body of an answer of ours. */
function errorOf(answer: string): unknown {
  return JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4)).error
}

const BAD_ANSWERS: Readonly<Record<string, string>> = {
  'not HTTP': 'SSH-2.0-OpenSSH_9.2\r\n\r\n',
  'status 099': 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
  'status 600': 'HTTP/1.1 600 High\r\nContent-Length: 0\r\n\r\n',
  'status 999': 'HTTP/1.1 999 No\r\nContent-Length: 0\r\n\r\n',
  'status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
  'a control byte in the reason': 'HTTP/1.1 200 O\u0001K\r\nContent-Length: 0\r\n\r\n',
  'a control byte in a value': 'HTTP/1.1 200 OK\r\nX-A: a\u0001b\r\nContent-Length: 0\r\n\r\n',
  'a NUL in a value': 'HTTP/1.1 200 OK\r\nX-A: a\u0000b\r\nContent-Length: 0\r\n\r\n',
  'a space in a name': 'HTTP/1.1 200 OK\r\nX A: b\r\nContent-Length: 0\r\n\r\n',
  'CL and TE': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello!',
  'a length that is none': 'HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n',
  'an upgrade nobody asked for': 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n',
  'endless fields': `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n'.repeat(1_000)}\r\n`,
}

for (const [name, bad] of Object.entries(BAD_ANSWERS)) {
  t.test(`an origin that answers with ${name} is a bad gateway`, async (t) => {
    const answer: Answer = (socket, head) => socket.end(head.startsWith('GET /good ') ? OK : bad, 'latin1')
    const { url, errors } = await proxyBefore(t, answer)
    const received = await exchange(url, get('/'))
    t.equal(statusOf(received), 502)
    t.equal(errorOf(received), 'bad_gateway')
    t.equal(errors.length, 1)
    t.match(errors[0], { code: /./ }, 'and is a failure outside, not a bug that shows a stack')
    t.equal(statusOf(await exchange(url, get('/good'))), 200, 'and the proxy lives')
  })
}

t.test('an origin that is not there is a bad gateway, with or without a body to send', async (t) => {
  const gone = await openRawOrigin(OK)
  await gone.close()
  const { url } = await proxyBefore(t, OK, { upstream: gone.url })
  t.equal(errorOf(await exchange(url, get('/'))), 'bad_gateway')
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody'
  const client = await dial(url)
  client.write(post)
  t.match(await readUntil(client, 'bad_gateway'), /^HTTP\/1\.1 502 /)
  client.write(post)
  t.match(await readUntil(client, 'bad_gateway'), /^HTTP\/1\.1 502 /, 'and the connection goes on')
  client.destroy()
})

t.test('a failure of a request with a body', async (t) => {
  const gone = await openRawOrigin(OK)
  await gone.close()
  const { url } = await proxyBefore(t, OK, { upstream: gone.url })
  const client = await dial(url)
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 65536\r\n\r\n${'x'.repeat(65_536)}`)
  t.match(await readUntil(client, 'bad_gateway'), /^HTTP\/1\.1 502 /)
  client.write(get('/v1/next'))
  t.match(await readUntil(client), '"path":"/v1/next"', 'the connection is used again')
  const large = await dial(url)
  large.write('POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome')
  t.match(
    await readUntil(large),
    /^HTTP\/1\.1 502 [\s\S]*\r\nConnection: close\r\n/i,
    'nobody receives the rest of a large one',
  )
})

t.test('an origin that resets the connection', async (t) => {
  const before = await proxyBefore(t, (socket) => void socket.resetAndDestroy())
  t.equal(errorOf(await exchange(before.url, get('/'))), 'bad_gateway')
  t.equal(before.origin.heads.length, 1, 'a GET over a fresh connection is not tried again')
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: 4\r\n\r\nbody'
  t.equal(errorOf(await exchange(before.url, post)), 'bad_gateway')
  t.equal(before.origin.heads.length, 2, 'nor is a POST')

  const within = await proxyBefore(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', () =>
      setTimeout(() => socket.resetAndDestroy(), 20),
    )
  })
  const cut = await exchange(within.url, get('/'))
  t.match(cut, /\r\n\r\nhalf$/, 'what came is passed on')
  t.equal(within.errors.length, 0, 'and the client sees the cut itself')
})

t.test('a chunked answer that ends early does not look whole', async (t) => {
  const { url } = await proxyBefore(t, (socket) => {
    socket.end('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n')
  })
  const cut = await exchange(url, get('/'))
  t.match(cut, 'half')
  t.notMatch(cut, /0\r\n\r\n$/)
})

t.test('an idle connection that the origin closes costs no client an answer', async (t) => {
  let answered = 0
  const { url } = await proxyBefore(t, (socket) => {
    answered += 1
    if (answered === 2) socket.destroy()
    else socket.write(OK)
  })
  t.equal(statusOf(await exchange(url, get('/'))), 200)
  t.equal(statusOf(await exchange(url, get('/'))), 200)
})

t.test('an origin that says nothing is a gateway timeout', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {}, { timeouts: { originHeaders: 100 } })
  t.equal(errorOf(await exchange(url, get('/'))), 'gateway_timeout')
  await until(() => origin.open() === 0)
})

t.test('an origin that stops within an answer cuts the client', async (t) => {
  const { url } = await proxyBefore(t, 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf', {
    timeouts: { idleBody: 100 },
  })
  t.match(await exchange(url, get('/')), /\r\n\r\nhalf$/)
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
    const status = statusOf(await readUntil(client, /ok$|\}$/))
    if (status !== 200) wrong.push(status)
  }
  client.destroy()
  return wrong
}

const stall = (ms: number): void => {
  for (const until = performance.now() + ms; performance.now() < until; );
}

t.test('a process that stood still takes no origin for one that keeps its connections', async (t) => {
  const times = { decide: 0, close: 50 }
  const host = fakeSallyport()
  const sallyport: ProxyHost = {
    ...host,
    decide(request) {
      stall(times.decide)
      return host.decide(request)
    },
  }
  const answer: Answer = (socket) => void socket.write(OK, () => setTimeout(() => socket.end(), times.close))
  const { url } = await proxyBefore(t, answer, { sallyport })
  const client = await dial(url)
  const send = (method: string) => client.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
  send('GET')
  await readUntil(client, /ok$/)
  send('POST')
  stall(200)
  times.close = 1_000
  t.equal(statusOf(await readUntil(client, /ok$|\}$/)), 200)
  // The origin is about to close as the next request is sent to it.
  Object.assign(times, { decide: 25, close: 20 })
  for (let sent = 0; sent < 3; sent++) {
    send('POST')
    t.equal(statusOf(await readUntil(client, /ok$|\}$/)), 200)
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
  for (const [method, statuses] of [
    ['GET', [200]],
    ['POST', [502]],
  ] as const) {
    let heads = 0
    const { url, origin } = await proxyBefore(t, (socket) => {
      heads++
      if (heads === 3) socket.resetAndDestroy()
      else socket.write(OK)
    })
    t.same(await others(url, 'GET', 2), [])
    const client = await dial(url)
    client.write(`${method} / HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\n\r\n`)
    t.same([statusOf(await readUntil(client, /ok$|\}$/))], statuses)
    t.equal(origin.heads.length, method === 'GET' ? 4 : 3)
    client.destroy()
  }
})
