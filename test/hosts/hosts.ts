import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import { inspection as inspectFetch, v1 as v1OfFetch } from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { listener, v1 } from '@sallyport/node'
import { openProxy } from '@sallyport/proxy'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import { Hono } from 'hono'
import Koa, { type Middleware } from 'koa'
import bodyParserOfKoa2 from 'koa-bodyparser'
import Koa2 from 'koa2'
import { answerEcho, type Host, running, serve } from './host.ts'
import { HTTP1, tlsFiles } from './protocols.ts'
import { echo, echoFetch } from './site.ts'

export { type AnyOptions, type Host, type RunningHost, running, speaks } from './host.ts'

const node: Host = {
  name: 'node:http',
  speaks: ['tls', 'h2', 'h2c'],
  async start(sallyport, base, options = {}, over = HTTP1) {
    return serve(over, listener(sallyport, v1(sallyport, answerEcho, { base }), options), sallyport, options)
  },
}

function expressHost(name: string, create: typeof express, parses: boolean): Host {
  return {
    name,
    parsesBodies: parses,
    speaks: ['tls'],
    async start(sallyport, base, options = {}, over = HTTP1) {
      const app = create()
      app.use(forExpress.inspection(sallyport, options))
      if (parses) app.use(create.json(), create.urlencoded({ extended: false }))
      app.use(base === '' ? '/' : base, forExpress.v1(sallyport))
      app.use((req, res, next) => {
        echo(req, req.originalUrl, req.body).then((seen) => res.json(seen), next)
      })
      return serve(over, app, sallyport, options)
    },
  }
}

function koaHost(name: string, Application: typeof Koa, parser?: Middleware): Host {
  return {
    name,
    parsesBodies: parser !== undefined,
    // Koa 2 never answers a HEAD of HTTP/2.
    speaks: Application === Koa2 ? ['tls'] : ['tls', 'h2', 'h2c'],
    async start(sallyport, base, options = {}, over = HTTP1) {
      const app = new Application()
      app.use(forKoa.inspection(sallyport, options))
      if (parser !== undefined) app.use(parser)
      app.use(forKoa.v1(sallyport, { base }))
      app.use(async (ctx) => {
        ctx.body = await echo(ctx.req, ctx.originalUrl, (ctx.request as { readonly body?: unknown }).body)
      })
      return serve(over, app.callback(), sallyport, options)
    },
  }
}

const hono: Host = {
  name: 'Hono on Node',
  speaks: ['tls', 'h2', 'h2c'],
  normalisesTargets: true,
  async start(sallyport, base, options = {}, over = HTTP1) {
    const app = new Hono()
    app.use(forHono.inspection(sallyport, options))
    app.use(forHono.v1(sallyport, { base }))
    app.all('*', (c) => echoFetch(c.req.raw))
    return serve(over, getRequestListener(app.fetch), sallyport, options)
  },
}

/** A web-standard host by hand; the runtime below it says the address, and it is Node here. */
const fetchHost: Host = {
  name: 'fetch',
  speaks: ['tls', 'h2', 'h2c'],
  normalisesTargets: true,
  hidesWire: true,
  async start(sallyport, base, options = {}, over = HTTP1) {
    const inspect = inspectFetch(sallyport, options)
    const answer = getRequestListener(async (request, env) => {
      const place = { address: env.incoming.socket.remoteAddress, base }
      const { response, headers, end } = await inspect(request, place)
      if (response !== undefined) return response
      return (await v1OfFetch(sallyport, request, place)) ?? end(await echoFetch(request, headers))
    })
    return serve(over, answer, sallyport, options)
  },
}

function fastifyHost(name: string, create: typeof Fastify, unknownMethods: readonly string[] = []): Host {
  return {
    name,
    unknownMethods,
    speaks: ['tls', 'h2', 'h2c'],
    parsesNoForms: true,
    async start(sallyport, base, options = {}, over = HTTP1) {
      const secure = over.certificate && { https: tlsFiles(over.certificate) }
      const app = create({ ...secure, ...(over.http2 && { http2: true }) } as object)
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
  speaks: ['tls', 'h2'],
  hasNoOptions: true,
  answersApiFirst: true,
  async start(sallyport, base, _options, { certificate } = HTTP1) {
    const origin = await running(createServer(answerEcho))
    const { url, close } = await openProxy(sallyport, {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      limits: { eventLoopDelay: '1m' },
      upstream: `http://127.0.0.1:${origin.port}`,
      api: { base },
      ...(certificate && { tls: { certificates: [certificate] } }),
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

/** One host at least of each way in which requests are received; the first is the one the others are compared with. */
export const HOSTS: readonly Host[] = [
  node,
  expressHost('Express 5', express, false),
  expressHost("Express 5 behind Express's parsers", express, true),
  expressHost('Express 4', express4, false),
  expressHost("Express 4 behind Express's parsers", express4, true),
  koaHost('Koa 3', Koa),
  koaHost('Koa 3 behind @koa/bodyparser', Koa, bodyParser()),
  koaHost('Koa 2', Koa2),
  koaHost('Koa 2 behind koa-bodyparser', Koa2, bodyParserOfKoa2()),
  fastifyHost('Fastify 5', Fastify),
  fastifyHost('Fastify 4', Fastify4, ['QUERY']),
  hono,
  fetchHost,
  proxy,
]
