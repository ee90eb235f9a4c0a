import { createServer, type RequestListener } from 'node:http'
import Router from '@koa/router'
import type { Decision, InspectionRequest } from '@sallyport/core'
import { listening } from '@sallyport/engine/testing'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { makeInspector } from '../inspector.ts'
import { startProxyBefore } from './proxy.ts'
import { AROUND, TARGETS } from './spellings.ts'
import { exchange, requestBytes } from './wire.ts'

/* Real routers, each with a page under /admin that a rule of the policy blocks: no spelling of a target may reach it. */
interface Gate {
  decide(request: InspectionRequest): Decision
  readonly config?: { readonly paths: 'strict' } | undefined
}

/** Reads the path of a target as nginx does; how others read it is in `packages/core/test/policy/path-readers.long.test.ts`. */
function readPath(target: string): string {
  const decode = (_: string, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))
  const path = (target.split('?', 1)[0] as string).replace(/%([0-9a-f]{2})/gi, decode)
  return new URL(`http://h/${path.replace(/\/+/g, '/').replace(/[^/\w.;-]/g, '_')}`).pathname.slice(1)
}

/** Starts the proxy before an origin that reads paths as nginx does. */
const proxySite =
  (paths: 'strict' | 'pass'): Site =>
  async (t, sallyport) => {
    const host = { ...sallyport, api: async () => undefined, sources: () => [] }
    const answer: RequestListener = (req, res) =>
      res.end(/^\/admin(?:\/|$)/i.test(readPath(req.url ?? '')) ? `${REACHED} ${req.url} ` : 'other')
    return (await startProxyBefore(t, host, answer, { api: { enabled: false }, paths })).port
  }

function gate(blocks: boolean): Gate {
  const rules = blocks ? [{ id: 'no-admin', match: { path: ['/admin', '/admin/**'] }, action: 'block' as const }] : []
  return makeInspector({ preset: 'observe', rules })
}

/** Starts a site until the test ends; resolves with its port. */
type Site = (t: Test, sallyport: Gate) => Promise<number>

/** The guarded page answers with this text, which no visitor may read. */
const REACHED = 'reached-admin'

const expressSite =
  (create: typeof express, below: string): Site =>
  (t, sallyport) => {
    const app = create()
    app.use(forExpress.inspection(sallyport))
    app.all(['/admin', below], (req, res) => void res.send(`${REACHED} ${req.originalUrl} `))
    return listening(t, createServer(app))
  }

const SITES: Readonly<Record<string, Site>> = {
  'Express 5': expressSite(express, '/admin/*rest'),
  'Express 4': expressSite(express4, '/admin/*'),
  async Koa(t, sallyport) {
    const router = new Router()
    router.all(['/admin', '/admin/{*rest}'], (ctx) => {
      ctx.body = `${REACHED} ${ctx.originalUrl} `
    })
    return listening(t, createServer(new Koa().use(forKoa.inspection(sallyport)).use(router.routes()).callback()))
  },
  async Fastify(t, sallyport) {
    const routerOptions = { caseSensitive: false, ignoreDuplicateSlashes: true }
    const app = Fastify({ useSemicolonDelimiter: true, routerOptions })
    await app.register(forFastify.inspection, { sallyport })
    for (const path of ['/admin', '/admin/*']) {
      app.all(path, (request, reply) => reply.send(`${REACHED} ${request.originalUrl} `))
    }
    await app.ready()
    return listening(t, createServer(app.routing))
  },
  'the proxy before a server like nginx': proxySite('pass'),
  'the proxy before a server like nginx (paths: strict)': proxySite('strict'),
}

/** Lists targets that reached the guarded page, each requested on a connection of its own. */
async function listReached(port: number, targets: readonly string[]): Promise<readonly string[]> {
  const found: string[] = []
  const waiting = [...targets]
  const ask = async (): Promise<void> => {
    for (let target = waiting.pop(); target !== undefined; target = waiting.pop()) {
      const bytes = requestBytes('GET', target, ['Connection', 'close'])
      const answer = await exchange(port, bytes).catch(() => '')
      if (answer.includes(REACHED)) found.push(target)
    }
  }
  await Promise.all(Array.from({ length: 16 }, ask))
  return found
}

for (const [name, start] of Object.entries(SITES)) {
  t.test(`no spelling of a blocked path reaches ${name}`, async (t) => {
    const ways = await listReached(await start(t, gate(false)), AROUND)
    t.ok(ways.length > 10, `${ways.length} spellings reach the page where nothing is blocked`)
    t.same(await listReached(await start(t, gate(true)), TARGETS), [])
  })
}

t.test('adapters refuse what servers read in several ways where paths are strict', async (t) => {
  for (const name of ['Express 5', 'Koa', 'Fastify'] as const) {
    const port = await (SITES[name] as Site)(t, { ...gate(false), config: { paths: 'strict' } })
    const ask = (target: string) => exchange(port, requestBytes('GET', target, ['Connection', 'close']))
    t.match(
      await ask('/admin/../admin'),
      /^HTTP\/1\.1 400 [\s\S]*"invalid_request","message":"The path holds a dot segment\."/,
      name,
    )
    t.match(await ask('/admin/a%2Fb'), REACHED, `${name}: and nothing else`)
  }
})
