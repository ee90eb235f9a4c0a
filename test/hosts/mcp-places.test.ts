import { channel } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import type { ObservedRequest } from '@sallyport/core'
import type { ConfigInput } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import type { PhaseEvent } from '@sallyport/node/internal'
import express from 'express'
import { Hono } from 'hono'
import Koa from 'koa'
import t from 'tap'
import { everyHost, type RuleInput, startHost } from './every-host.ts'
import { answerEcho, type RunningHost, running } from './host.ts'
import { HOSTS, type Host } from './hosts.ts'
import { startProxy, startProxyBefore } from './proxy.ts'
import { askAs, exchange, parseResponse, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* Where a body was read before Sallyport, is not shown to it, or comes late. */
const NO_DELETE = { id: 'no-delete', match: { mcp: { name: ['delete'] } }, action: 'block' } as const
const POLICY = { preset: 'observe', rules: [NO_DELETE] } satisfies ConfigInput['policy']
const JSON_TYPE = ['Content-Type', 'application/json']

const call = (name: string, id = 1) => JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
/** Lists the headers of a call by MCP 2026-07-28. */
const marks = (name: string) => ['MCP-Protocol-Version', '2026-07-28', 'Mcp-Method', 'tools/call', 'Mcp-Name', name]

const post = (at: Pick<RunningHost, 'port'>, body: string, fields: readonly string[] = [], target = '/mcp') =>
  askAs(at, '8.8.8.8', target, [...JSON_TYPE, ...fields], { method: 'POST', body })

type Start = (sallyport: Awaited<ReturnType<typeof openWithoutData>>) => Promise<RunningHost>

function expressAfter(parser: express.RequestHandler): Start {
  return (sallyport) => {
    const app = express()
    app.use(parser, forExpress.inspection(sallyport))
    app.post('/mcp', (req, res) => void res.json(Buffer.isBuffer(req.body) ? String(req.body) : req.body))
    return running(createServer(app))
  }
}

/** Hosts in which something has read the body before, and kept it in one form. */
const PARSED: Readonly<Record<string, Start>> = {
  'express.json': expressAfter(express.json()),
  'express.text': expressAfter(express.text({ type: '*/*' })),
  'express.raw': expressAfter(express.raw({ type: '*/*' })),
  '@koa/bodyparser': (sallyport) => {
    const app = new Koa()
    app.use(bodyParser()).use(forKoa.inspection(sallyport))
    app.use((ctx) => void Object.assign(ctx, { body: (ctx.request as { readonly body?: unknown }).body }))
    return running(createServer(app.callback()))
  },
  'Hono, by an earlier middleware': (sallyport) => {
    const app = new Hono()
    app.use(async (c, next) => {
      await c.req.json()
      await next()
    })
    app.use(forHono.inspection(sallyport))
    app.post('/mcp', async (c) => c.json(await c.req.json()))
    return running(createServer(getRequestListener(app.fetch)))
  },
}

t.test('a body that a parser has read before', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  for (const [name, start] of Object.entries(PARSED)) {
    await t.test(name, async (t) => {
      const at = await start(sallyport)
      t.teardown(() => at.close())
      t.match(await post(at, call('search')), { status: 200, body: 'search' })
      const refused = await post(at, call('delete', 3))
      t.match([refused.status, JSON.parse(refused.body)], [403, { id: 3, error: { code: 403 } }])
    })
  }
})

t.test('a body that something has read and not kept cannot be checked', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const app = express()
  app.use((req, _res, next) => void req.on('data', () => {}).on('end', next))
  app.use(forExpress.inspection(sallyport), (_req, res) => void res.send('reached'))
  const at = await running(createServer(app))
  t.teardown(() => at.close())
  t.match(await post(at, call('search')), { status: 400, body: /-32020/ })
  t.match(await post(at, call('search'), marks('search')), { status: 200, body: 'reached' })
})

everyHost('the API reads its bodies where a rule has read them', { policy: POLICY }, async (t, at, sallyport) => {
  const { key } = await sallyport.keyring.issue({ name: 'test' })
  const keyed = ['Authorization', `Bearer ${key}`]
  const { status, body } = await post(at, '{"target":"5.9.10.20"}', keyed, '/v1/ip/lookup')
  t.match([status, JSON.parse(body)], [200, { target: { ip: '5.9.10.20' } }])
})

t.test('a server that asks shows no body: headers that its server compares are believed, and no others', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY, forwardAuth: 'caddy' })
  const gate = await startProxy(t, sallyport, { forwardAuth: 'caddy' })
  const original = ['X-Forwarded-Host', 'site.example', 'X-Forwarded-Uri', '/mcp', 'X-Forwarded-Method', 'POST']
  const check = (...fields: readonly string[]) =>
    askAs(gate, '8.8.8.8', '/.sallyport/check', [...original, 'X-Forwarded-Proto', 'https', ...JSON_TYPE, ...fields])
  t.equal((await check(...marks('search'))).status, 200)
  const refused = await check(...marks('delete'))
  t.match([refused.status, JSON.parse(refused.body)], [403, { jsonrpc: '2.0', error: { code: 403 } }])
  const old = ['MCP-Protocol-Version', '2025-11-25', 'Mcp-Method', 'tools/list']
  for (const fields of [old, []]) t.match(await check(...fields), { status: 400, body: /-32020/ })
})

t.test('nginx, which keeps no body of a refusal, has the gate write it as JSON-RPC', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY, forwardAuth: 'nginx' })
  const gate = await startProxy(t, sallyport, { forwardAuth: 'nginx' })
  const ask = (target: string, ...fields: readonly string[]) =>
    askAs(gate, '8.8.8.8', target, [...JSON_TYPE, ...fields])
  const original = ['X-Original-URI', '/mcp', 'X-Original-Method', 'POST']
  const deleting = marks('delete')
  for (const [fields, told, status, error] of [
    [deleting, '403;mcp', 403, { code: 403, data: { error: 'request_blocked' } }],
    [[], '400;mcp', 400, { code: -32020, message: /^Header mismatch/ }],
  ] as const) {
    const { headers } = await ask('/.sallyport/check', ...original, ...fields)
    t.equal(headers['sallyport-status'], told)
    const refused = await ask('/.sallyport/refused', 'Sallyport-Status', told, ...fields)
    t.match([refused.status, JSON.parse(refused.body)], [status, { jsonrpc: '2.0', error }])
  }
  const late = await ask('/.sallyport/refused', 'Sallyport-Status', '429;mcp', 'Retry-After', '30', ...deleting)
  t.match([late.status, JSON.parse(late.body)], [429, { error: { code: 429, data: { retryAfter: 30 } } }])
  const page = await ask('/.sallyport/refused', 'Sallyport-Status', '403', ...deleting)
  t.match(JSON.parse(page.body), { error: 'request_blocked' }, 'no rule read calls of this request')
})

const ASK_DELETE: RuleInput = { id: 'ask', match: { path: ['/mcp'], mcp: { name: ['delete'] } }, action: 'challenge' }
const DELETING = { policy: { preset: 'observe', rules: [ASK_DELETE] } } satisfies Partial<ConfigInput>

everyHost('a challenge of a call is an error that its client can read', DELETING, async (t, at) => {
  for (const accept of ['application/json, text/event-stream', 'text/html']) {
    const { status, headers, body } = await post(at, call('delete', 8), ['Accept', accept])
    t.equal(status, 403)
    t.match(headers['content-type'], 'application/json')
    t.match(JSON.parse(body), { id: 8, error: { code: 403, data: { error: 'challenge_required', level: 1 } } })
  }
  t.equal((await post(at, call('search'))).status, 200)
})

t.test('the proxy asks for a body that waits for 100 Continue', async (t) => {
  const { port } = await startProxyBefore(t, await openWithoutData(t, { policy: POLICY }), answerEcho)
  for (const [name, status] of [
    ['search', 200],
    ['delete', 403],
  ] as const) {
    const body = call(name)
    const socket = connect(port, '127.0.0.1').setEncoding('utf8')
    let received = ''
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    socket.on('data', (part: string) => {
      if (received === '') socket.write(body)
      received += part
    })
    const fields = [...JSON_TYPE, 'Expect', '100-continue', 'Content-Length', `${body.length}`, 'Connection', 'close']
    socket.write(requestBytes('POST', '/mcp', fields))
    await ended
    t.match(received, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 /)
    t.equal(parseResponse(received.slice(received.indexOf('HTTP/1.1', 8))).status, status)
  }
})

t.test('the proxy ends the wait for a slow body', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const timeouts = { idleBody: 50 }
  const { port } = await startProxy(t, sallyport, { upstream: 'http://127.0.0.1:1', timeouts })
  const answer = await exchange(port, requestBytes('POST', '/mcp', [...JSON_TYPE, 'Content-Length', '100']))
  t.equal(parseResponse(answer).status, 408)
})

t.test('the proxy reads bodies only for requests with a slot', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const options = { upstream: 'http://127.0.0.1:1', limits: { inFlight: 1 }, timeouts: { queue: 1 } }
  const { port } = await startProxy(t, sallyport, options)
  const phases = channel('sallyport.phase')
  const reading = new Promise<void>((resolve) => {
    const hear = (event: unknown) => {
      if ((event as PhaseEvent).phase !== 'inspect') return
      phases.unsubscribe(hear)
      resolve()
    }
    phases.subscribe(hear)
  })
  const slow = connect(port, '127.0.0.1')
  t.teardown(() => slow.destroy())
  slow.write(requestBytes('POST', '/mcp', [...JSON_TYPE, 'Content-Length', '100']))
  await reading
  t.equal((await post({ port }, call('search'))).status, 503)
})

t.test('the log has the calls', async (t) => {
  const seen: ObservedRequest[] = []
  const sallyport = await openWithoutData(t, { policy: POLICY }, { observe: (request) => void seen.push(request) })
  const at = await startHost(t, HOSTS[0] as Host, sallyport)
  await post(at, `[${call('search')},${call('delete')}]`)
  await post(at, '{"a":1}')
  sallyport.drain()
  const calls = [
    { method: 'tools/call', name: 'search' },
    { method: 'tools/call', name: 'delete' },
  ]
  t.match(seen[0]?.decision?.inspection.mcp?.calls, calls)
  t.equal(seen[1]?.decision?.inspection.mcp, undefined)
})
