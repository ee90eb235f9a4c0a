import { createServer, type RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Fastify4 from 'fastify4'
import { Hono } from 'hono'
import Koa from 'koa'
import Koa2 from 'koa2'
import t, { type Test } from 'tap'
import { exchange, requestBytes } from './wire.ts'
import { openWithoutData } from './without-data.ts'

/* A handler may throw what is no Error: its request has ended then, for rules that count what is in flight and for the log. */
const POLICY = {
  preset: 'observe',
  rules: [{ id: 'one', match: { path: ['/export'] }, concurrent: 1, action: 'block' }],
} satisfies ConfigInput['policy']

const THROWN: readonly (readonly [name: string, value: unknown])[] = [
  ['a text', 'x'],
  ['undefined', undefined],
  ['null', null],
  ['a number', 0],
  ['an object', { status: 418 }],
  ['an Error', new Error('made')],
]

type Fails = () => unknown
type Host = (sallyport: Sallyport, fails: Fails) => Promise<RequestListener> | RequestListener

function expressHost(create: typeof express, isAsync: boolean): Host {
  return (sallyport, fails) => {
    const app = create()
    // Express itself writes errors to the console otherwise.
    app.set('env', 'test')
    app.use(forExpress.inspection(sallyport))
    app.use((_req, _res, next) => {
      if (isAsync) return fails()
      try {
        Promise.resolve(fails()).catch(next)
      } catch (thrown) {
        next(thrown)
      }
    })
    return app
  }
}

function koaHost(Application: typeof Koa): Host {
  return (sallyport, fails) => {
    const app = new Application()
    app.silent = true
    app.use(forKoa.inspection(sallyport))
    app.use(() => fails())
    return app.callback()
  }
}

function fastifyHost(create: typeof Fastify): Host {
  return async (sallyport, fails) => {
    const app = create()
    await app.register(forFastify.inspection, { sallyport })
    app.get('/export', async () => fails())
    await app.ready()
    return app.routing
  }
}

function honoApp(sallyport: Sallyport, fails: Fails): Hono {
  const app = new Hono()
  app.use(forHono.inspection(sallyport, { address: () => '8.1.0.1' }))
  app.get('/export', () => fails() as Response)
  app.onError((_, c) => c.text('failed', 500))
  return app
}

const HOSTS: Readonly<Record<string, Host>> = {
  'Express 5': expressHost(express, true),
  'Express 4': expressHost(express4, false),
  'Koa 3': koaHost(Koa),
  'Koa 2': koaHost(Koa2),
  'Fastify 5': fastifyHost(Fastify),
  'Fastify 4': fastifyHost(Fastify4 as unknown as typeof Fastify),
  'Hono on Node': (sallyport, fails) => getRequestListener(honoApp(sallyport, fails).fetch),
}

function failing(): { fails: Fails; thrown: { value?: unknown; rejects?: boolean | undefined } } {
  const thrown: { value?: unknown; rejects?: boolean | undefined } = {}
  return {
    thrown,
    fails() {
      if (thrown.rejects) return Promise.reject(thrown.value)
      throw thrown.value
    },
  }
}

for (const [name, host] of Object.entries(HOSTS)) {
  t.test(name, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY, trustProxy: ['loopback'] })
    const { fails, thrown } = failing()
    const server = createServer(await host(sallyport, fails))
    const port = await listening(t, server)
    for (const [what, value] of THROWN) {
      for (const rejects of [false, true]) {
        Object.assign(thrown, { value, rejects })
        const answer = await exchange(port, requestBytes('GET', '/export', ['Connection', 'close']))
        t.match(answer, /^HTTP\/1\.1 (?!403)[45]\d\d /, `${what}, ${rejects ? 'rejected' : 'thrown'}`)
      }
    }
  })
}

t.test('Hono in another runtime', async (t: Test) => {
  const sallyport = await openWithoutData(t, { policy: POLICY })
  const { fails, thrown } = failing()
  const app = honoApp(sallyport, fails)
  for (const [what, value] of THROWN) {
    for (const rejects of [false, true]) {
      Object.assign(thrown, { value, rejects })
      const status = await Promise.resolve(app.request('/export')).then(
        ({ status }) => status,
        () => 500,
      )
      t.equal(status, 500, `${what}, ${rejects ? 'rejected' : 'thrown'}`)
    }
  }
})
