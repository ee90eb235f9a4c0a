import { compilePolicy, createInspector, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'
import type { Api, ApiRequest } from '@sallyport/engine'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import t from 'tap'
import { guardUpgrade, inspection, v1 } from '../src/index.ts'

const NO_ENTRY = { id: 'no-entry', match: { path: ['/blocked'] }, action: 'block' } as const
const sallyport = createInspector({
  clock: createFakeClock('2026-11-01T00:00:00Z'),
  snapshots: makeSnapshots(),
  trust: parseTrust([]),
  policy: compilePolicy({ preset: 'observe', rules: [NO_ENTRY] }),
  mode: 'enforce',
})

t.test('the decision is on the request, in every scope of the server', async (t) => {
  const app = Fastify()
  app.addHook('onRequest', async (request) => void t.equal(request.sallyport, null, 'not inspected yet'))
  app.addHook('onSend', async (_request, reply) => void reply.header('x-status', reply.statusCode))
  await app.register(inspection, { sallyport })
  const ran: string[] = []
  const routes = (scope: FastifyInstance, _options: unknown, done: () => void) => {
    scope.get('/*', (request) => {
      ran.push(request.url)
      const { sallyport: decision, headers } = request
      return [decision?.action, decision?.inspection.request.path, headers['sallyport-action']]
    })
    done()
  }
  await app.register(routes, { prefix: '/shop' })
  t.same((await app.inject('/shop/x')).json(), ['allow', '/shop/x', 'allow'])
  const refused = await app.inject('/blocked')
  t.same([refused.statusCode, refused.headers['x-status']], [403, '403'], 'before it is known that no route is there')
  t.equal((await app.inject('/elsewhere')).statusCode, 404)
  t.same(ran, ['/shop/x'])
})

t.test('the API under a prefix, in a scope of its own', async (t) => {
  const asked: ApiRequest[] = []
  const api: Api = async (request) => {
    asked.push(request)
    if (request.path === '/v1/undefined') return undefined
    if (request.path === '/v1/fails') throw new Error('a fault')
    const body = request.method === 'POST' ? await request.json() : request.method
    return { status: 203, headers: { 'x-a': 'b' }, body: JSON.stringify(body) }
  }
  const app = Fastify()
  app.setErrorHandler((error, _request, reply) => void reply.code(Object(error).statusCode ?? 500).send(String(error)))
  await app.register(v1, { sallyport: { api }, prefix: '/detect' })
  app.post('/echo', (request) => ({ parsed: request.body }))
  app.setNotFoundHandler((_request, reply) => void reply.code(418).send())

  const json = { 'content-type': 'application/json' }
  const response = await app.inject({ method: 'POST', url: '/detect/v1/x?y=1', headers: json, payload: '{"n":1}' })
  t.equal(response.statusCode, 203)
  t.equal(response.headers['x-a'], 'b')
  t.same(response.json(), { n: 1 })
  t.hasStrict(asked[0], { path: '/v1/x', target: '/detect/v1/x?y=1' })

  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const)
    t.equal((await app.inject({ method, url: '/detect/v1/any/thing' })).json(), method, "is the API's to judge")
  t.equal((await app.inject('/detect/v1/fails')).body, 'Error: a fault', "is an error of the application's")
  t.equal((await app.inject('/detect/v1')).statusCode, 203)
  t.equal((await app.inject('/detect/v1/undefined')).statusCode, 418, "what the API leaves is the host's")
  t.equal((await app.inject('/detect/v1beta')).statusCode, 418)
  t.equal((await app.inject('/v1/x')).statusCode, 418)
  t.equal((await app.inject('/%64etect/v1/x')).statusCode, 418, 'a prefix that is not written as it is')

  const echoed = await app.inject({ method: 'POST', url: '/echo', headers: json, payload: '{"n":1}' })
  t.same(echoed.json(), { parsed: { n: 1 } }, "the host's own parser is as it was")
  const text = { 'content-type': 'text/unknown' }
  const refused = await app.inject({ method: 'POST', url: '/echo', headers: text, payload: 'x' })
  t.equal(refused.statusCode, 415, 'and no parser of ours is there')
})

t.test('methods that the host does not route are for the API under its prefix, and nowhere else', async (t) => {
  const app = Fastify()
  const sent: string[] = []
  app.addHook('onSend', async (request) => void sent.push(request.url))
  app.get('/v1/own', () => 'own')
  await app.register(v1, {
    sallyport: { api: async ({ method, path }) => ({ status: 203, headers: {}, body: `${method} ${path}` }) },
    prefix: '/detect',
  })
  app.setNotFoundHandler((_request, reply) => void reply.code(418).send())
  const ask = (method: string, url: string) => app.inject({ method: method as 'GET', url })
  for (const method of ['PROPFIND', 'M-SEARCH']) {
    for (const path of ['/v1', '/v1/', '/v1/x/y']) {
      const { statusCode, body } = await ask(method, `/detect${path}?q`)
      t.same([statusCode, body], [203, `${method} ${path}`])
    }
    for (const path of ['/v1/x', '/v1/own', '/detect', '/detect/v1beta', '/detect/other', '/']) {
      t.equal((await ask(method, path)).statusCode, 418, `${method} ${path} is the host's`)
    }
  }
  t.equal((await ask('GET', '/v1/own')).body, 'own')
  t.equal((await ask('PROPFIND', '/%64etect/v1/x')).statusCode, 404, 'a prefix that is not written as it is')
  t.ok(sent.includes('/detect/v1/x/y?q'), "the host's hooks run")
})

t.test('the clock that Fastify leaves off is warned of where it listens', async (t) => {
  const warnings: unknown[] = []
  const warn = (warning: Error & { code?: string | undefined }) => void warnings.push(warning.code)
  process.on('warning', warn)
  t.teardown(() => process.off('warning', warn))
  const ask = async (options: Pick<FastifyServerOptions, 'requestTimeout'>) => {
    const app = Fastify(options)
    t.teardown(() => app.close())
    await app.register(inspection, { sallyport })
    t.equal((await app.inject('/')).statusCode, 404)
    t.same(warnings, [], 'a request that is injected has no server')
    const url = await app.listen({ port: 0, host: '127.0.0.1' })
    t.equal((await fetch(url)).status, 404)
  }
  await ask({ requestTimeout: 60_000 })
  t.same(warnings, [])
  await ask({})
  t.same(warnings, ['SALLYPORT_WEAK_CLOCKS'])
})

t.test('a forgotten await fails at start-up', async (t) => {
  const promise = Promise.resolve() as never
  const app = Fastify()
  const failure = { code: 'invalid_config' }
  t.throws(() => guardUpgrade(app.server, promise), failure)
  for (const plugin of [inspection, v1] as readonly (typeof inspection)[])
    await t.rejects(async () => void (await Fastify().register(plugin, { sallyport: promise })), failure)
})
