import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import { inspection as inspectFetch, v1 as v1OfFetch } from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { guardUpgrade, type InspectionOptions, listener, v1 } from '@sallyport/node'
import { openProxy, type ProxyHost } from '@sallyport/proxy'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import { Hono } from 'hono'
import Koa from 'koa'
import Koa2 from 'koa2'

/** A server with inspection, the API under `base` and an upgrade guard, in front of the same site everywhere. */
export interface Host {
  readonly name: string
  /** A body parser of the host's own stands before the API: bodies that it refuses never reach us. */
  readonly parsesBodies?: boolean
  /** The host itself refuses targets with broken percent escapes, before any hook or middleware runs. */
  readonly refusesBrokenEscapes?: boolean
  /** The API is answered before the inspection; elsewhere the order is that of the middleware. */
  readonly answersApiFirst?: boolean
  /** It has web requests alone: fields of one name are one, and what ends a connection is not for it to say. */
  readonly hidesWire?: boolean
  /** The runtime itself reads targets as URLs before anybody sees them. */
  readonly normalisesTargets?: boolean
  /** Methods that it does not know, and answers itself. */
  readonly unknownMethods?: readonly string[]
  /** It has no `inspection`: what decides is its configuration. */
  readonly hasNoOptions?: boolean
  start(sallyport: ProxyHost, base: string, options?: AnyOptions): Promise<RunningHost>
}

/** Options that no host can take amiss: their hooks do without its request. */
export type AnyOptions = InspectionOptions<unknown>

export interface RunningHost {
  readonly port: number
  close(): Promise<void>
}

/** What the site behind every host answers: the request as it arrived there. */
async function echo(req: IncomingMessage, target: string | undefined, parsed?: unknown): Promise<unknown> {
  const body = req.method !== 'POST' ? undefined : req.readableDidRead ? parsed : JSON.parse(await text(req))
  return { method: req.method, target, ...verdictSeen(req), ...(body === undefined ? {} : { body }) }
}

/** Every field that anyone could take for a verdict of ours, by all the ways a Node request shows its fields. */
function verdictSeen(req: IncomingMessage): { readonly fields: readonly string[]; readonly headers: unknown } {
  const fields: string[] = []
  for (let i = 0; i + 1 < req.rawHeaders.length; i += 2) {
    const name = req.rawHeaders[i]?.toLowerCase() ?? ''
    if (SPELLING.test(name)) fields.push(name, req.rawHeaders[i + 1] ?? '')
  }
  const headers = Object.entries({ ...req.headers }).filter(([name]) => SPELLING.test(name))
  const hidden = Object.keys(req.headersDistinct).filter((name) => SPELLING.test(name) && !(name in req.headers))
  return { fields, headers: Object.fromEntries([...headers, ...hidden.map((name) => [name, 'in headersDistinct'])]) }
}

const SPELLING = /^sallyport[-_.]/

/** The site's WebSocket end: agrees at once, says what verdict it saw, and sends back what it gets. */
function agree(req: IncomingMessage, socket: Duplex): void {
  const seen = Buffer.from(JSON.stringify(verdictSeen(req))).toString('base64')
  const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`
  const accept = createHash('sha1').update(key).digest('base64')
  socket.on('error', () => socket.destroy())
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nX-Seen: ${seen}\r\n\r\n`,
  )
  socket.pipe(socket)
}

async function running(server: Server): Promise<RunningHost> {
  server.on('upgrade', agree)
  if (!server.listening) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

const node: Host = {
  name: 'node:http',
  async start(sallyport, base, options = {}) {
    const site = async (req: IncomingMessage, res: ServerResponse) => {
      res.setHeader('content-type', 'application/json; charset=utf-8')
      // A client may leave in the middle of its body.
      const seen = await echo(req, req.url).catch(() => undefined)
      res.end(JSON.stringify(seen))
    }
    const server = createServer(listener(sallyport, v1(sallyport, site, { base }), options))
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

function expressHost(name: string, create: typeof express, json: boolean): Host {
  return {
    name,
    parsesBodies: json,
    async start(sallyport, base, options = {}) {
      const app = create()
      app.use(forExpress.inspection(sallyport, options))
      if (json) app.use(create.json())
      app.use(base === '' ? '/' : base, forExpress.v1(sallyport))
      app.use((req, res, next) => {
        echo(req, req.originalUrl, req.body).then((seen) => res.json(seen), next)
      })
      const server = createServer(app)
      forExpress.guardUpgrade(server, sallyport, options)
      return running(server)
    },
  }
}

function koaHost(name: string, Application: typeof Koa): Host {
  return {
    name,
    async start(sallyport, base, options = {}) {
      const app = new Application()
      app.use(forKoa.inspection(sallyport, options))
      app.use(forKoa.v1(sallyport, { base }))
      app.use(async (ctx) => {
        ctx.body = await echo(ctx.req, ctx.originalUrl)
      })
      const server = createServer(app.callback())
      forKoa.guardUpgrade(server, sallyport, options)
      return running(server)
    },
  }
}

/** The same for hosts of web requests, which sort their headers. */
async function echoFetch(request: Request, headers: Headers = request.headers): Promise<Response> {
  const { pathname, search } = new URL(request.url)
  const names = ['action', 'network-class', 'request-id', 'asn', 'country', 'enforced', 'trial', 'attestation-id']
  const place = ([name]: readonly [string, string]) => names.indexOf(name.slice('sallyport-'.length))
  const seen = [...headers].filter(([name]) => SPELLING.test(name)).sort((one, other) => place(one) - place(other))
  const body = request.method === 'POST' ? { body: await request.json() } : {}
  const shown = {
    method: request.method,
    target: pathname + search,
    fields: seen.flat(),
    headers: Object.fromEntries(seen),
  }
  const type = { 'content-type': 'application/json; charset=utf-8' }
  return new Response(request.method === 'HEAD' ? null : JSON.stringify({ ...shown, ...body }), { headers: type })
}

const hono: Host = {
  name: 'Hono on Node',
  normalisesTargets: true,
  async start(sallyport, base, options = {}) {
    const app = new Hono()
    app.use(forHono.inspection(sallyport, options))
    app.use(forHono.v1(sallyport, { base }))
    app.all('*', (c) => echoFetch(c.req.raw))
    const server = createServer(getRequestListener(app.fetch))
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

/** A web-standard host by hand; the runtime below it says the address, and it is Node here. */
const fetchHost: Host = {
  name: 'fetch',
  normalisesTargets: true,
  hidesWire: true,
  async start(sallyport, base, options = {}) {
    const inspect = inspectFetch(sallyport, options)
    const server = createServer(
      getRequestListener(async (request, env) => {
        const place = { address: env.incoming.socket.remoteAddress, base }
        const { response, headers, end } = await inspect(request, place)
        if (response !== undefined) return response
        return (await v1OfFetch(sallyport, request, place)) ?? end(await echoFetch(request, headers))
      }),
    )
    guardUpgrade(server, sallyport, options)
    return running(server)
  },
}

function fastifyHost(name: string, create: typeof Fastify, unknownMethods: readonly string[] = []): Host {
  return {
    name,
    unknownMethods,
    refusesBrokenEscapes: true,
    async start(sallyport, base, options = {}) {
      const app = create()
      await app.register(forFastify.inspection, { sallyport, ...options })
      await app.register(forFastify.v1, { sallyport, prefix: base })
      app.all('/*', (request) => echo(request.raw, request.originalUrl, request.body))
      await app.listen({ port: 0, host: '127.0.0.1' })
      forFastify.guardUpgrade(app.server, sallyport, options)
      return running(app.server)
    },
  }
}

const proxy: Host = {
  name: 'the proxy',
  hasNoOptions: true,
  refusesBrokenEscapes: true,
  answersApiFirst: true,
  async start(sallyport, base) {
    const origin = await running(
      createServer(async (req, res) => {
        res.setHeader('content-type', 'application/json; charset=utf-8')
        res.end(JSON.stringify(await echo(req, req.url)))
      }),
    )
    const { url, close } = await openProxy(sallyport, {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      upstream: `http://127.0.0.1:${origin.port}`,
      api: { base },
      timeouts: { drain: 0 },
    })
    return {
      port: Number(new URL(url).port),
      async close() {
        await close()
        await origin.close()
      },
    }
  },
}

/** Every host there is; the first is the one the others are compared with. */
export const HOSTS: readonly Host[] = [
  node,
  expressHost('Express 5', express, false),
  expressHost('Express 5 behind express.json()', express, true),
  expressHost('Express 4', express4, false),
  expressHost('Express 4 behind express.json()', express4, true),
  koaHost('Koa 3', Koa),
  koaHost('Koa 2', Koa2),
  fastifyHost('Fastify 5', Fastify),
  fastifyHost('Fastify 4', Fastify4, ['QUERY']),
  hono,
  fetchHost,
  proxy,
]
