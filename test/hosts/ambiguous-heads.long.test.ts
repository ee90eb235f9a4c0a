import { connect, createServer } from 'node:http2'
import type { AddressInfo } from 'node:net'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { HOSTS } from './hosts.ts'
import { madeScene } from './scene.ts'
import { exchange, parseResponse } from './wire.ts'

/** Heads that servers read in two ways, as the first lines of a request. */
const HEADS = [
  'Host: other.example',
  'User-Agent: a\r\nUser-Agent: b',
  'Authorization: a\r\nAuthorization: b',
  'Connection: sallyport-action',
  'Connection: keep-alive, Host',
].flatMap((fields) => ['/shop', '/v1/myip'].map((path) => `GET ${path} HTTP/1.1\r\nHost: site.example\r\n${fields}`))

const TARGETS = ['http://other.example/shop', 'http://site.example:81/shop', 'http://other.example/v1/myip']

/** A web request shows one field of a name, and one target. */
const SEEING = HOSTS.filter(({ hidesWire = false }) => !hidesWire)

for (const host of SEEING) {
  t.test(`${host.name} refuses what servers read in two ways, and ends the connection`, async (t) => {
    const site = await host.start(madeScene().enforcing, '')
    t.teardown(() => site.close())
    const wrong: string[] = []
    for (const head of [...HEADS, ...TARGETS.map((target) => `GET ${target} HTTP/1.1\r\nHost: site.example`)]) {
      const { status, headers, body } = parseResponse(await exchange(site.port, `${head}\r\n\r\n`))
      const said = status === 400 && headers['content-type'] === 'application/json; charset=utf-8'
      if (!said || !body.startsWith('{"error":"invalid_request"')) wrong.push(`${head}\n${status} ${body}`)
    }
    t.same(wrong, [])
  })
}

for (const host of HOSTS) {
  t.test(`${host.name} takes the URL of its own site for the path of it`, async (t) => {
    const site = await host.start(madeScene().enforcing, '')
    t.teardown(() => site.close())
    const ask = async (target: string, named = 'site.example', more = '') => {
      const head = `GET ${target} HTTP/1.1\r\nHost: ${named}\r\n${more}Connection: close`
      return parseResponse(await exchange(site.port, `${head}\r\n\r\n`)).status
    }
    const blocked = `X-Forwarded-For: ${madeScene().blocked.address}\r\n`
    const found = [
      await ask('http://site.example/shop'),
      await ask('http://SITE.example:80/shop?x=http://other.example/', 'site.example'),
      await ask('http://site.example', 'site.EXAMPLE:80'),
      await ask('https://site.example/shop', 'site.example:443'),
      await ask('http://site.example/v1/myip'),
      await ask('http://site.example/shop', 'site.example', blocked),
    ]
    t.same(found, [200, 200, 200, 200, 200, 403])
  })
}

/** An HTTP/2 client's answers: status of a request that passes, of a blocked one, and of one for two sites. */
async function statusesOf(t: Test, port: number): Promise<readonly unknown[]> {
  const session = connect(`http://127.0.0.1:${port}`)
  t.teardown(() => session.close())
  const ask = (headers: Readonly<Record<string, string>>) =>
    new Promise((resolve, reject) => {
      const stream = session.request({ ':path': '/shop', ...headers })
      stream.on('response', (answered) => resolve(answered[':status']))
      stream.on('error', reject)
      stream.resume()
    })
  const blocked = { 'x-forwarded-for': madeScene().blocked.address }
  return [await ask({}), await ask(blocked), await ask({ ':authority': 'a.example', host: 'b.example' })]
}

t.test('frameworks that speak HTTP/2 refuse the same, and nothing else', async (t) => {
  const { enforcing } = madeScene()
  const koa = new Koa().use(forKoa.inspection(enforcing)).use((ctx) => {
    ctx.body = 'ok'
  })
  const server = createServer(koa.callback())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  t.same(await statusesOf(t, (server.address() as AddressInfo).port), [200, 403, 400], 'Koa')

  const fastify = Fastify({ http2: true })
  await fastify.register(forFastify.inspection, { sallyport: enforcing })
  fastify.get('/shop', () => 'ok')
  await fastify.listen({ port: 0, host: '127.0.0.1' })
  t.teardown(() => fastify.close())
  t.same(await statusesOf(t, (fastify.server.address() as AddressInfo).port), [200, 403, 400], 'Fastify')
})
