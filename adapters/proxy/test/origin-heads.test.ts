import t from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_OPENSSL } from './certificate.ts'
import { ask, openHttp2 } from './http2-client.ts'
import { handshake } from './tunnels.ts'
import { type Answer, exchange, get, OK, readStatus } from './wire.ts'

/* How large the head of an origin's answer may be: `originHeadBytes` of the limits. */

/** Sends a head with so many bytes of one value, or of small fields, by the path of its request: `/one/20000`, `/many/20000`. */
const origin: Answer = (socket, head) => {
  const [, how, size] = /^\S+ \/(\w+)\/(\d+)/.exec(head) ?? []
  const bytes = Number(size)
  const fields =
    how === 'many'
      ? Array.from({ length: bytes / 10 }, (_, at) => `X-${String(at).padStart(5, '0')}: aaa`)
      : [`Set-Cookie: a=${'b'.repeat(bytes)}`]
  socket.write(size === undefined ? OK : `HTTP/1.1 200 OK\r\n${fields.join('\r\n')}\r\nContent-Length: 2\r\n\r\nok`)
}

t.test('one of 20 kB passes, and one beyond the limit is 502 with its reason', async (t) => {
  const { url, errors } = await proxyBefore(t, origin)
  for (const path of ['/one/20000', '/many/20000', '/one/32000']) {
    const answer = await exchange(url, get(path))
    t.equal(readStatus(answer), 200, path)
    t.ok(answer.length > 20_000)
  }
  t.same(errors, [])
  for (const bytes of [get('/one/33000'), get('/many/40000'), get('/one/400000'), handshake('/one/400000')]) {
    const answer = await exchange(url, bytes)
    t.equal(readStatus(answer), 502)
    t.match(answer, `"error":"bad_gateway","message":"The response headers of the origin are too large."`)
    const message = 'the response headers of the origin are too large (limit: 32768 bytes)'
    t.match(errors.at(-1), { code: 'bad_gateway', message })
  }
  t.equal(errors.length, 4)
  t.equal(readStatus(await exchange(url, get('/'))), 200, 'and the proxy lives')
})

t.test('as large as the configuration has it', async (t) => {
  const { url, errors, proxy } = await proxyBefore(t, origin, { limits: { originHeadBytes: 262_144 } })
  for (const path of ['/one/33000', '/one/260000', '/many/200000']) {
    t.equal(readStatus(await exchange(url, get(path))), 200, path)
    t.equal(readStatus(await exchange(url, handshake(path))), 200, `${path}, of a handshake`)
  }
  t.same(errors, [])
  await proxy.reload({ limits: { originHeadBytes: 4_096, eventLoopDelay: '1m' } })
  t.equal(readStatus(await exchange(url, get('/one/5000'))), 502)
  t.equal(readStatus(await exchange(url, get('/one/3000'))), 200)
})

t.test('to clients of HTTP/2 as well', { skip: NO_OPENSSL }, async (t) => {
  const { session } = await openHttp2(t, origin, { limits: { originHeadBytes: 262_144 } })
  for (const path of ['/one/20000', '/one/60000']) {
    const { status, headers, code } = await ask(session, { ':path': path })
    t.same([status, code], [200, 0], path)
    t.equal(headers['set-cookie']?.[0]?.length, Number(path.slice(5)) + 2)
  }
})
