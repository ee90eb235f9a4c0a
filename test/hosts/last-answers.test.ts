import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { listening } from '@sallyport/engine/testing'
import * as forKoa from '@sallyport/koa'
import type { ProxyHost } from '@sallyport/proxy'
import Koa from 'koa'
import t from 'tap'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { requestBytes } from './wire.ts'

/*
 * Behind an answer of ours with `Connection: close` nothing is carried out, whatever is in the same packet: where a body
 * was refused, its bytes may be a request (RFC 9112 9.6, 11.2).
 */
const { blocked, enforcing, key } = madeScene()
const SECOND = requestBytes('GET', '/second', ['Connection', 'close'])
const UPGRADE = requestBytes('GET', '/second', [
  'Connection',
  'Upgrade',
  'Upgrade',
  'websocket',
  'Sec-WebSocket-Version',
  '13',
  'Sec-WebSocket-Key',
  'dGhlIHNhbXBsZSBub25jZQ==',
])
const LARGE = ' '.repeat(70_000)
const FROM = ['X-Forwarded-For', blocked.address]
const KEYED = ['Authorization', `Bearer ${key}`, 'Content-Type', 'application/json']
const CHUNKED = ['Transfer-Encoding', 'chunked']

const post = (path: string, fields: readonly string[], body: string) => requestBytes('POST', path, fields) + body
const sized = (path: string, fields: readonly string[], body: string) =>
  post(path, [...fields, 'Content-Length', String(body.length)], body)
const inChunks = (...parts: readonly string[]) =>
  `${parts.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('')}0\r\n\r\n`

interface Row {
  readonly name: string
  readonly status: number
  readonly first: string
  /** A parser of the host's own answers it. */
  readonly parsed?: boolean | undefined
}

const ROWS: readonly Row[] = [
  { name: 'blocked, an empty body in chunks', status: 403, first: post('/shop', [...FROM, ...CHUNKED], inChunks()) },
  { name: 'blocked, a body in chunks', status: 403, first: post('/shop', [...FROM, ...CHUNKED], inChunks('a', 'bc')) },
  { name: 'blocked, a large body', status: 403, first: sized('/shop', FROM, LARGE) },
  { name: 'blocked, waits for 100', status: 403, first: sized('/shop', [...FROM, 'Expect', '100-continue'], LARGE) },
  {
    name: 'blocked, HTTP/1.0 that would be kept',
    status: 403,
    first: sized('/shop', [...FROM, 'Connection', 'keep-alive'], LARGE).replace('HTTP/1.1', 'HTTP/1.0'),
  },
  { name: 'API, a large body', status: 413, first: sized('/v1/ip/lookup', KEYED, LARGE), parsed: true },
  {
    name: 'API, a large body in chunks',
    status: 413,
    first: post('/v1/ip/lookup', [...KEYED, ...CHUNKED], inChunks(LARGE, 'x')),
    parsed: true,
  },
  { name: 'API, without a key', status: 401, first: post('/v1/ip/lookup', CHUNKED, inChunks('{}')), parsed: true },
  { name: 'two Hosts', status: 400, first: requestBytes('GET', '/shop', ['Host', 'other.example']) },
  { name: 'two Hosts for the API', status: 400, first: requestBytes('GET', '/v1', ['Host', 'other.example']) },
  { name: 'two Hosts, and a body', status: 400, first: sized('/shop', ['Host', 'other.example'], 'a=b') },
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
  return {
    all: answers.map((answer) => answer.slice(0, 3)),
    closes: /^connection: close/im.test(answers[0] ?? ''),
  }
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
    const site = await host.start(recording(seen), '')
    t.teardown(() => site.close())
    const wrong: unknown[] = []
    for (const { name, status, first, parsed = false } of ROWS) {
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
  app.use((ctx) => {
    ctx.body = 'ok'
  })
  const server = createServer(app.callback())
  const port = await listening(t, server)
  const first = requestBytes('GET', '/shop', ['Host', 'other.example'])
  t.same(await statuses(port, first + SECOND), { all: ['400'], closes: true })
  t.same(seen, [])
})
