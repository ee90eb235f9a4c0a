import { once } from 'node:events'
import { createServer } from 'node:http'
import type { Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { proxyBefore } from './behind.ts'
import { dial, exchange, get, OK, readStatus, readUntil, send, until } from './wire.ts'

const PIECE = 'x'.repeat(64 * 1024)

t.test('each piece of an answer goes on as it comes', async (t) => {
  let push: (text: string) => void = () => {}
  const { url } = await proxyBefore(t, (socket) => {
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    push = (text) => socket.write(text === '' ? '0\r\n\r\n' : `${text.length.toString(16)}\r\n${text}\r\n`)
  })
  const client = await send(url, get('/'))
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
  const client = await send(url, 'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n')
  await until(() => origin.received[0]?.endsWith('one') === true)
  t.match(origin.received[0], /transfer-encoding: chunked\r\n\r\n3\r\none$/)
  client.write('3\r\ntwo\r\n')
  await until(() => origin.received[0]?.endsWith('two') === true)
  client.write('0\r\n\r\n')
  await until(() => origin.received[0]?.endsWith('0\r\n\r\n') === true)
  client.destroy()
  await until(() => origin.open() === 0)
})

t.test('a body has no largest size by default', async (t) => {
  const size = 12 * 1024 * 1024
  const received: number[] = []
  const server = createServer(async (request, response) => {
    received.push((await buffer(request)).length)
    response.end('ok')
  })
  const { url } = await proxyBefore(t, OK, { upstream: `http://127.0.0.1:${await listening(t, server)}` })
  const post = 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n'
  const body = 'x'.repeat(size)
  for (const rest of [
    `Content-Length: ${size}\r\n\r\n${body}`,
    `Transfer-Encoding: chunked\r\n\r\n${size.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
  ]) {
    t.equal(readStatus(await exchange(url, post + rest)), 200)
  }
  t.same(received, [size, size])
})

/** Writes pieces while there is room, up to `total` bytes; resolves with how many went once the other side takes no more. */
async function writeUntilFull(socket: Socket, total: number): Promise<number> {
  let sent = 0
  const push = (): void => {
    while (sent < total && !socket.destroyed) {
      sent += PIECE.length
      if (!socket.write(PIECE)) return void socket.once('drain', push)
    }
  }
  push()
  for (let before = -1; sent !== before; ) {
    before = sent
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  return sent
}

t.test('neither an origin nor a client is read faster than the other side reads', async (t) => {
  const total = 64 * 1024 * 1024
  let taken = 0
  const { url } = await proxyBefore(t, async (socket, head) => {
    if (head.startsWith('POST')) return void socket.pause()
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
    taken = await writeUntilFull(socket, total)
  })
  const client = await dial(url)
  client.pause()
  client.write(get('/'))
  await until(() => taken > 0)
  t.ok(taken < total / 2, `${taken} bytes taken from the origin`)
  let received = 0
  client.on('data', (bytes: Buffer) => (received += bytes.length)).resume()
  await once(client, 'close')
  t.ok(received > total, 'and all of it comes once the client reads')

  const uploading = await send(url, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${total}\r\n\r\n`)
  const sent = await writeUntilFull(uploading, total)
  t.ok(sent < total / 2, `${sent} bytes taken from the client`)
  uploading.destroy()
})

t.test('a client that leaves takes its request back, at every stage', async (t) => {
  const head = 'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n'
  for (const answer of ['', head, `${head}abc`]) {
    const { url, origin } = await proxyBefore(t, answer)
    const client = await send(url, get('/'))
    await until(() => origin.heads.length === 1)
    if (answer !== '') await readUntil(client, '\r\n\r\n')
    client.resetAndDestroy()
    await until(() => origin.open() === 0)
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
  t.match(refused, /^HTTP\/1\.1 403 /, 'and never for a refused request')
})

t.test('the fields of the origin’s hop stay with us, all others pass as they are', async (t) => {
  const hop = ['Connection: keep-alive, X-Named', 'Keep-Alive: timeout=3', 'X-Named: 1', 'Trailer: X-Sum']
  const kept = ['Set-Cookie: a=1', 'Set-Cookie: b=2', 'X-Latin: caf\u00e9', 'Content-Length: 2']
  const { url } = await proxyBefore(t, ['HTTP/1.1 200 Fine', ...hop, ...kept, '', 'ok'].join('\r\n'))
  const received = (await exchange(url, get('/'))).replace(/^(?:date|x-request-id): .*\r\n/gim, '')
  t.equal(received, ['HTTP/1.1 200 OK', ...kept, 'Connection: close', '', 'ok'].join('\r\n'))
})

t.test('an answer before the request is read whole ends the connection after it', async (t) => {
  const { url } = await proxyBefore(t, 'HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno')
  const client = await send(url, `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\nsome`)
  t.match(await readUntil(client), /^HTTP\/1\.1 413 [\s\S]*Connection: close\r\n/i)
})
