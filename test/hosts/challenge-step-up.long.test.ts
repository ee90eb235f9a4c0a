import { createServer, type ServerResponse } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forFetch from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { challenge, type Handler, type Inspected, listener } from '@sallyport/node'
import express from 'express'
import Fastify, { type FastifyInstance } from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { BROWSER, readCookie, readSolution, redeem, visit } from './challenge-client.ts'
import { type RunningHost, running } from './hosts.ts'
import { startProxy } from './proxy.ts'
import { openWithoutData } from './without-data.ts'

/* An application asks for a pass of level 2 at /buy, and no visitor is asked elsewhere; behind the proxy an answer of the origin does. */
type Start = (t: Test, sallyport: Sallyport) => Promise<RunningHost>

const SOLD = 'sold'
const OTHER = 'welcome'

const APPLICATIONS: Readonly<Record<string, Start>> = {
  async 'node:http'(_, sallyport) {
    const mayBuy = challenge(sallyport, { level: 2 })
    const handler: Handler<Inspected<Parameters<typeof mayBuy>[0]>, ServerResponse> = async (req, res) => {
      if (!req.url?.startsWith('/buy')) return res.end(OTHER)
      if (await mayBuy(req, res)) res.end(SOLD)
      return undefined
    }
    return running(createServer(listener(sallyport, handler)))
  },
  async Express(_, sallyport) {
    const app = express()
    const shop = express.Router()
    shop.get('/', forExpress.challenge(sallyport, { level: 2 }), (_req, res) => void res.send(SOLD))
    app.use(forExpress.inspection(sallyport))
    app.use('/buy', shop)
    app.use((_req, res) => void res.send(OTHER))
    return running(createServer(app))
  },
  async Koa(_, sallyport) {
    const app = new Koa()
    const ask = forKoa.challenge(sallyport, { level: 2 })
    app.use(forKoa.inspection(sallyport))
    app.use((ctx, next) => {
      if (!ctx.path.startsWith('/buy')) return next()
      // A mount takes its part away from what is below it.
      ctx.path = ctx.path.slice('/buy'.length) || '/'
      return ask(ctx, async () => Object.assign(ctx, { body: SOLD }))
    })
    app.use((ctx) => void Object.assign(ctx, { body: OTHER }))
    return running(createServer(app.callback()))
  },
  async Fastify(_, sallyport) {
    const app = Fastify()
    await app.register(forFastify.inspection, { sallyport })
    const shop = async (scope: FastifyInstance): Promise<void> => {
      scope.get('/', { onRequest: forFastify.challenge(sallyport, { level: 2 }) }, async () => SOLD)
    }
    await app.register(shop, { prefix: '/buy' })
    app.all('/*', async () => OTHER)
    await app.listen({ port: 0, host: '127.0.0.1' })
    return running(app.server)
  },
  async Hono(_, sallyport) {
    const app = new Hono()
    app.use(forHono.inspection(sallyport))
    app.get('/buy', forHono.challenge(sallyport, { level: 2 }), (c) => c.text(SOLD))
    app.all('*', (c) => c.text(OTHER))
    return running(createServer(getRequestListener(app.fetch)))
  },
  async fetch(_, sallyport) {
    const inspect = forFetch.inspection(sallyport)
    const ask = forFetch.challenge(sallyport, { level: 2 })
    const answer = async (request: Request, address: string | undefined): Promise<Response> => {
      const { response, end } = await inspect(request, { address })
      if (response !== undefined) return response
      if (!new URL(request.url).pathname.startsWith('/buy')) return end(new Response(OTHER))
      return (await ask(request, { address })) ?? end(new Response(SOLD))
    }
    return running(
      createServer(getRequestListener((request, env) => answer(request, env.incoming.socket.remoteAddress))),
    )
  },
  async 'the proxy'(t, sallyport) {
    const origin = await running(
      createServer((req, res) => {
        if (!req.url?.startsWith('/buy')) return res.end(OTHER)
        res.setHeader('Sallyport-Challenge', '2')
        res.write('so')
        return res.end('ld')
      }),
    )
    t.teardown(() => origin.close())
    return startProxy(t, sallyport, { upstream: `http://127.0.0.1:${origin.port}` })
  },
}

const POLICY = { preset: 'observe', rules: [] } satisfies ConfigInput['policy']
const BUY = { target: '/buy?item=1' }

for (const [name, start] of Object.entries(APPLICATIONS)) {
  t.test(`${name}: who buys is asked, and nobody else`, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY })
    const at = await start(t, sallyport)
    t.teardown(() => at.close())
    t.equal((await visit(at)).body, OTHER)
    const page = await visit(at, BUY)
    t.equal(page.status, 403)
    t.match(page.body, 'data-puzzles="32"')
    t.notMatch(page.body, SOLD)
    t.equal(page.headers['sallyport-challenge'], '/.sallyport/pass', 'not the level that the application wants')
    const given = await redeem(at, readSolution(page))
    t.match([given.status, given.headers['sallyport-pass']], [204, '2'])
    const sold = await visit(at, { ...BUY, cookie: readCookie(given) })
    t.match([sold.status, sold.body], [200, SOLD])
    t.notOk(sold.headers['sallyport-challenge'], 'nothing of ours goes on to the client')
    const program = await visit(at, { ...BUY, fields: ['User-Agent', 'curl/8.9', 'Accept', '*/*'] })
    t.match([program.status, JSON.parse(program.body).error], [403, 'challenge_required'])
    t.equal(program.headers['sallyport-challenge'], '/.sallyport/pass')
    const reserved = await visit(at, { ...BUY, address: '10.0.0.7' })
    t.match([reserved.status, reserved.body], [200, SOLD], 'who is never asked')
  })

  t.test(`${name}: monitor mode asks nobody`, async (t) => {
    const sallyport = await openWithoutData(t, { mode: 'monitor', policy: POLICY })
    const at = await start(t, sallyport)
    t.teardown(() => at.close())
    const sold = await visit(at, BUY)
    t.match([sold.status, sold.body], [200, SOLD])
    t.notOk(sold.headers['sallyport-challenge'])
  })
}

t.test('an origin that writes no level asks nobody, and its field goes no further', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const [agent, browser] = BROWSER
  for (const value of ['0', '4', 'yes', '']) {
    const origin = await running(createServer((_, res) => void res.setHeader('sallyport-challenge', value).end(SOLD)))
    const at = await startProxy(t, sallyport, { upstream: `http://127.0.0.1:${origin.port}` })
    const { status, headers, body } = await visit(at, { fields: [agent as string, browser as string] })
    t.match([status, body, headers['sallyport-challenge']], [200, SOLD, undefined], value)
    await at.close()
    await origin.close()
  }
})

t.test('an origin that asks where machines have no secret in common asks nobody, and that is said once', async (t) => {
  const sallyport = await openWithoutData(
    t,
    { policy: POLICY, redis: 'redis://127.0.0.1:1', timeouts: { counting: '50ms' } },
    { onFault: () => {} },
  )
  const origin = await running(createServer((_, res) => void res.setHeader('sallyport-challenge', '2').end(SOLD)))
  t.teardown(() => origin.close())
  const notices: string[] = []
  const upstream = `http://127.0.0.1:${origin.port}`
  const at = await startProxy(t, sallyport, { upstream, onNotice: (message) => notices.push(message) })
  for (const target of ['/buy', '/buy', '/other']) {
    const sold = await visit(at, { target })
    t.match([sold.status, sold.body], [200, SOLD])
    t.notOk(sold.headers['sallyport-challenge'])
  }
  t.match(notices, [
    /^An origin requests challenges \(sallyport-challenge: 2\), but no client gets a challenge: challenge\.secret: is missing/,
  ])
  t.equal(notices.length, 1)
})

t.test('options that are none are refused at start', async (t) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  t.throws(() => challenge(sallyport, { level: 4 as never }), /level/)
  t.throws(() => challenge(sallyport, { level: 1, script: 'required' }), /script/)
  t.throws(() => forExpress.challenge({ decide: sallyport.decide }), { code: 'invalid_config' })
})
