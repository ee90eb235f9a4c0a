import { createServer, type RequestListener } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import type { Decision, InspectedPass } from '@sallyport/core'
import type { ConfigInput, Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forFetch from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { listener } from '@sallyport/node'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t from 'tap'
import { BROWSER, passOf, redeem, solutionOf, visit } from './challenge-client.ts'
import { type RunningHost, running } from './hosts.ts'
import { openWithoutData } from './without-data.ts'

/* Applications and the passes of their visitors, visitors who are never asked, claims of who is asked, and counts by JA4. */
const ASK_ALL = { id: 'ask', match: {}, action: 'challenge', challenge: { level: 2 } } as const
const POLICY = { preset: 'observe', rules: [ASK_ALL] } satisfies ConfigInput['policy']

/** The pass that an application reads of its request, and the attestation. */
interface Seen {
  readonly pass?: InspectedPass | undefined
  readonly attestation?: number | undefined
}

const seenOf = (decision: Decision | null | undefined): Seen => ({
  pass: decision?.inspection.pass,
  attestation: decision?.attestation?.id,
})

const CLAIM = 'x-claim'

/** Applications that answer with what they see; `claims`: they hand over the claim in a header. */
const APPLICATIONS: Readonly<Record<string, (sallyport: Sallyport, claims: boolean) => Promise<RequestListener>>> = {
  async 'node:http'(sallyport, claims) {
    const provenance = {
      claim: (req: { readonly headers: NodeJS.Dict<string | string[]> }) => String(req.headers[CLAIM] ?? ''),
    }
    return listener(
      sallyport,
      (req, res) => res.end(JSON.stringify(seenOf(req.sallyport))),
      claims ? { provenance } : {},
    )
  },
  async Express(sallyport, claims) {
    const app = express()
    const provenance = { claim: (req: express.Request) => req.get(CLAIM) }
    app.use(forExpress.inspection(sallyport, claims ? { provenance } : {}))
    app.use((req, res) => void res.json(seenOf(req.sallyport)))
    return app
  },
  async Koa(sallyport, claims) {
    const app = new Koa()
    const provenance = { claim: (ctx: Koa.Context) => ctx.get(CLAIM) }
    app.use(forKoa.inspection(sallyport, claims ? { provenance } : {}))
    app.use((ctx) => {
      ctx.body = seenOf(ctx.state['sallyport'] as Decision)
    })
    return app.callback()
  },
  async Fastify(sallyport, claims) {
    const app = Fastify()
    const provenance = {
      claim: (request: { headers: NodeJS.Dict<string | string[]> }) => request.headers[CLAIM]?.toString(),
    }
    await app.register(forFastify.inspection, { sallyport, ...(claims ? { provenance } : {}) })
    app.all('/*', async (request) => seenOf(request.sallyport))
    await app.ready()
    return (req, res) => app.routing(req, res)
  },
  async Hono(sallyport, claims) {
    const app = new Hono()
    const provenance = { claim: (c: { req: { header(name: string): string | undefined } }) => c.req.header(CLAIM) }
    app.use(forHono.inspection(sallyport, claims ? { provenance } : {}))
    app.all('*', (c) => c.json(seenOf(c.get('sallyport'))))
    return getRequestListener(app.fetch)
  },
  async fetch(sallyport, claims) {
    const provenance = { claim: (request: Request) => request.headers.get(CLAIM) ?? undefined }
    const inspect = forFetch.inspection(sallyport, claims ? { provenance } : {})
    return getRequestListener(async (request, env) => {
      const { response, decision, end } = await inspect(request, { address: env.incoming.socket.remoteAddress })
      return response ?? end(Response.json(seenOf(decision)))
    })
  },
}

async function application(name: string, sallyport: Sallyport, claims = false): Promise<RunningHost> {
  const start = APPLICATIONS[name] as (typeof APPLICATIONS)[string]
  return running(createServer(await start(sallyport, claims)))
}

for (const name of Object.keys(APPLICATIONS)) {
  t.test(`${name}: an application reads the pass of its visitor`, async (t) => {
    const sallyport = await openWithoutData(t, {
      policy: { preset: 'observe', rules: [{ ...ASK_ALL, match: { path: ['/asked'] } }] },
    })
    const at = await application(name, sallyport)
    t.teardown(() => at.close())
    const seen = async (cookie?: string): Promise<Seen> => JSON.parse((await visit(at, { cookie })).body)
    t.equal((await seen()).pass, undefined)
    t.equal((await seen(`sallyport=${'A'.repeat(52)}`)).pass, undefined)
    const { pass } = await seen(await passOf(at, { target: '/asked' }))
    t.match(pass, { id: /^[\w-]{11}$/, level: 2 })
    t.ok(pass !== undefined && pass.age >= 0 && pass.age <= 60)
  })

  t.test(`${name}: who is asked is not attested, and who comes with the pass is, once`, async (t) => {
    const sallyport = await openWithoutData(t, { policy: POLICY })
    const at = await application(name, sallyport, true)
    t.teardown(() => at.close())
    const more = [CLAIM, 'US']
    const page = await visit(at, { more })
    t.equal(page.status, 403)
    t.equal(
      (await visit(at, { more, fields: ['User-Agent', BROWSER[1] as string, 'Accept', 'application/json'] })).status,
      403,
    )
    t.equal((await visit(at, { more, method: 'POST', body: 'a=b' })).status, 403)
    const solution = solutionOf(page)
    t.equal((await redeem(at, `${solution.slice(0, -1)}`, { more })).status, 403)
    const given = await redeem(at, solution, { more })
    t.equal(given.status, 204)
    t.equal(await sallyport.provenance.status(), undefined, 'nothing was let in, and no ledger was made')
    const cookie = (given.headers['set-cookie'] ?? '').split(';', 1)[0] as string
    const ids: number[] = []
    for (let call = 0; call < 2; call++) {
      const { status, body } = await visit(at, { more, cookie })
      const { pass, attestation } = JSON.parse(body)
      t.match([status, pass], [200, { level: 2 }])
      ids.push(attestation)
      t.equal((await visit(at, { more })).status, 403)
    }
    t.equal((ids[1] ?? 0) - (ids[0] ?? 0), 1, 'and nothing between')
  })
}
