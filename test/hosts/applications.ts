import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { getRequestListener } from '@hono/node-server'
import { bodyParser } from '@koa/bodyparser'
import type { Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forFetch from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { challenge, listener } from '@sallyport/node'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import { type RunningHost, running } from './host.ts'

/** What is guarded in each application answers `DONE`, and all else `OTHER`. */
export const [DONE, OTHER] = ['sold', 'welcome']

/** Starts an application that asks for a challenge at a path; a form that is posted there has the word hello. */
type Application = (sallyport: Sallyport, path: string, options: Options) => Promise<RunningHost>

type Options = Parameters<typeof challenge>[1]

export const APPLICATIONS: Readonly<Record<string, Application>> = {
  async 'node:http'(sallyport, path, options) {
    const ask = challenge(sallyport, options)
    return running(
      createServer(
        listener(sallyport, async (req, res) => {
          if (!req.url?.startsWith(path)) return void res.end(OTHER)
          const sent = await text(req)
          const body = sent.startsWith('{') ? JSON.parse(sent) : new URLSearchParams(sent)
          if (await ask(req, res, body)) res.end(DONE)
        }),
      ),
    )
  },
  async Express(sallyport, path, options) {
    const app = express()
    const guarded = express.Router()
    guarded.all('/', forExpress.challenge(sallyport, options), (_req, res) => void res.send(DONE))
    app.use(forExpress.inspection(sallyport), express.urlencoded({ extended: false }), express.json())
    app.use(path, guarded)
    app.use((_req, res) => void res.send(OTHER))
    return running(createServer(app))
  },
  async Koa(sallyport, path, options) {
    const app = new Koa()
    const ask = forKoa.challenge(sallyport, options)
    app.use(forKoa.inspection(sallyport)).use(bodyParser())
    app.use((ctx, next) => {
      if (!ctx.path.startsWith(path)) return next()
      // A mount takes its part away from what is below it.
      ctx.path = ctx.path.slice(path.length) || '/'
      return ask(ctx, async () => Object.assign(ctx, { body: DONE }))
    })
    app.use((ctx) => void Object.assign(ctx, { body: OTHER }))
    return running(createServer(app.callback()))
  },
  async Fastify(sallyport, path, options) {
    const app = Fastify()
    app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
      done(null, Object.fromEntries(new URLSearchParams(String(body))))
    })
    await app.register(forFastify.inspection, { sallyport })
    const ask = forFastify.challenge(sallyport, options)
    const guarded = async (scope: FastifyInstance): Promise<void> => {
      scope.get('/', { onRequest: ask }, async () => DONE)
      scope.post('/', { preHandler: ask }, async () => DONE)
    }
    await app.register(guarded, { prefix: path })
    app.all('/*', async () => OTHER)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async Hono(sallyport, path, options) {
    const app = new Hono()
    app.use(forHono.inspection(sallyport))
    app.all(path, forHono.challenge(sallyport, options), async (c) => {
      if (c.req.method === 'GET') return c.text(DONE)
      const body = c.req.header('content-type')?.includes('json') ? await c.req.json() : await c.req.parseBody()
      return c.text(body['word'] === 'hello' ? DONE : 'the body is gone')
    })
    app.all('*', (c) => c.text(OTHER))
    return running(createServer(getRequestListener(app.fetch)))
  },
  async fetch(sallyport, path, options) {
    const inspect = forFetch.inspection(sallyport)
    const ask = forFetch.challenge(sallyport, options)
    const answer = async (request: Request, address: string | undefined): Promise<Response> => {
      const { response, end } = await inspect(request, { address })
      if (response !== undefined) return response
      if (!new URL(request.url).pathname.startsWith(path)) return end(new Response(OTHER))
      const isJson = request.headers.get('content-type')?.includes('json') === true
      const body = request.method === 'GET' ? undefined : isJson ? await request.json() : await request.formData()
      return (await ask(request, { address }, body)) ?? end(new Response(DONE))
    }
    return running(
      createServer(getRequestListener((request, env) => answer(request, env.incoming.socket.remoteAddress))),
    )
  },
}
