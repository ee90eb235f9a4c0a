import { once } from 'node:events'
import { type RequestListener, request, type Server } from 'node:http'
import type { Socket } from 'node:net'
import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { SallyportError } from '@sallyport/core'
import type { Api } from '@sallyport/engine'
import t, { type Test } from 'tap'
import { sendResponse } from '../src/answer/send-response.ts'
import { answer, apiRequest } from '../src/api-answer.ts'
import { receive } from '../src/receive.ts'
import { readJson } from '../src/request/json-body.ts'
import { BODY_LIMIT } from '../src/request/read-ahead.ts'
import { dial, serve } from './support.ts'

/** Answers with the body it was given, or with the code of the error. */
const api: Api = async ({ json, path, query }) => {
  if (path === '/v1/unread') return { status: 401, headers: {}, body: 'refused' }
  const body = await json().catch((error: unknown) => {
    if (error instanceof SallyportError) return { code: error.code }
    throw error
  })
  const status = Object(body).code === 'payload_too_large' ? 413 : 200
  return { status, headers: {}, body: JSON.stringify({ path, query: String(query), body }) }
}

function serveApi(t: Test, parsed?: unknown, prepare?: (server: Server) => void): Promise<number> {
  const listener: RequestListener = async (req, res) => {
    const target = req.url ?? ''
    if (parsed !== undefined) for await (const _ of req);
    const response = await answer({ api }, req, { res, target, path: target, body: parsed })
    if (response) await sendResponse(res, response)
  }
  return serve(t, listener, prepare)
}

async function post(port: number, body: string | Buffer, headers: Readonly<Record<string, string>> = {}) {
  const place = { port, host: '127.0.0.1', agent: false, method: 'POST', path: '/v1?a=1&a=2', headers }
  const [answered] = await once(request(place).end(body), 'response')
  return JSON.parse(await text(answered)).body as unknown
}

const CHUNKED = { 'transfer-encoding': 'chunked' }

t.test('bodies by content type', async (t) => {
  const port = await serveApi(t)
  const invalid = { code: 'invalid_request' }
  const tooLarge = { code: 'payload_too_large' }
  const padded = (size: number) => `"${'x'.repeat(size - 2)}"`
  for (const [name, body, expected, headers] of [
    ['an object', '{"target":"192.0.2.1"}', { target: '192.0.2.1' }],
    ['in chunks', '{"a":["ü"]}', { a: ['ü'] }, CHUNKED],
    ['with a byte order mark', '\ufeff{}', {}],
    ['identity', '{}', {}, { 'content-encoding': ' Identity ' }],
    ['of the limit', padded(BODY_LIMIT), 'x'.repeat(BODY_LIMIT - 2)],
    ['over the limit by one', padded(BODY_LIMIT + 1), tooLarge],
    ['over the limit, in chunks', padded(BODY_LIMIT + 1), tooLarge, CHUNKED],
    ['none', '', invalid],
    ['half an object', '{"target":', invalid],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), invalid],
    ['compressed twice', '{}', invalid, { 'content-encoding': 'identity, br' }],
  ] as const)
    t.same(await post(port, body, headers), expected, name)
})

t.test('a host that has read the body hands over what it made of it', async (t) => {
  const port = await serveApi(t, { target: 'parsed' })
  t.same(await post(port, '{"target":"sent"}'), { target: 'parsed' })
  t.same(await post(port, '{}', { 'content-encoding': 'gzip' }), { code: 'invalid_request' }, 'on the same terms')
  t.same(await post(port, '', { 'content-length': '0' }), { code: 'invalid_request' }, 'and nothing is not an object')
  const unread = await serve(t, async (req, res) => {
    const response = await answer({ api }, req, { res, target: '/v1', path: '/v1', body: {} })
    if (response) await sendResponse(res, response)
  })
  t.same(await post(unread, '{"target":"sent"}'), { target: 'sent' }, "a parser's stand-in for a skipped body is none")
})

t.test('the body is read once, and not before it is asked for', async (t) => {
  const port = await serve(t, async (req, res) => {
    const head = receive({}, req, '/detect/v1/x?y=1').head
    const asked = apiRequest(head, '/v1/x?y=1#z', () => readJson(req, req.headers, undefined))
    t.equal(req.readableDidRead, false)
    t.same([asked.target, asked.path, String(asked.query)], ['/detect/v1/x?y=1', '/v1/x', 'y=1'])
    const both = await Promise.all([asked.json(), asked.json()])
    res.end(JSON.stringify({ body: both }))
  })
  t.same(await post(port, '{"n":1}'), [{ n: 1 }, { n: 1 }])
})

t.test("a body's fault is in details.fields too", async (t) => {
  const cut = Readable.from(['{'])
  cut.destroy()
  for (const [body, headers, message] of [
    [Readable.from(['{}']), { 'content-encoding': 'gzip' }, 'must not be compressed'],
    [Readable.from(['{']), {}, 'not valid JSON'],
    [cut, {}, 'ended early'],
  ] as const) {
    const details = { fields: [{ field: 'body', message }] }
    const expected = { code: 'invalid_request', message: `body: ${message}`, details }
    await t.rejects(readJson(body, headers, undefined), expected)
  }
})

t.test('a large body is refused unread, and the client can still read why', async (t) => {
  const TEN_MB = 10 * 1024 * 1024
  for (const [name, path, head, status] of [
    ['declared', '/v1', `Content-Length: ${TEN_MB}`, 413],
    ['in chunks', '/v1', 'Transfer-Encoding: chunked', 413],
    ['not even asked for', '/v1/unread', `Content-Length: ${TEN_MB}`, 401],
  ] as const) {
    let accepted: Socket | undefined
    const port = await serveApi(t, undefined, (server) => server.on('connection', (socket) => (accepted = socket)))
    const { socket, text: received } = dial(t, port, `POST ${path} HTTP/1.1\r\nHost: a\r\n${head}\r\n\r\n`)
    const chunk = head.startsWith('T') ? `8000\r\n${' '.repeat(0x8000)}\r\n` : ' '.repeat(0x8000)
    for (let sent = 0; sent < TEN_MB; sent += 0x8000) socket.write(chunk)
    socket.removeAllListeners('end')
    await once(socket, 'end')
    t.match(received(), new RegExp(`^HTTP/1.1 ${status} .*connection: close`, 's'), name)
    await setImmediate()
    t.equal(accepted?.destroyed, false, 'half closed, for the answer to be read')
    if (accepted && !accepted.destroyed) await once(accepted, 'close')
    t.ok(Number(accepted?.bytesRead) < TEN_MB / 4, `${accepted?.bytesRead} bytes were read`)
  }
})

t.test('a small body that nobody asked for costs no connection, nor does one in chunks that was read', async (t) => {
  const port = await serveApi(t)
  const unread = 'POST /v1/unread HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'
  const chunked = 'POST /v1 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n'
  const last = unread.replace('Host: a', 'Host: a\r\nConnection: close')
  const statuses = (await dial(t, port, unread + chunked + last).closed).match(/(?<=HTTP\/1\.1 )\d+/g)
  t.same(statuses, ['401', '200', '401'])
})
