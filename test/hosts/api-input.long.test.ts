import { createServer } from 'node:http'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import { v1 } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import Koa from 'koa'
import t from 'tap'
import { HOSTS, type RunningHost, running } from './hosts.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/** Hosts whose servers leave a request without Host to what they serve. */
const WITHOUT_HOST: Readonly<Record<string, (sallyport: Parameters<typeof v1>[0]) => Promise<RunningHost>>> = {
  'node:http': (sallyport) =>
    running(
      createServer(
        { requireHostHeader: false },
        v1(sallyport, (_req, res) => void res.end('site')),
      ),
    ),
  async Express(sallyport) {
    return running(createServer({ requireHostHeader: false }, express().use(forExpress.v1(sallyport))))
  },
  async Koa(sallyport) {
    return running(createServer({ requireHostHeader: false }, new Koa().use(forKoa.v1(sallyport)).callback()))
  },
  async 'Fastify 5'(sallyport) {
    const app = Fastify({ http: { requireHostHeader: false } })
    await app.register(forFastify.v1, { sallyport })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async 'Fastify 4'(sallyport) {
    const app = Fastify4({ http: { requireHostHeader: false } })
    await app.register(forFastify.v1, { sallyport })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async 'the proxy'(sallyport) {
    const proxy = HOSTS.find(({ name }) => name === 'the proxy')
    if (proxy === undefined) throw new TypeError('no proxy')
    return proxy.start(sallyport as never, '')
  },
}

t.test('a request that names no site is an ErrorResponse where the server does not answer it itself', async (t) => {
  const sallyport = await openWithoutData(t, {})
  for (const [name, start] of Object.entries(WITHOUT_HOST)) {
    const site = await start(sallyport)
    t.teardown(() => site.close())
    for (const [head, status] of [
      ['GET /v1/demo/1.1.1.1 HTTP/1.1', 400],
      ['GET /v1/nothing HTTP/1.1\r\nHost:', 400],
      ['POST /v1/ip/lookup HTTP/1.1\r\nContent-Length: 2', 400],
      ['GET /v1 HTTP/1.0', 200],
    ] as const) {
      const bytes = `${head}\r\nX-Request-Id: one-id\r\n\r\n${head.startsWith('POST') ? '{}' : ''}`
      const answered = parseResponse(await exchange(site.port, bytes))
      t.equal(answered.status, status, `${name} ${head}`)
      if (status === 200) continue
      t.match(
        { ...answered, body: JSON.parse(answered.body) },
        {
          headers: { connection: 'close', 'content-type': 'application/json; charset=utf-8', 'x-request-id': 'one-id' },
          body: { error: 'invalid_request', message: 'Host is missing.', details: { requestId: 'one-id' } },
        },
        `${name} ${head}`,
      )
    }
  }
})
