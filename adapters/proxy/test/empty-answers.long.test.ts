import t from 'tap'
import { proxyBefore } from './behind.ts'
import { NO_OPENSSL } from './certificate.ts'
import { ask, openHttp2 } from './http2-client.ts'
import { type Answer, dial, exchange, get, OK, readStatus, readUntil, until } from './wire.ts'

/* Answers that end with their heads, whatever length these give: a kept connection of a client goes on behind each. */

const LENGTH = 'Content-Length: 500'
/** Heads of an origin, by their paths; the client receives the status of the head. */
const EMPTY: Readonly<Record<string, readonly string[]>> = {
  '/304': ['304 Not Modified', 'ETag: "x"', LENGTH],
  '/304-none': ['304 Not Modified'],
  '/304-chunked': ['304 Not Modified', 'Transfer-Encoding: chunked'],
  '/304-close': ['304 Not Modified', LENGTH, 'Connection: close'],
  '/304-large': ['304 Not Modified', 'Content-Length: 99999999999'],
  '/204': ['204 No Content', LENGTH],
  '/205-length': ['205 Reset Content', LENGTH],
  '/205-chunked': ['205 Reset Content', 'Transfer-Encoding: chunked'],
  '/hinted': [`103 Early Hints\r\n${LENGTH}\r\n\r\nHTTP/1.1 304 Not Modified`, LENGTH],
}

const writeHead = (lines: readonly string[]): string => [`HTTP/1.1 ${lines[0]}`, ...lines.slice(1), '', ''].join('\r\n')
const finalStatus = ([first = '']: readonly string[]): number => Number(/(?:^|HTTP\/1\.1 )([2-5]\d\d)/.exec(first)?.[1])

/** Answers HEAD with the length of a GET, and all but the paths above with OK. */
const origin: Answer = (socket, head) => {
  const [, method, path = ''] = /^(\S+) (\S+)/.exec(head) ?? []
  const lines = EMPTY[path]
  if (method === 'HEAD') socket.write(`HTTP/1.1 200 OK\r\n${LENGTH}\r\n\r\n`)
  else socket.write(lines ? writeHead(lines) : OK)
}

const BODY = 'abc'
const post = (path: string): string =>
  `POST ${path} HTTP/1.1\r\nHost: site.example\r\nContent-Length: ${BODY.length}\r\n\r\n${BODY}`
const asked = (method: string, path: string): string =>
  `${method} ${path} HTTP/1.1\r\nHost: site.example\r\nIf-None-Match: "x"\r\n\r\n`
const HEAD_END = /HTTP\/1\.1 [2-5][\s\S]*\r\n\r\n/

t.test('a kept connection goes on behind each of them', async (t) => {
  const { url, errors } = await proxyBefore(t, origin)
  for (const [path, lines] of Object.entries({ ...EMPTY, '/head': ['200 OK'] })) {
    const client = await dial(url)
    for (let turn = 0; turn < 10; turn++) {
      client.write(asked(path === '/head' ? 'HEAD' : 'GET', path))
      const empty = await readUntil(client, HEAD_END)
      t.equal(readStatus(empty.slice(empty.lastIndexOf('HTTP/1.1 '))), finalStatus(lines), path)
      t.notMatch(empty, /^connection: close/im)
      client.write(post('/post'))
      t.match(await readUntil(client, /ok$/), /^HTTP\/1\.1 200 /, `the POST behind ${path}`)
    }
    client.destroy()
  }
  t.same(errors, [], 'and no failure of the origin is counted')
})

t.test('a body behind such a head is nobody\u2019s, at once or later', async (t) => {
  const evil = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'
  for (const pause of [0, 1, 20]) {
    const answer: Answer = (socket, head) => {
      const lines = EMPTY[/^\S+ (\S+)/.exec(head)?.[1] ?? '']
      if (lines === undefined) socket.write(OK)
      else if (pause === 0) socket.write(writeHead(lines) + evil)
      else socket.write(writeHead(lines), () => setTimeout(() => socket.write(evil), pause))
    }
    const { url } = await proxyBefore(t, answer)
    for (const path of ['/304', '/204', '/205-length']) {
      for (const next of ['/a', '/b', '/c']) {
        t.equal(await exchange(url, get(path)).then(readStatus), Number(path.slice(1, 4)))
        t.match(await exchange(url, get(next)), /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nok$/, `${path}, ${pause} ms`)
      }
    }
  }
})

t.test('over HTTP/2', { skip: NO_OPENSSL }, async (t) => {
  const { session, errors } = await openHttp2(t, origin)
  for (const [path, lines] of Object.entries(EMPTY)) {
    for (let turn = 0; turn < 3; turn++) {
      const { status, code, body } = await ask(session, { ':path': path, 'if-none-match': '"x"' })
      t.same([status, code, body], [finalStatus(lines), 0, ''], path)
      const posted = await ask(session, { ':path': '/post', ':method': 'POST' }, BODY)
      t.same([posted.status, posted.body], [200, 'ok'])
    }
  }
  const head = await ask(session, { ':method': 'HEAD' })
  t.same([head.status, head.code, head.headers['content-length']], [200, 0, '500'])
  t.same(errors, [])
})

t.test('a server that answers its health checks so is well', async (t) => {
  let checks = 0
  const answer: Answer = (socket, head) => {
    if (!head.startsWith('GET /well ')) socket.write(OK)
    else if (checks++ % 2 === 0) socket.write(writeHead(['204 No Content', LENGTH]))
    else socket.write(`HTTP/1.1 100 Continue\r\n\r\n${OK}`)
  }
  const health = { path: '/well', interval: 5, timeout: 1_000 }
  const { url, notices, proxy, origin } = await proxyBefore(t, answer)
  await proxy.reload({ routes: [{ upstreams: [origin.url], health }], limits: { eventLoopDelay: '1m' } })
  await until(() => checks >= 8)
  t.same(notices, [])
  t.equal(readStatus(await exchange(url, get('/'))), 200)
})
