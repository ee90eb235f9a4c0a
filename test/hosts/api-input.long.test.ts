import { createServer } from 'node:http'
import * as forFastify from '@sallyport/fastify'
import { v1 } from '@sallyport/node'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import t from 'tap'
import { type RunningHost, running } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { exchange, parseResponse } from './wire.ts'
import { openWithoutData } from './without-data.ts'

type Start = (sallyport: Parameters<typeof v1>[0]) => Promise<RunningHost>

const startFastify =
  (create: typeof Fastify): Start =>
  async (sallyport) => {
    const app = create({ http: { requireHostHeader: false } })
    await app.register(forFastify.v1, { sallyport })
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  }

t.test('a request that names no site is an ErrorResponse where the server does not answer it itself', async (t) => {
  const sallyport = await openWithoutData(t, {})
  const hosts: Readonly<Record<string, Start>> = {
    'node:http': (sallyport) =>
      running(
        createServer(
          { requireHostHeader: false },
          v1(sallyport, () => {}),
        ),
      ),
    'Fastify 5': startFastify(Fastify),
    'Fastify 4': startFastify(Fastify4 as unknown as typeof Fastify),
    'the proxy': () => startProxy(t, sallyport),
  }
  for (const [name, start] of Object.entries(hosts)) {
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
      const { connection, 'content-type': type, 'x-request-id': id } = answered.headers
      t.same([connection, type, id], ['close', 'application/json; charset=utf-8', 'one-id'])
      const body = { error: 'invalid_request', message: 'Host is missing.', details: { requestId: 'one-id' } }
      t.match(JSON.parse(answered.body), body)
    }
  }
})
