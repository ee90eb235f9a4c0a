import type { RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import type { ProxyHost } from '@sallyport/proxy'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import { Hono } from 'hono'
import Koa from 'koa'
import Koa2 from 'koa2'

/** Answers a request, as the framework has it, with what goes into JSON. */
export type Handler = (request: never) => unknown

type Framework = (sallyport: ProxyHost, handle: Handler) => Promise<RequestListener> | RequestListener

function expressApp(create: typeof express): Framework {
  return (sallyport, handle) => {
    const app = create()
    // Express itself writes errors to the console otherwise.
    app.set('env', 'test')
    app.use(forExpress.inspection(sallyport))
    app.use((req, res, next) => {
      const answered = Promise.resolve(handle(req as never)).then((body) => void res.json(body))
      // Express 4 does not look at what a handler returns.
      return create === express ? answered : void answered.catch(next)
    })
    return app
  }
}

function koaApp(Application: typeof Koa): Framework {
  return (sallyport, handle) => {
    const app = new Application()
    app.silent = true
    app.use(forKoa.inspection(sallyport))
    app.use(async (ctx) => void Object.assign(ctx, { type: 'json', body: JSON.stringify(await handle(ctx as never)) }))
    return app.callback()
  }
}

function fastifyApp(create: typeof Fastify): Framework {
  return async (sallyport, handle) => {
    const app = create()
    await app.register(forFastify.inspection, { sallyport })
    app.all('/*', async (request) => handle(request as never))
    await app.ready()
    return app.routing
  }
}

export function honoApp(sallyport: ProxyHost, handle: Handler): Hono {
  const app = new Hono()
  app.use(forHono.inspection(sallyport, { address: () => '8.1.0.1' }))
  app.all('*', (c): Response | Promise<Response> => {
    const answered = handle(c as never)
    return answered instanceof Promise ? answered.then((body) => c.json(body)) : c.json(answered as object)
  })
  app.onError((_, c) => c.text('failed', 500))
  return app
}

/** Lists applications in each framework, behind Sallyport, as listeners of Node. */
export const FRAMEWORKS: Readonly<Record<string, Framework>> = {
  'Express 5': expressApp(express),
  'Express 4': expressApp(express4),
  'Koa 3': koaApp(Koa),
  'Koa 2': koaApp(Koa2),
  'Fastify 5': fastifyApp(Fastify),
  'Fastify 4': fastifyApp(Fastify4 as unknown as typeof Fastify),
  'Hono on Node': (sallyport, handle) => getRequestListener(honoApp(sallyport, handle).fetch),
}
