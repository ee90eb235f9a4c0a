import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import * as forKoa from '@sallyport/koa'
import type { ProxyHost } from '@sallyport/proxy'
import Koa from 'koa'
import t from 'tap'
import { startHost } from './every-host.ts'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { requestBytes, WEBSOCKET } from './wire.ts'

/*
 * Behind an answer of ours with `Connection: close` nothing is carried out, whatever is in the same packet: where a body
 * was refused, its bytes may be a request (RFC 9112 9.6, 11.2).
 */
const { blocked, enforcing, key } = madeScene()
const SECOND = requestBytes('GET', '/second', ['Connection', 'close'])
const UPGRADE = requestBytes('GET', '/second', WEBSOCKET)
const LARGE = ' '.repeat(70_000)
const FROM = ['X-Forwarded-For', blocked.address]
const KEYED = ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json']
const CHUNKED = ['Transfer-Encoding', 'chunked']

const post = (path: string, fields: readonly string[], body: string) => requestBytes('POST', path, fields) + body
const sized = (path: string, fields: readonly string[], body: string) =>
  post(path, [...fields, 'Content-Length', String(body.length)], body)
const inChunks = (...parts: readonly string[]) =>
  `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`

const LOOKUP = '/v1/ip/lookup'
const KEPT = sized('/shop', [...FROM, 'Connection', 'keep-alive'], LARGE).replace('HTTP/1.1', 'HTTP/1.0')
const OTHER = ['Host', 'other.example']

/** The first request, the status of its answer, and whether a parser of the host's own answers it. */
const ROWS: readonly (readonly [name: string, status: number, first: string, parsed?: boolean])[] = [
  ['blocked, an empty body in chunks', 403, post('/shop', [...FROM, ...CHUNKED], inChunks())],
  ['blocked, a body in chunks', 403, post('/shop', [...FROM, ...CHUNKED], inChunks('a', 'bc'))],
  ['blocked, a large body', 403, sized('/shop', FROM, LARGE)],
  ['blocked, waits for 100', 403, sized('/shop', [...FROM, 'Expect', '100-continue'], LARGE)],
  ['blocked, HTTP/1.0 that would be kept', 403, KEPT],
  ['API, a large body', 413, sized(LOOKUP, KEYED, LARGE), true],
  ['API, a large body in chunks', 413, post(LOOKUP, [...KEYED, ...CHUNKED], inChunks(LARGE, 'x')), true],
  ['API, without a key', 401, post(LOOKUP, CHUNKED, inChunks('{}')), true],
  ['two Hosts', 400, requestBytes('GET', '/shop', OTHER)],
  ['two Hosts for the API', 400, requestBytes('GET', '/v1', OTHER)],
  ['two Hosts, and a body', 400, sized('/shop', OTHER, 'a=b')],
  ['another site in the target', 400, requestBytes('GET', 'http://other.example/shop', [])],
  ['another site in the target, for the API', 400, requestBytes('GET', 'http://other.example/v1/myip', [])],
  ['a Connection that names Host', 400, requestBytes('GET', '/shop', ['Connection', 'keep-alive, Host'])],
]

/** The statuses that a client gets which sends `bytes`, then `later` once there is an answer. */
async function statuses(port: number, bytes: string, later = ''): Promise<{ all: string[]; closes: boolean }> {
  const socket = connect(port, '127.0.0.1')
  let text = ''
  // A refused request is not read to its end.
  socket.on('error', () => {})
  socket.setEncoding('utf8').on('data', (more: string) => {
    if (later !== '' && !/HTTP\/1\.1 [2-5]/.test(text)) socket.write(later)
    text += more
  })
  socket.write(bytes)
  await once(socket, 'close')
  const [, ...answers] = text.split(/HTTP\/1\.1 (?=[2-5])/)
  const closes = /^connection: close/im.test(answers[0] ?? '')
  return { all: answers.map((answer) => answer.slice(0, 3)), closes }
}

function recording(seen: string[]): ProxyHost {
  return {
    ...enforcing,
    decide(request) {
      seen.push(request.target)
      return enforcing.decide(request)
    },
  }
}

for (const host of HOSTS.filter(({ hidesWire = false }) => !hidesWire)) {
  t.test(host.name, async (t) => {
    const seen: string[] = []
    const site = await startHost(t, host, recording(seen))
    const wrong: unknown[] = []
    for (const [name, status, first, parsed = false] of ROWS) {
      if (parsed && host.parsesBodies) continue
      for (const [place, bytes, later] of [
        ['in one packet', first + SECOND, ''],
        ['an upgrade in one packet', first + UPGRADE, ''],
        ['later', first, SECOND],
      ] as const) {
        seen.length = 0
        const { all, closes } = await statuses(site.port, bytes, later)
        const carriedOut = seen.includes('/second')
        // The connection may be kept, and the second served, where all of the first was parsed before it was answered.
        if (all[0] !== String(status) || closes === carriedOut || (closes && all.length > 1)) {
          wrong.push({ name, place, all, closes, seen: [...seen] })
        }
      }
    }
    t.same(wrong, [])
  })
}

t.test('also where something waits before the inspection', async (t) => {
  const seen: string[] = []
  const app = new Koa()
  app.use(async (_ctx, next) => {
    await new Promise((resolve) => setImmediate(resolve))
    await next()
  })
  app.use(forKoa.inspection(recording(seen)))
  const port = await listening(t, createServer(app.callback()))
  const first = requestBytes('GET', '/shop', ['Host', 'other.example'])
  t.same(await statuses(port, first + SECOND), { all: ['400'], closes: true })
  t.same(seen, [])
})
