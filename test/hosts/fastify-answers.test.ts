import type { AddressInfo } from 'node:net'
import { v1 } from '@sallyport/fastify'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import t from 'tap'

/* Fastify's own router and serializer would otherwise answer and write these; both of its major versions. */
for (const [version, create] of [
  ['5', Fastify],
  ['4', Fastify4],
] as const) {
  t.test(`Fastify ${version}: a path with broken escapes is the API's to answer, as it was sent`, async (t) => {
    const app = create()
    const asked: string[] = []
    const hooked: string[] = []
    app.addHook('onRequest', async ({ originalUrl }) => void hooked.push(originalUrl))
    await app.register(v1, {
      sallyport: {
        api: async ({ method, path, target, query }) => {
          asked.push(target)
          return { status: 400, headers: { 'content-type': 'application/json' }, body: `${method} ${path} ${query}` }
        },
      },
      prefix: '/detect',
    })
    await app.register(v1, { sallyport: { api: async ({ path }) => ({ status: 200, headers: {}, body: path }) } })
    app.get('/own/*', (request) => request.url)
    for (const path of ['/v1/demo/%zz', '/v1/demo/%', '/v1/%c3%28', '/v1/%E9/%2f', '/v1/a%zz%41']) {
      for (const method of ['GET', 'PROPFIND'] as const) {
        const { statusCode, body } = await app.inject({ method: method as 'GET', url: `/detect${path}?q=%zz` })
        t.same([statusCode, body], [400, `${method} ${path} q=%25zz`])
        t.equal(asked.at(-1), `/detect${path}?q=%zz`)
        t.equal(hooked.at(-1), `/detect${path}?q=%zz`)
      }
    }
    t.equal((await app.inject('/v1/%zz')).body, '/v1/%zz', 'of each mount')
    t.equal((await app.inject('/detect/v1/%41')).body, 'GET /v1/%41 ')
    t.match((await app.inject('/own/%zz')).json(), { code: 'FST_ERR_BAD_URL' }, 'others are answered as before')
    t.equal((await app.inject('/detect/v1beta/%zz')).statusCode, 400)
  })

  t.test(`Fastify ${version}: also at both addresses of localhost, and where the host rewrites URLs`, async (t) => {
    const app = create({ rewriteUrl: ({ url = '' }) => url.replace(/^\/api(?=\/)/, '/detect') })
    await app.register(v1, {
      sallyport: { api: async ({ path, target }) => ({ status: 400, headers: {}, body: `${path} ${target}` }) },
      prefix: '/detect',
    })
    t.teardown(() => app.close())
    await app.listen({ port: 0 })
    for (const { address, port, family } of app.addresses() as readonly AddressInfo[]) {
      const host = family === 'IPv6' ? `[${address}]` : address
      const answered = await fetch(`http://${host}:${port}/api/v1/demo/%zz`)
      t.same([answered.status, await answered.text()], [400, '/v1/demo/%zz /api/v1/demo/%zz'], host)
    }
  })

  t.test(`Fastify ${version}: the Content-Type of an answer is the API's`, async (t) => {
    const app = create()
    const types = ['application/jwk-set+json', 'application/json; charset=utf-8', 'text/html']
    await app.register(v1, {
      sallyport: {
        api: async ({ query }) => ({ status: 200, headers: { 'Content-Type': query.get('type') ?? '' }, body: '{}' }),
      },
    })
    for (const type of types) {
      const { headers, body } = await app.inject(`/v1/x?type=${encodeURIComponent(type)}`)
      t.same([headers['content-type'], body], [type, '{}'])
    }
  })
}
