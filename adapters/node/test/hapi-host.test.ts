import { EventEmitter, once } from 'node:events'
import { server as createServer } from '@hapi/hapi'
import type { ObservedRequest } from '@sallyport/core'
import t from 'tap'
import { inspection, v1 } from '../src/hapi.ts'
import { decider } from './support.ts'

t.test("what hapi answers itself has the request's id, and is observed with its status", async (t) => {
  const observed = new EventEmitter()
  const server = createServer({ port: 0, host: '127.0.0.1' })
  const sallyport = { ...decider(), observe: (request: ObservedRequest) => void observed.emit('end', request) }
  await server.register({ plugin: inspection, options: { sallyport } })
  server.route({ method: 'GET', path: '/flagged', handler: ({ app }) => ({ action: app.sallyport?.action }) })
  server.route({ method: 'POST', path: '/flagged', handler: ({ payload }) => payload as object })
  await server.start()
  t.teardown(() => server.stop())
  for (const [path, status, answer, body] of [
    ['/flagged', 200, { action: 'flag' }, undefined],
    ['/flagged', 200, { a: 1 }, '{"a":1}'],
    ['/flagged', 400, { error: 'Bad Request' }, '{"a":'],
    ['/nowhere', 404, { error: 'Not Found' }, undefined],
    ['/blocked', 403, { error: 'request_blocked' }, undefined],
  ] as const) {
    const end = once(observed, 'end')
    const headers = { connection: 'close', 'content-type': 'application/json' }
    const init = body === undefined ? { headers } : { headers, method: 'POST', body }
    const response = await fetch(server.info.uri + path, init)
    t.equal(response.status, status)
    t.type(response.headers.get('x-request-id'), 'string')
    t.match(await response.json(), answer)
    t.match(await end, [{ status, path }])
  }
})

t.test("a request of hapi's own tests, which came by no connection, is inspected", async (t) => {
  const server = createServer()
  await server.register({ plugin: inspection, options: { sallyport: decider() } })
  server.route({ method: 'GET', path: '/flagged', handler: ({ headers }) => ({ action: headers['sallyport-action'] }) })
  const { payload } = await server.inject({ url: '/flagged', headers: { 'sallyport-action': 'allow' } })
  t.same(JSON.parse(payload), { action: 'flag' })
  t.equal((await server.inject('/blocked')).statusCode, 403)
})

t.test('registering refuses what is no option, and no Sallyport', async (t) => {
  const register = (options: object) => createServer().register({ plugin: inspection, options: options as never })
  await t.rejects(register({ sallyport: decider(), skips: true }), { code: 'invalid_config' })
  await t.rejects(register({}), { code: 'invalid_config' })
  await t.rejects(createServer().register({ plugin: v1, options: { sallyport: {} as never } }), {
    code: 'invalid_config',
  })
})
