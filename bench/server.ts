import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { inspection as expressInspection } from '@sallyport/express'
import { inspection as fastifyInspection } from '@sallyport/fastify'
import { inspection as koaInspection } from '@sallyport/koa'
import express from 'express'
import fastify from 'fastify'
import Koa from 'koa'
import { open, type Sallyport } from 'sallyport'

/*
 * One small application a process, with or without the inspection: `node server.js express plain|inspected`.
 * Sends its port when it listens, and the processor time it has used (microseconds) when it is asked. The answer is the
 * same few bytes everywhere, so that the difference is the gate.
 */
const ANSWER = 'hello'

async function start(framework: string, sallyport: Sallyport | undefined): Promise<number> {
  if (framework === 'fastify') {
    const app = fastify()
    if (sallyport !== undefined) await app.register(fastifyInspection, { sallyport })
    app.get('/*', async () => ANSWER)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return (app.server.address() as AddressInfo).port
  }
  return listen(createServer(framework === 'koa' ? koaApp(sallyport) : expressApp(sallyport)))
}

function expressApp(sallyport: Sallyport | undefined) {
  const app = express()
  if (sallyport !== undefined) app.use(expressInspection(sallyport))
  return app.use((_request, response) => response.send(ANSWER))
}

function koaApp(sallyport: Sallyport | undefined) {
  const app = new Koa()
  if (sallyport !== undefined) app.use(koaInspection(sallyport))
  app.use((context) => {
    context.body = ANSWER
  })
  return app.callback()
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

const [framework = 'express', kind = 'plain'] = process.argv.slice(2)
const sallyport = kind === 'inspected' ? await open({ trustProxy: ['loopback'] }) : undefined
process.on('message', () => {
  const { user, system } = process.cpuUsage()
  process.send?.(user + system)
})
process.send?.(await start(framework, sallyport))
