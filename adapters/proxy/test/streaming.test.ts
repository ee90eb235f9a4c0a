import { once } from 'node:events'
import { createServer } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

const PIECE = 'x'.repeat(64 * 1024)

t.test('the head of an answer goes out before its body is there', async (t) => {
  const { url, origin } = await proxyBefore(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n')
  })
  const client = await dial(url)
  client.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n')
  t.match(await readUntil(client, '\r\n\r\n'), /^HTTP\/1\.1 200 OK\r\nContent-Type: text\/event-stream\r\n/)
  client.destroy()
  await until(() => origin.open() === 0)
})

t.test('each piece of an answer goes on as it comes', async (t) => {
  let push: (text: string) => void = () => {}
  const { url } = await proxyBefore(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    push = (text) => socket.write(text === '' ? '0\r\n\r\n' : `${text.length.toString(16)}\r\n${text}\r\n`)
  })
  const client = await dial(url)
  client.write(get('/'))
  await readUntil(client, '\r\n\r\n')
  for (const text of ['one', 'two', 'three']) {
    const arrived = readUntil(client, text)
    push(text)
    t.match(await arrived, text)
  }
  const rest = readUntil(client)
  push('')
  t.match(await rest, /0\r\n\r\n$/)
})

t.test('each piece of a request goes on as it comes', async (t) => {
  const { url, origin } = await proxyBefore(t, () => {})
  const client = await dial(url)
  client.write('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
  await until(() => origin.received[0]?.endsWith('one') === true)
  t.match(origin.received[0], /transfer-encoding: chunked\r\n\r\n3\r\none$/)
  client.write('3\r\ntwo\r\n')
  await until(() => origin.received[0]?.endsWith('two') === true)
  client.write('0\r\n\r\n')
  await until(() => origin.received[0]?.endsWith('0\r\n\r\n') === true)
  client.destroy()
  await until(() => origin.open() === 0)
})

t.test('a body has no largest size, unless the configuration names one', async (t) => {
  const size = 12 * 1024 * 1024
  const upload = async (url: string, framing: string, body: string) => {
    const client = await dial(url)
    client.write(`POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${framing}\r\n\r\n${body}`)
    return readUntil(client)
  }
  const sized = [`Content-Length: ${size}`, 'x'.repeat(size)] as const
  const chunked = ['Transfer-Encoding: chunked', `${size.toString(16)}\r\n${'x'.repeat(size)}\r\n0\r\n\r\n`] as const
  const received: number[] = []
  const server = createServer(async (request, response) => {
    received.push(
      await buffer(request).then(
        ({ length }) => length,
        () => 0,
      ),
    )
    response.end('ok')
  })
  const upstream = `http://127.0.0.1:${await listening(t, server)}`
  const free = await proxyBefore(t, OK, { upstream })
  for (const [framing, body] of [sized, chunked])
    t.equal(readStatus(await upload(free.url, framing, body)), 200, framing)
  t.same(received, [size, size])
  const { url } = await proxyBefore(t, OK, { upstream, limits: { bodyBytes: size - 1 } })
  for (const [framing] of [sized, chunked]) {
    const answer = await upload(url, framing, framing === sized[0] ? '' : chunked[1])
    t.match([readStatus(answer), answer], [413, /larger than limits\.bodyBytes/], framing)
  }
})

t.test('an origin is read no faster than the client reads', async (t) => {
  let sent = 0
  const total = 64 * 1024 * 1024
  const { url } = await proxyBefore(t, (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
    const push = (): void => {
      while (sent < total && !socket.destroyed) {
        sent += PIECE.length
        if (!socket.write(PIECE)) {
          socket.once('drain', push)
          return
        }
      }
    }
    push()
  })
  const client = await dial(url)
  client.pause()
  client.write(get('/'))
  let before = -1
  // The count does not change only because the proxy waits for the client.
  while (sent !== before || sent === 0) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.ok(sent < total / 2, `${sent} bytes taken from the origin`)
  let received = 0
  client.on('data', (bytes: Buffer) => {
    received += bytes.length
  })
  client.resume()
  await once(client, 'close')
  t.ok(received > total, 'and all of it comes once the client reads')
})

t.test('a client is read no faster than the origin reads', async (t) => {
  const { url } = await proxyBefore(t, (socket) => void socket.pause())
  const client = await dial(url)
  const total = 64 * 1024 * 1024
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${total}\r\n\r\n`)
  let sent = 0
  const push = (): void => {
    while (sent < total && !client.destroyed) {
      sent += PIECE.length
      if (!client.write(PIECE)) {
        client.once('drain', push)
        return
      }
    }
  }
  push()
  let before = -1
  while (sent !== before || sent === 0) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  t.ok(sent < total / 2, `${sent} bytes taken from the client`)
  client.destroy()
})

t.test('a client that leaves takes its request back, at every stage', async (t) => {
  const stages: Record<string, string> = {
    'before an answer': '',
    'after the head': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n',
    'within the body': 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc',
  }
  for (const [stage, answer] of Object.entries(stages)) {
    const { url, origin } = await proxyBefore(t, answer)
    const client = await dial(url)
    client.write(get('/'))
    await until(() => origin.heads.length === 1)
    if (answer !== '') await readUntil(client, '\r\n\r\n')
    client.resetAndDestroy()
    await until(() => origin.open() === 0)
    t.pass(stage)
  }
})

t.test('100 Continue is ours to say, after the decision', async (t) => {
  const { url, origin } = await proxyBefore(t, (socket) => {
    void until(() => origin.received[0]?.endsWith('body') === true).then(() => socket.write(OK))
  })
  const client = await dial(url)
  const head = 'Host: a\r\nExpect: 100-continue\r\nContent-Length: 4\r\nConnection: close\r\n'
  client.write(`POST / HTTP/1.1\r\n${head}\r\n`)
  t.equal(await readUntil(client, '\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  const answer = readUntil(client)
  client.write('body')
  t.match(await answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(origin.received[0], /\r\n\r\nbody$/)
  t.notMatch(origin.received[0], /expect/i)

  const refused = await exchange(url, `POST / HTTP/1.1\r\nX-Forwarded-For: 23.0.0.1\r\n${head}\r\n`)
  t.equal(readStatus(refused), 403, 'and never for a refused request')
  t.notMatch(refused, '100 Continue')
})

t.test('answers without a body', async (t) => {
  const answers: readonly (readonly [method: string, answer: string, status: number])[] = [
    ['HEAD', 'HTTP/1.1 200 OK\r\nContent-Length: 123\r\n\r\n', 200],
    ['GET', 'HTTP/1.1 204 No Content\r\n\r\n', 204],
    ['GET', 'HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n', 204],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n', 304],
    ['GET', 'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\nContent-Length: 123\r\n\r\n', 304],
    ['GET', 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n', 404],
  ]
  for (const [method, answer, status] of answers) {
    const { url } = await proxyBefore(t, answer)
    const received = await exchange(url, get('/').replace('GET', method))
    t.equal(readStatus(received), status)
    t.match(received, /\r\n\r\n$/, 'ends with the head')
    if (method === 'HEAD') t.match(received, 'Content-Length: 123')
  }
})

t.test('the fields of the origin’s hop stay with us, all others pass as they are', async (t) => {
  const hop = [
    'Connection: keep-alive, X-Named',
    'Keep-Alive: timeout=3',
    'X-Named: 1',
    'Trailer: X-Sum',
    'Upgrade: h2c',
  ]
  const head = [
    'HTTP/1.1 200 Fine',
    ...hop,
    'Set-Cookie: a=1',
    'Set-Cookie: b=2',
    'X-Latin: caf\u00e9',
    'Content-Length: 2',
  ]
  const { url } = await proxyBefore(t, `${head.join('\r\n')}\r\n\r\nok`)
  const received = (await exchange(url, get('/'))).split('\r\n')
  t.strictSame(
    received.filter((line) => !/^(?:Date|X-Request-Id): /.test(line)),
    ['HTTP/1.1 200 OK', ...head.slice(6), 'Connection: close', '', 'ok'],
  )
})

t.test('a connection to the origin serves one client after the other', async (t) => {
  const { url, origin } = await proxyBefore(
    t,
    'HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  )
  for (let i = 0; i < 5; i += 1) t.equal(readStatus(await exchange(url, get(`/${i}`))), 200)
  t.equal(origin.received.length, 1)
  t.equal(origin.heads.length, 5, 'although each client asked for its own to be closed')
})

t.test('an answer before the request is read whole ends the connection after it', async (t) => {
  const { url } = await proxyBefore(t, 'HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
  const client = await dial(url)
  client.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome`)
  const answer = await readUntil(client)
  t.equal(readStatus(answer), 413)
  t.match(answer, /Connection: close\r\n/i)
})
