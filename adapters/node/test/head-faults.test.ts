import { once } from 'node:events'
import { IncomingMessage } from 'node:http'
import { connect, createServer as createHttp2, type OutgoingHttpHeaders } from 'node:http2'
import { Socket } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import t from 'tap'
import { sendResponse } from '../src/answer/send-response.ts'
import { answer } from '../src/api-answer.ts'
import { type Decider, guardUpgrade } from '../src/index.ts'
import { decideRequest, decider, dial, hearWarnings, serve } from './support.ts'

const SINGLE: Decider = { ...decider(), singleHeader: 'x-real-ip' }

/** Heads that servers read in two ways, with the answer. */
const REFUSED: readonly (readonly [head: string, status: number, reason: RegExp])[] = [
  ['GET / HTTP/1.1\r\nHost: a\r\nhost: b', 400, /host may be sent once/],
  ['GET / HTTP/1.1\r\nHost: u@a', 400, /Host is not/],
  ['GET / HTTP/1.1\r\nHost: a, b', 400, /Host is not/],
  ['GET http://b/ HTTP/1.1\r\nHost: a', 400, /target and Host differ/],
  ['GET HTTPS://a/x HTTP/1.1\r\nHost: a:443', 400, /The target is https, and the connection is not/],
  ['GET http://u@a/ HTTP/1.1\r\nHost: a', 400, /The target is neither/],
  ['GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: x\r\nuser-agent: y', 400, /user-agent may be sent once/],
  ['GET / HTTP/1.1\r\nHost: a\r\nAuthorization: x\r\nAuthorization: y', 400, /authorization may be sent once/],
  ['GET / HTTP/1.1\r\nHost: a\r\nContent-Type: x\r\nContent-Type: y', 400, /content-type may be sent once/],
  ['GET / HTTP/1.1\r\nHost: a\r\nX-Real-IP: 192.0.2.1\r\nx-real-ip: 192.0.2.1', 400, /x-real-ip may be sent once/],
  ['GET / HTTP/1.1\r\nHost: a\r\nConnection: close, Sallyport_Action', 400, /Connection must not name/],
  ['GET / HTTP/1.1\r\nHost: a\r\nConnection: x\r\nConnection: Cookie', 400, /Connection must not name cookie/],
  ['POST / HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked', 400, /HTTP\/1\.0/],
  ['POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked', 501, /only chunked/],
  ['GET / HTTP/2.0\r\nHost: a', 505, /Only HTTP/],
]

/** Requests that an application may want to see, although the proxy serves none of it. */
const PASSED = [
  'PROPFIND / HTTP/1.1\r\nHost: a',
  'GET / HTTP/1.0',
  'GET / HTTP/1.1\r\nHost:',
  'GET //x/../y%2e%2e;z/%zz?<"> HTTP/1.1\r\nHost: a',
  `GET /${'a'.repeat(9_000)} HTTP/1.1\r\nHost: a`,
  'OPTIONS * HTTP/1.1\r\nHost: a',
  'POST / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\nContent-Length: 0',
  `GET / HTTP/1.1\r\nHost: a${'\r\nX: y'.repeat(200)}`,
  'GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 192.0.2.1\r\nX-Forwarded-For: 192.0.2.2\r\nX-Real-IP: 192.0.2.1',
]

t.test('a head that servers read in two ways is refused, and any other is left to the application', async (t) => {
  const seen: string[] = []
  const port = await serve(t, async (req, res) => {
    const { refusal } = await decideRequest(SINGLE, { req, res })
    if (refusal !== undefined) return void sendResponse(res, refusal)
    seen.push(req.url ?? '')
    res.setHeader('connection', 'close')
    res.end('passed')
  })
  const wrong: string[] = []
  for (const [head, status, reason] of REFUSED) {
    const text = await dial(t, port, `${head}\r\n\r\n`).closed
    if (!text.startsWith(`HTTP/1.1 ${status} `) || !reason.test(text)) wrong.push(`${head}\n${text}`)
  }
  t.same(seen, [])
  for (const head of PASSED) {
    const text = await dial(t, port, `${head}\r\n\r\n`).closed
    if (!text.endsWith('passed')) wrong.push(`${head}\n${text}`)
  }
  t.same(wrong, [])
})

t.test('the same for the API, and for an upgrade, of which no listener hears', async (t) => {
  const port = await serve(
    t,
    async (req, res) => {
      const target = req.url ?? ''
      const api = async () => ({ status: 200, headers: {}, body: 'asked' })
      const response = await answer({ api, singleHeader: 'x-real-ip' }, req, { res, target, path: target })
      if (response !== undefined) await sendResponse(res, response)
    },
    (server) => {
      guardUpgrade(server, SINGLE)
      server.on('upgrade', (_req, socket) => void socket.end('HTTP/1.1 101 \r\n\r\n'))
    },
  )
  for (const fields of ['Host: b', 'X-Real-IP: 1\r\nX-Real-IP: 2', 'Connection: Host']) {
    for (const more of ['', '\r\nConnection: Upgrade\r\nUpgrade: websocket']) {
      const head = `GET /v1/myip HTTP/1.1\r\nHost: a\r\n${fields}${more}\r\n\r\n`
      t.match(await dial(t, port, head).closed, /^HTTP\/1\.1 400 /, fields)
    }
  }
  for (const target of ['http://b/v1/myip', 'http://a:8443/v1/myip', 'https://a/v1/myip', 'HTTPS://u:p@b:8443/v1']) {
    t.match(await dial(t, port, `GET ${target} HTTP/1.1\r\nHost: a\r\n\r\n`).closed, /^HTTP\/1\.1 400 /, target)
  }
})

t.test('HTTP/2 has no Host, and its answers name no connection', async (t) => {
  const server = createHttp2(async (req, res) => {
    const { refusal } = await decideRequest(SINGLE, { req: req as unknown as IncomingMessage })
    res.writeHead(refusal?.status ?? 200, { ...refusal?.headers }).end()
  })
  const session = connect(`http://127.0.0.1:${await listening(t, server as never)}`)
  t.teardown(() => session.close())
  const warnings = hearWarnings(t)
  for (const [headers, status] of [
    [{ trailer: 'x' }, 200],
    [{ host: 'site.example' }, 200],
    [{ ':authority': 'site.example', host: 'SITE.example' }, 200],
    [{ ':authority': 'site.example', host: 'other.example' }, 400],
    [{ ':authority': 'site.example', host: 'site.example:80' }, 200],
    [{ ':authority': 'site.example', host: 'site.example:443' }, 400],
    [{ 'x-real-ip': ['192.0.2.1', '192.0.2.2'] }, 400],
    [{ ':path': '/blocked' }, 403],
  ] as readonly (readonly [OutgoingHttpHeaders, number])[]) {
    const stream = session.request({ ':path': '/a', ...headers }).resume()
    const [answered] = await once(stream, 'response')
    t.equal(answered[':status'], status, JSON.stringify(headers))
  }
  t.same(warnings, [])
})

t.test('a request that came by no connection has no head to be read in two ways', async (t) => {
  const made = Object.assign(new IncomingMessage(new Socket()), { headers: { host: 'a' } })
  for (const url of ['/', '', 'http://site.example/']) {
    t.equal((await decideRequest(SINGLE, { req: Object.assign(made, { url }) })).refusal, undefined, url)
  }
})
