import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { listening } from '@sallyport/engine/testing'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { type Inspected, listener } from '@sallyport/node'
import express, { type ErrorRequestHandler } from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import supertest from 'supertest'
import t from 'tap'
import { keepHabits } from './habits.ts'
import { HOSTS } from './hosts.ts'
import { MORE_HOSTS } from './more-hosts.ts'
import { madeScene } from './scene.ts'

/* Tests the habits of servers (habits.ts) and of the tools of frameworks. */
const { allowed, blocked, enforcing } = madeScene()

for (const host of [...HOSTS, ...MORE_HOSTS]) keepHabits(host)

const ECHO = (req: Inspected<IncomingMessage>, res: ServerResponse): void => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ action: req.headers['sallyport-action'], decision: req.sallyport?.action }))
}

function expressApp(): RequestListener {
  const app = express()
  app.use(forExpress.inspection(enforcing))
  app.get('/fails', () => {
    throw new Error('a fault of the site')
  })
  app.use((req, res) => void res.json({ action: req.headers['sallyport-action'], decision: req.sallyport?.action }))
  const fail: ErrorRequestHandler = (_error, req, res, _next) => void res.status(500).json(req.sallyport?.action)
  app.use(fail)
  return app
}

function koaApp(): Koa {
  const app = new Koa()
  app.use(async (ctx, next) => {
    try {
      await next()
    } catch {
      ctx.status = 500
      ctx.body = JSON.stringify(ctx.state.sallyport?.action)
    }
  })
  app.use(forKoa.inspection(enforcing))
  app.use((ctx) => {
    if (ctx.path === '/fails') throw new Error('a fault of the site')
    ctx.body = { action: ctx.headers['sallyport-action'], decision: ctx.state.sallyport?.action }
  })
  return app
}

async function fastifyApp() {
  const app = Fastify()
  await app.register(forFastify.inspection, { sallyport: enforcing })
  app.setErrorHandler((_error, request, reply) => reply.code(500).send(JSON.stringify(request.sallyport?.action)))
  app.get('/fails', async () => {
    throw new Error('a fault of the site')
  })
  app.all('/*', async (request) => ({
    action: request.headers['sallyport-action'],
    decision: request.sallyport?.action,
  }))
  await app.ready()
  return app
}

/** `address`: of the socket, where Hono does not run on Node. */
function honoApp(address?: string): Hono {
  const app = new Hono()
  app.use(forHono.inspection(enforcing, { address: () => address }))
  app.onError((_error, c) => c.json(c.get('sallyport')?.action, 500))
  app.get('/fails', () => {
    throw new Error('a fault of the site')
  })
  app.all('/*', (c) => c.json({ action: c.get('sallyport')?.action, decision: c.get('sallyport')?.action }))
  return app
}

t.test("the host's own error handler has the decision", async (t) => {
  const fastify = await fastifyApp()
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => fastify.close())
  const ports = {
    Express: await listening(t, createServer(expressApp())),
    Koa: await listening(t, createServer(koaApp().callback())),
    Fastify: (fastify.server.address() as AddressInfo).port,
    Hono: await listening(t, createServer(getRequestListener(honoApp().fetch))),
  }
  for (const [name, port] of Object.entries(ports)) {
    const headers = { 'x-forwarded-for': allowed.address, connection: 'close' }
    const response = await fetch(`http://127.0.0.1:${port}/fails`, { headers })
    t.equal(response.status, 500, name)
    t.equal(await response.json(), 'allow', name)
  }
})

t.test("tests of a site without a server of its own: Fastify's inject, Hono's request, and supertest", async (t) => {
  const fastify = await fastifyApp()
  t.teardown(() => fastify.close())
  const inject = (address: string) => fastify.inject({ url: '/shop', headers: { 'x-forwarded-for': address } })
  t.same((await inject(allowed.address)).json(), { action: 'allow', decision: 'allow' })
  t.equal((await inject(blocked.address)).statusCode, 403)
  const hono = honoApp('127.0.0.1')
  const request = (address: string) => hono.request('/shop', { headers: { 'x-forwarded-for': address } })
  t.same(await (await request(allowed.address)).json(), { action: 'allow', decision: 'allow' })
  t.equal((await request(blocked.address)).status, 403)
  for (const app of [expressApp(), koaApp().callback(), listener(enforcing, ECHO)]) {
    const page = await supertest(app).get('/shop').set('X-Forwarded-For', allowed.address)
    t.same(page.body, { action: 'allow', decision: 'allow' })
    t.equal((await supertest(app).get('/shop').set('X-Forwarded-For', blocked.address)).status, 403)
  }
})
