import { createServer, type Server } from 'node:http'
import type { Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import { inspection as inspectFetch } from '@sallyport/fetch'
import * as forKoa from '@sallyport/koa'
import { listener } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { running } from './host.ts'
import { openWithoutData } from './without-data.ts'

const EVENT = { event: 'login', identifier: 'ada@shop.example', outcome: 'failure' } as const

/** Servers of each framework that answer with the assessment of a failed login. */
const HOSTS: Readonly<Record<string, (sallyport: Sallyport) => Promise<Server>>> = {
  async 'node:http'(sallyport) {
    return createServer(
      listener(
        sallyport,
        async (req, res) => void res.end(JSON.stringify(await sallyport.accounts.assess(req, EVENT))),
      ),
    )
  },
  async express(sallyport) {
    const app = express().use(forExpress.inspection(sallyport))
    app.post('/login', async (req, res) => void res.json(await sallyport.accounts.assess(req, EVENT)))
    return createServer(app)
  },
  async koa(sallyport) {
    const app = new Koa().use(forKoa.inspection(sallyport))
    app.use(async (ctx) => void Object.assign(ctx, { body: await sallyport.accounts.assess(ctx, EVENT) }))
    return createServer(app.callback())
  },
  async fastify(sallyport) {
    const app = Fastify()
    await app.register(forFastify.inspection, { sallyport })
    app.post('/login', (request) => sallyport.accounts.assess(request, EVENT))
    await app.ready()
    return app.server
  },
}

const opened = (t: Test) => openWithoutData(t, { policy: { preset: 'observe', limits: ['account-guard'] } })

const headers = { 'User-Agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0' }
const WANTED = {
  action: 'allow',
  rule: 'default',
  account: { known: false },
  reasons: [{ id: 'policy:default' }, { id: 'account:unknown' }],
}

for (const [name, start] of Object.entries(HOSTS)) {
  t.test(`${name}: an event is judged with its request`, async (t) => {
    const sallyport = await opened(t)
    const host = await running(await start(sallyport))
    t.teardown(() => host.close())
    const answer = await fetch(`http://127.0.0.1:${host.port}/login`, { method: 'POST', headers })
    t.match(await answer.json(), { id: answer.headers.get('x-request-id'), ...WANTED })
  })
}

t.test('fetch: an event is judged with its request', async (t) => {
  const sallyport = await opened(t)
  const guard = inspectFetch(sallyport)
  const request = new Request('https://shop.example/login', { method: 'POST', headers })
  const { decision } = await guard(request, { address: '81.130.10.20' })
  t.match(await sallyport.accounts.assess(request, EVENT), { id: decision?.id, ...WANTED })
})

t.test('a request that no inspection has seen is refused with what to do', async (t) => {
  const sallyport = await opened(t)
  const request = new Request('https://shop.example/login')
  await t.rejects(sallyport.accounts.assess(request, EVENT), {
    code: 'invalid_config',
    message: /Mount inspection\(\)/,
  })
})
