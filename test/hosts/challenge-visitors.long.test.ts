import { generateKeyPairSync } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type RequestOptions, request } from 'node:https'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { getRequestListener } from '@hono/node-server'
import { createSigner, type Decision, type InspectedPass } from '@sallyport/core'
import { type ConfigInput, openSimulated, type Sallyport } from '@sallyport/engine'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forFetch from '@sallyport/fetch'
import * as forHono from '@sallyport/fetch/hono'
import * as forKoa from '@sallyport/koa'
import { listener } from '@sallyport/node'
import { openProxy } from '@sallyport/proxy'
import { type Answer, AUTHORITATIVE_ANSWER, decode, encode, type Question } from 'dns-packet'
import express from 'express'
import Fastify from 'fastify'
import { Hono } from 'hono'
import Koa from 'koa'
import t from 'tap'
import { certificate } from '../certificate.ts'
import { NO_DATA } from '../no-data.ts'
import { BROWSER, passOf, redeem, solutionOf, visit } from './challenge-client.ts'
import { HOSTS, type RunningHost, running } from './hosts.ts'
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

const REVERSE = '1.66.249.66.in-addr.arpa'

/** A name server that knows one crawler's address both ways. */
async function crawlerNames(t: Pick<typeof import('tap').default, 'teardown'>): Promise<string> {
  const [name, address] = ['crawl-66-249-66-1.googlebot.com', '66.249.66.1']
  const socket = createSocket('udp4')
  socket.on('message', (message, from) => {
    const { id = 0, questions = [] } = decode(message)
    const [question] = questions as [Question]
    const known: Readonly<Record<string, string>> = { [`PTR ${REVERSE}`]: name, [`A ${name}`]: address }
    const data = known[`${question.type} ${question.name}`]
    const answers = data === undefined ? [] : [{ type: question.type, name: question.name, ttl: 60, data } as Answer]
    socket.send(
      encode({ type: 'response', id, flags: AUTHORITATIVE_ANSWER, questions, answers }),
      from.port,
      from.address,
    )
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.teardown(() => void socket.close())
  return `127.0.0.1:${(socket.address() as AddressInfo).port}`
}

const AGENT = 'https://agent.example'

t.test('never asked, in every host: the allowlist, verified crawlers and verified agents', async (t) => {
  const signer = createSigner(generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' }))
  const sallyport = await openSimulated([{ agent: AGENT, document: signer.directory }], {
    dataDir: t.testdir(),
    data: { refresh: false, sources: NO_DATA },
    trustProxy: ['loopback'],
    log: { requests: 'off' },
    webBotAuth: { agents: [AGENT] },
    policy: { ...POLICY, allowlist: ['8.3.0.0/24'] },
    dns: { servers: [await crawlerNames(t)], timeoutMs: 2_000 },
  })
  t.teardown(() => sallyport.close())
  const crawler = ['User-Agent', 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)']
  const signed = (): readonly string[] => {
    const created = Math.floor(Date.now() / 1000)
    const agent = ['Signature-Agent', `"${AGENT}"`]
    const fields = signer.sign({
      request: { method: 'GET', target: '/shop?item=1', scheme: 'http', fields: ['Host', 'site.example', ...agent] },
      label: 'sig1',
      components: '"@authority" "@method" "@path" "@query" "signature-agent"',
      created,
      expires: created + 60,
      nonce: `${Math.random()}`,
    })
    return [...agent, ...fields]
  }
  for (const host of HOSTS) {
    const at = await host.start(sallyport, '')
    const statusOf = async (visited: Parameters<typeof visit>[1]): Promise<number> => (await visit(at, visited)).status
    // The crawler's check, and the agent's keys, are there after the first requests.
    for (let call = 0; call < 100 && (await statusOf({ fields: signed() })) !== 200; call++);
    t.equal(await statusOf({ fields: signed() }), 200, `${host.name}, a signed agent`)
    t.equal(await statusOf({ fields: ['Signature-Agent', `"${AGENT}"`] }), 403, `${host.name}, one that is not signed`)
    t.equal(await statusOf({ fields: BROWSER, address: '8.3.0.9' }), 200, `${host.name}, the allowlist`)
    t.equal(await statusOf({ fields: BROWSER, address: '8.3.1.9' }), 403, `${host.name}, beside it`)
    for (let call = 0; call < 3; call++) {
      t.equal(await statusOf({ fields: crawler, address: '66.249.66.1' }), 200, `${host.name}, a crawler`)
    }
    let status = 200
    // It is let through while its name is looked up.
    for (let call = 0; call < 200 && status === 200; call++) {
      await delay(20)
      status = await statusOf({ fields: crawler, address: '93.184.216.40' })
    }
    t.equal(status, 403, `${host.name}, one that has its name alone`)
    await at.close()
  }
})

t.test(
  'a limit by JA4 is one for all who shake hands alike, and counts nobody whose handshake is not known',
  async (t) => {
    const config = {
      policy: {
        preset: 'observe',
        rules: [
          { id: 'alike', match: {}, action: 'throttle', limit: { key: 'ja4', max: 3, window: '1h', kind: 'fixed' } },
        ],
      },
    } satisfies Partial<ConfigInput>
    const origin = await running(createServer((_, res) => res.end('a page')))
    t.teardown(() => origin.close())
    const sallyport = await openWithoutData(t, { ...config, trustProxy: [] })
    const folder = t.testdir()
    const proxy = await openProxy(sallyport, {
      listen: '127.0.0.1:0',
      admin: '127.0.0.1:0',
      upstream: `http://127.0.0.1:${origin.port}`,
      limits: { eventLoopDelay: '1m' },
      tls: { certificates: [certificate(folder)] },
      timeouts: { drain: 0 },
    })
    t.teardown(() => proxy.close())
    const statusBy = (options: RequestOptions): Promise<number> =>
      new Promise((resolve, reject) => {
        const port = new URL(proxy.url).port
        const sent = request({ host: '127.0.0.1', port, rejectUnauthorized: false, agent: false, ...options })
        sent.on('error', reject)
        sent.on('response', (answer) => resolve(answer.resume().statusCode ?? 0))
        sent.end()
      })
    const statuses = async (options: RequestOptions): Promise<readonly number[]> => {
      const all: number[] = []
      for (let call = 0; call < 5; call++) all.push(await statusBy(options))
      return all
    }
    t.same(await statuses({}), [200, 200, 200, 429, 429])
    t.same(await statuses({ maxVersion: 'TLSv1.2' }), [200, 200, 200, 429, 429], 'another handshake')
    t.equal(
      await statusBy({ headers: { 'user-agent': BROWSER[1], 'x-forwarded-for': '8.8.8.8' } }),
      429,
      'whatever it says',
    )

    const clear = await openWithoutData(t, config)
    for (const host of HOSTS) {
      const at = await host.start(clear, '')
      for (let call = 0; call < 5; call++) t.equal((await visit(at)).status, 200, `${host.name}, in the clear`)
      await at.close()
    }
  },
)
