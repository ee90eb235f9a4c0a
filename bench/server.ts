import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { open, type Sallyport } from '@sallyport/engine'
import { inspection as expressInspection } from '@sallyport/express'
import { inspection as fastifyInspection } from '@sallyport/fastify'
import { inspection as honoInspection } from '@sallyport/fetch/hono'
import { inspection as koaInspection } from '@sallyport/koa'
import { listener } from '@sallyport/node'
import express, { type RequestHandler } from 'express'
import fastify from 'fastify'
import { Hono } from 'hono'
import { isbot } from 'isbot'
import Koa from 'koa'

/*
 * This program serves one small application twice, without the inspection and with it: `node server.js express 3000 3001`. In one
 * process the compiler makes the same of the framework for both, so that the difference is the gate. With `express-…` the second
 * has another middleware: one that does nothing, or isbot.
 */
const HOST = '127.0.0.1'
const ANSWER = { hello: 'world', items: [1, 2, 3] }

const empty: RequestHandler = (_request, _response, next) => next()
const bots: RequestHandler = (request, response, next) => {
  response.locals['isBot'] = isbot(request.headers['user-agent'])
  next()
}

/** These handlers come before the route: none, or one middleware. */
const EXPRESS: Readonly<Record<string, (sallyport?: Sallyport) => RequestHandler | undefined>> = {
  express: (sallyport) => sallyport && expressInspection(sallyport),
  'express-empty': (sallyport) => sallyport && empty,
  'express-isbot': (sallyport) => sallyport && bots,
}

async function start(framework: string, port: number, sallyport?: Sallyport): Promise<unknown> {
  if (framework === 'fastify') {
    const app = fastify()
    if (sallyport !== undefined) await app.register(fastifyInspection, { sallyport })
    app.get('/', async () => ANSWER)
    return app.listen({ port, host: HOST })
  }
  if (framework === 'node') return createServer(sallyport ? listener(sallyport, site) : site).listen(port, HOST)
  if (framework === 'hono') return createServer(getRequestListener(honoApp(sallyport).fetch)).listen(port, HOST)
  if (framework === 'koa') return createServer(koaApp(sallyport)).listen(port, HOST)
  return createServer(expressApp(EXPRESS[framework]?.(sallyport))).listen(port, HOST)
}

function expressApp(middleware: RequestHandler | undefined) {
  const app = express()
  if (middleware !== undefined) app.use(middleware)
  return app.get('/', (_request, response) => response.json(ANSWER))
}

function site(_request: IncomingMessage, response: ServerResponse): void {
  const body = JSON.stringify(ANSWER)
  response.setHeader('content-type', 'application/json')
  response.setHeader('content-length', Buffer.byteLength(body))
  response.end(body)
}

function honoApp(sallyport: Sallyport | undefined): Hono {
  const app = new Hono()
  if (sallyport !== undefined) app.use(honoInspection(sallyport))
  return app.get('/', (context) => context.json(ANSWER))
}

function koaApp(sallyport: Sallyport | undefined) {
  const app = new Koa()
  if (sallyport !== undefined) app.use(koaInspection(sallyport))
  app.use((context) => {
    context.body = ANSWER
  })
  return app.callback()
}

const [framework = 'express', plain, inside] = process.argv.slice(2)
const sallyport = await open({ trustProxy: ['loopback'], data: { refresh: false } })
await start(framework, Number(plain))
await start(framework, Number(inside), sallyport)
