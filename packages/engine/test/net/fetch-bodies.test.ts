import type { RequestListener } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { dropBody, fetchBytes, fetchText } from '@sallyport/core'
import { createFakeDns, makeAddress } from '@sallyport/core/testing'
import t, { type Test } from 'tap'
import { createFetch } from '../../src/net/index.ts'
import { makeCertificate, NO_OPENSSL } from './certificate.ts'
import { openTcpServer, openWebServer } from './web-server.ts'

const LOOPBACK = { dns: createFakeDns({}), allowPrivate: ['127.0.0.0/8'] }
const outbound = createFetch(LOOPBACK)

/** Asks a server with this listener, and waits until its connection is gone. */
async function ask(t: Test, listener: RequestListener, { maxBytes = 10_000, timeoutMs = 5_000 } = {}) {
  const server = await openWebServer(t, listener)
  const answer = await fetchBytes(outbound, { url: server.origin, maxBytes, timeoutMs })
  await server.idle()
  return answer
}

/** Writes for ever, as fast as the reader takes it. */
const ENDLESS: RequestListener = (_request, response) => {
  const write = () => {
    while (!response.destroyed && response.write(Buffer.alloc(16_384, 'x')));
  }
  response.on('drain', write)
  write()
}

/** Sends one byte every few milliseconds: it is never idle and never done. */
const DRIPPING: RequestListener = (_request, response) => {
  const timer = setInterval(() => response.write('x'), 5)
  response.on('close', () => clearInterval(timer))
}

t.test('a body comes whole: text, binary, empty, of exactly the bound', async (t) => {
  const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
  t.strictSame(await readBody(t, (_request, response) => response.end(bytes)), bytes)
  const exact = await ask(t, (_request, response) => response.end('x'.repeat(100)), { maxBytes: 100 })
  t.match(exact, { state: 'answered', status: 200 })
  const server = await openWebServer(t, (_request, response) => response.end('\ufeffgrüße \xff'))
  const text = await fetchText(outbound, { url: server.origin, maxBytes: 100, timeoutMs: 5_000 })
  t.match(text, { body: 'grüße \xff' }, 'UTF-8 without its mark')
})

async function readBody(t: Test, listener: RequestListener): Promise<Uint8Array | undefined> {
  const answer = await ask(t, listener)
  return answer.state === 'answered' ? answer.body : undefined
}

const encoded =
  (coding: string, body: string | Uint8Array): RequestListener =>
  (_request, response) =>
    response.writeHead(200, { 'content-encoding': coding }).end(body)

t.test('content codings are undone', async (t) => {
  const text = 'one line and one more\n'.repeat(50)
  const codings = { gzip: gzipSync(text), deflate: deflateSync(text), br: brotliCompressSync(text), identity: text }
  for (const [coding, body] of Object.entries(codings))
    t.strictSame(await readBody(t, encoded(coding, body)), new Uint8Array(Buffer.from(text)), coding)
  for (const [coding, body, reason] of [
    ['zstd', gzipSync(text), 'unknown content coding "zstd"'],
    ['gzip, gzip', gzipSync(text), 'unknown content coding "gzip, gzip"'],
    ['gzip', 'this is not gzip', 'Z_DATA_ERROR'],
    ['gzip', gzipSync(text).subarray(0, 20), 'Z_BUF_ERROR'],
  ] as const)
    t.match(await ask(t, encoded(coding, body)), { state: 'failed', reason })
  const unchanged = await ask(t, (_request, response) => response.writeHead(304, { 'content-encoding': 'gzip' }).end())
  t.match(unchanged, { state: 'answered', status: 304 })
})

t.test('a body over the bound is refused: announced, endless, a bomb, or a coding that never yields', async (t) => {
  const reason = 'the body is larger than 10000 bytes'
  const told: RequestListener = (_, response) => response.writeHead(200, { 'content-length': 10_001 }).write('x')
  for (const listener of [told, ENDLESS]) t.match(await ask(t, listener), { state: 'failed', reason })
  const bomb = gzipSync(Buffer.alloc(5_000_000))
  t.ok(bomb.length < 10_000, 'small on the wire')
  t.match(await ask(t, encoded('gzip', bomb)), { state: 'failed', reason })
  // A gzip header whose file name has no end: input without a byte of output.
  const silent = await ask(t, (request, response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).write(Buffer.from([31, 139, 8, 8, 0, 0, 0, 0, 0, 3]))
    ENDLESS(request, response)
  })
  t.match(silent, { state: 'failed', reason })
})

t.test('the deadline covers names, connection, headers and body', async (t) => {
  const late = { timeoutMs: 200 }
  const reason = 'no result within 200 ms'
  const stalled: RequestListener = (_request, response) => response.write('x')
  for (const listener of [DRIPPING, stalled, () => undefined])
    t.match(await ask(t, listener, late), { state: 'failed', reason })
  const port = await openTcpServer(t, () => undefined)
  const silent = await outbound.fetch({ url: `https://127.0.0.1:${port}/`, maxBytes: 10, timeoutMs: 200 })
  t.match(silent, { state: 'failed', reason }, 'no TLS handshake')
  const nameless = createFetch({ dns: { ...createFakeDns({}), resolve: () => new Promise(() => undefined) } })
  const unnamed = await nameless.fetch({ url: 'https://www.example.org/', maxBytes: 10, timeoutMs: 200 })
  t.match(unnamed, { state: 'failed', reason }, 'no name')
})

t.test('a connection that breaks is a failure with its reason', async (t) => {
  const cut = await ask(t, (_request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('x', () => response.destroy())
  })
  t.match(cut, { state: 'failed', reason: /^UND_ERR_/ })
  for (const head of ['', 'Connection: close\r\n', 'Content-Length: 100\r\n']) {
    const reset = await openTcpServer(t, (socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\n${head}\r\nhalf`, () => setTimeout(() => socket.resetAndDestroy(), 20))
      }),
    )
    const half = await fetchBytes(outbound, { url: `http://127.0.0.1:${reset}/`, maxBytes: 100, timeoutMs: 5_000 })
    t.match(half, { state: 'failed' }, 'half a body is none, whether it has a length or not')
  }
  const refused = await outbound.fetch({ url: 'http://127.0.0.1:1/', maxBytes: 10, timeoutMs: 5_000 })
  t.match(refused, { state: 'failed', reason: 'ECONNREFUSED' })
  const port = await openTcpServer(t, (socket) => socket.end(Buffer.alloc(500, 0xfe)))
  const noise = await outbound.fetch({ url: `http://127.0.0.1:${port}/`, maxBytes: 10, timeoutMs: 5_000 })
  t.match(noise, { state: 'failed', reason: /does not match the HTTP/ })
})

t.test('a body that nobody reads gives its socket back, dropped or at the deadline', async (t) => {
  const server = await openWebServer(t, ENDLESS)
  const request = { url: server.origin, maxBytes: 1_000_000_000, timeoutMs: 60_000 }
  const dropped = await outbound.fetch(request)
  await dropBody(dropped)
  await server.idle()
  const begun = await outbound.fetch(request)
  if (begun.state === 'answered') for await (const _ of begun.body) break
  await server.idle()
  // A busy machine may take longer than any time that is worth waiting for.
  let timeoutMs = 500
  let forgotten = await outbound.fetch({ ...request, timeoutMs })
  while (forgotten.state === 'failed') {
    timeoutMs *= 2
    forgotten = await outbound.fetch({ ...request, timeoutMs })
  }
  await server.idle()
  const message = `no result within ${timeoutMs} ms`
  await t.rejects(forgotten.body[Symbol.asyncIterator]().next(), { message })
})

t.test('TLS is checked against the name of the URL', { skip: NO_OPENSSL }, async (t) => {
  const { key, cert } = makeCertificate(t, 'www.example.org')
  const server = await openWebServer(t, (_request, response) => response.end('sealed'), '127.0.0.1', { key, cert })

  const found = { state: 'found', addresses: [makeAddress('127.0.0.1')] } as const
  const dns = createFakeDns({ 'www.example.org': found, 'other.example.org': found })
  const known = createFetch({ ...LOOPBACK, dns, ca: cert })
  const ask = (outbound: typeof known, host: string) =>
    fetchText(outbound, { url: `https://${host}:${server.port}/`, maxBytes: 100, timeoutMs: 5_000 })
  t.match(await ask(known, 'www.example.org'), { status: 200, body: 'sealed' })
  const wrong = { state: 'failed', reason: 'ERR_TLS_CERT_ALTNAME_INVALID' }
  t.match(await ask(known, 'other.example.org'), wrong)
  t.match(await ask(known, '127.0.0.1'), wrong)
  const unknown = createFetch({ ...LOOPBACK, dns })
  t.match(await ask(unknown, 'www.example.org'), { state: 'failed', reason: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
})

t.test('a server that closes before its body is read costs nothing', async (t) => {
  for (const bytes of [100, 65_536, 70_000, 100_000, 1_000_000]) {
    const port = await openTcpServer(t, (socket) =>
      socket.once('data', () => {
        socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${bytes}\r\nConnection: close\r\n\r\n`)
        socket.end(Buffer.alloc(bytes, 'x'))
      }),
    )
    const answer = await outbound.fetch({ url: `http://127.0.0.1:${port}/`, maxBytes: bytes, timeoutMs: 5_000 })
    if (answer.state === 'failed') return t.fail(answer.reason)
    await new Promise((resolve) => setTimeout(resolve, 50))
    let read = 0
    for await (const chunk of answer.body) read += chunk.length
    t.equal(read, bytes)
  }
})

t.test('a caller can give up, before the headers and in the body', async (t) => {
  for (const listener of [() => undefined, DRIPPING]) {
    const controller = new AbortController()
    const server = await openWebServer(t, listener)
    const request = { url: server.origin, maxBytes: 10_000, timeoutMs: 60_000, signal: controller.signal }
    const asked = fetchBytes(outbound, request)
    setTimeout(() => controller.abort(), 50)
    t.match(await asked, { state: 'failed', reason: 'given up' })
    await server.idle()
    t.match(await fetchBytes(outbound, request), { state: 'failed', reason: 'given up' }, 'and not asked at all')
  }
})
