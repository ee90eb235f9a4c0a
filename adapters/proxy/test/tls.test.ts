import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { connect, type TLSSocket } from 'node:tls'
import { computeJa4 } from '@sallyport/core'
import t from 'tap'
import { NO_OPENSSL } from './certificate.ts'
import { VISITOR } from './sallyport.ts'
import { askedOver, inRecords, secured, withTls } from './tls-client.ts'
import { dial, exchange, get, readStatus, readUntil, send, until } from './wire.ts'

const skip = NO_OPENSSL

t.test('a request over TLS', { skip }, async (t) => {
  const { url, origin, sallyport } = await withTls(t)
  t.match(url, /^https:/)
  const socket = await secured(url, { servername: 'site.example' })
  t.equal(socket.getPeerCertificate().subjectaltname, 'DNS:site.example')
  t.equal(socket.getProtocol(), 'TLSv1.3')
  t.equal(readStatus(await askedOver(socket, get('/'))), 200)
  t.match(origin.heads[0], /X-Forwarded-Proto: https\r\n/)
  t.match(sallyport.asked[0]?.ja4, /^t13d\d{4}00_[0-9a-f]{12}_[0-9a-f]{12}$/, 'with its JA4')
  t.equal(sallyport.asked[0]?.scheme, 'https')
  const first = await secured(url)
  const session = once(first, 'session')
  await askedOver(first, get('/'))
  const again = await secured(url, { session: (await session)[0] as Buffer })
  t.ok(again.isSessionReused(), 'a session is resumed by its ticket')
  t.equal(readStatus(await askedOver(again, get('/'))), 200)
})

// Node meets the reset as it writes session tickets, loses it, and what is written after them waits for ever.
t.test('clients that reset their connections as soon as they have asked leave nothing behind', { skip }, async (t) => {
  const { url, origin } = await withTls(t, { limits: { connections: 40 } })
  const head = 'POST / HTTP/1.1\r\nHost: site.example\r\nContent-Length: 200000\r\n\r\n'
  const visit = async (): Promise<void> => {
    const socket = await dial(url)
    const client = connect({ socket, rejectUnauthorized: false }).on('error', () => {})
    await once(client, 'secureConnect')
    client.write(`${head}${'x'.repeat(100_000)}`)
    socket.resetAndDestroy()
  }
  await Promise.all(Array.from({ length: 40 }, visit))
  const enter = (): Promise<TLSSocket> => secured(url).catch(() => delay(20).then(enter))
  for (let entered = 0; entered < 40; entered++) await enter()
  await until(() => origin.open() === 0)
})

t.test('TLS 1.2 has AEAD suites with forward secrecy alone, and there is nothing older', { skip }, async (t) => {
  const { url, refused } = await withTls(t)
  const older = await secured(url, { maxVersion: 'TLSv1.2' })
  t.match(older.getCipher().name, /^ECDHE-.*(?:GCM|POLY1305)/)
  older.destroy()
  for (const weak of [
    { maxVersion: 'TLSv1.2', ciphers: 'AES128-GCM-SHA256' },
    { maxVersion: 'TLSv1.2', ciphers: 'ECDHE-ECDSA-AES128-SHA' },
    { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' },
  ] as const) {
    await t.rejects(secured(url, weak))
  }
  await until(() => refused.length === 3)
  t.same(new Set(refused), new Set(['handshake']))
})

t.test('plain HTTP is sent to https, with its path', { skip }, async (t) => {
  const { proxy, url, origin } = await withTls(t, { tls: { redirect: true }, http: '127.0.0.1:0' })
  const { port } = new URL(url)
  const plain = proxy.httpUrl ?? ''
  for (const path of ['/a/b?c=%20d', '/v1/ip/lookup']) {
    const answer = await exchange(plain, get(path))
    t.match([readStatus(answer), answer], [308, `location: https://site.example:${port}${path}\r\n`])
  }
  t.equal(readStatus(await exchange(plain, get('/x%00'))), 400, 'what is bad is bad')
  t.equal(readStatus(await exchange(plain, 'GET / HTTP/1.0\r\n\r\n')), 400, 'no site, no place to send it to')
  t.same(origin.heads, [])
  const named = await withTls(t, { tls: { redirect: 443 }, http: '127.0.0.1:0' })
  const asked = get('/').replace('.example', '.example:81')
  t.match(await exchange(named.proxy.httpUrl ?? '', asked), /location: https:\/\/site\.example\/\r\n/)
})

t.test('HSTS is said at every answer over TLS, and nowhere else', { skip }, async (t) => {
  const field = 'max-age=300; includeSubDomains'
  const tls = { hsts: field, http2: false }
  const { proxy, url } = await withTls(t, { tls, http: '127.0.0.1:0', trust: ['loopback'] })
  const blocked = `X-Forwarded-For: ${VISITOR.blocked}`
  for (const bytes of [get('/'), get('/', blocked), get('/%00'), get('/v1/x')])
    t.match(await askedOver(await secured(url), bytes), `\r\nstrict-transport-security: ${field}\r\n`)
  t.notMatch(await exchange(proxy.httpUrl ?? '', get('/')), /strict-transport/i)
})

t.test('the JA4 is read however the hello comes, and is none of a trusted peer', { skip }, async (t) => {
  const { url, sallyport } = await withTls(t)
  const hello = await recordedHello()
  await askedOver(await secured(url, { servername: 'site.example' }), get('/'))
  t.equal(sallyport.asked[0]?.ja4, computeJa4(hello.subarray(5)), 'that of the hello')
  for (const pieces of [[...hello].map((byte) => Buffer.from([byte])), [inRecords(hello.subarray(5), 100)]]) {
    const client = await dial(url)
    for (const piece of pieces) client.write(piece)
    t.ok((await readUntil(client, SERVER_HELLO)).startsWith(SERVER_HELLO), 'and Node reads it too')
    client.destroy()
  }

  const behind = await withTls(t, { trust: ['loopback'] })
  await askedOver(await secured(behind.url), get('/'))
  t.equal(behind.sallyport.asked[0]?.ja4, undefined)
})

/** How a record with the answer to a hello begins. */
const SERVER_HELLO = String.fromCharCode(0x16, 3, 3)
const NEVER = /(?!)/

/** Records the first bytes of a client of this Node. */
async function recordedHello(): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const client = connect({ port, host: '127.0.0.1', servername: 'site.example' }).on('error', () => {})
  const [socket] = await once(server, 'connection')
  const [bytes] = await once(socket, 'data')
  for (const end of [client, socket]) end.destroy()
  server.close()
  return bytes as Buffer
}

t.test('bytes that are no hello, a hello too large, and none at all', { skip }, async (t) => {
  const { url, refused } = await withTls(t)
  t.match(await exchange(url, get('/')), /^HTTP\/1\.1 400 [\s\S]*This port speaks HTTPS\.\n$/)
  const huge = Buffer.concat([Buffer.from([1, 1, 0, 0]), Buffer.alloc(65_532)])
  await exchange(url, inRecords(huge, 16_000).toString('latin1'))
  await exchange(url, '\x16\x03\x01\x00\x00')
  t.same(refused, ['client_hello', 'client_hello', 'client_hello'])
  await readUntil((await dial(url)).end())
  t.equal(refused.length, 3, 'a client that leaves is none of them')
  t.equal(readStatus(await askedOver(await secured(url), get('/'))), 200, 'and the others are served')
  const hasty = await withTls(t, { timeouts: { clientHello: 100 } })
  await readUntil(await dial(hasty.url))
  t.same(hasty.refused, ['client_hello'])
})

t.test('clients that offer HTTP/1.0 alone, or beside others', { skip }, async (t) => {
  for (const http2 of [true, false]) {
    const { url } = await withTls(t, { tls: { http2 } })
    for (const [offered, chosen] of [
      [['http/1.0'], 'http/1.0'],
      [['spdy/3.1', 'http/1.0'], 'http/1.0'],
      [['http/1.0', 'http/1.1'], 'http/1.1'],
      [['h2', 'http/1.0'], http2 ? 'h2' : 'http/1.0'],
      [undefined, false],
    ] as const) {
      const socket = await secured(url, offered && { ALPNProtocols: [...offered] })
      t.equal(socket.alpnProtocol, chosen, `${offered}`)
      if (chosen === 'h2') socket.destroy()
      else t.equal(readStatus(await askedOver(socket, get('/'))), 200)
    }
    const old = await secured(url, { ALPNProtocols: ['http/1.0'] })
    t.equal(readStatus(await askedOver(old, 'GET / HTTP/1.0\r\n\r\n')), 200)
    for (const none of http2 ? ['imap'] : ['imap', 'h2'])
      await t.rejects(secured(url, { ALPNProtocols: [none] }), `${none} alone is refused`)
  }
})

t.test('a client that begins another handshake on its connection is refused', { skip }, async (t) => {
  const { url } = await withTls(t)
  for (const protocol of ['http/1.1', 'h2']) {
    const socket = await secured(url, { maxVersion: 'TLSv1.2', ALPNProtocols: [protocol], servername: 'a.example' })
    const failed = once(socket, 'error')
    socket.resume()
    socket.renegotiate({ rejectUnauthorized: false }, () => t.fail('it was carried out'))
    const [{ code }] = await failed.catch((error: unknown) => [error])
    t.equal(code, 'ERR_SSL_NO_RENEGOTIATION')
  }
  t.equal(readStatus(await askedOver(await secured(url, { maxVersion: 'TLSv1.2' }), get('/'))), 200)
})

t.test('a handshake that does not go on is cut, after the time that a reload names', { skip }, async (t) => {
  const { url, proxy, refused } = await withTls(t, { timeouts: { handshake: '10m' } })
  await proxy.reload({ timeouts: { handshake: 100, drain: 500 } })
  const silent = await send(url, await recordedHello())
  await readUntil(silent, NEVER)
  t.same(refused, ['handshake'])
  await proxy.reload({ timeouts: { handshake: '10m', drain: 500 } })
  t.equal(readStatus(await askedOver(await secured(url), get('/'))), 200, 'with the certificates as they were')
})
