import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Decision, type Mode, SallyportError, withAttestation } from '@sallyport/core'
import * as forExpress from '@sallyport/express'
import * as forFastify from '@sallyport/fastify'
import * as forKoa from '@sallyport/koa'
import type { Attester } from '@sallyport/node'
import express from 'express'
import express4 from 'express4'
import Fastify from 'fastify'
import Koa from 'koa'
import t from 'tap'
import { madeScene } from './scene.ts'

/* Every framework hands a claim over, waits for its record, and carries out what the two decisions come to. */

const HEADER = 'x-claim'

interface ClaimHost {
  readonly name: string
  start(attester: Attester): Promise<Server>
}

const site = (req: IncomingMessage, decision: Decision | null | undefined) => ({
  attestation: decision?.attestation ?? null,
  id: req.headers['sallyport-attestation-id'] ?? null,
  action: req.headers['sallyport-action'] ?? null,
  trial: req.headers['sallyport-trial'] ?? null,
})

async function listening(server: Server): Promise<Server> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return server
}

function expressHost(name: string, create: typeof express): ClaimHost {
  return {
    name,
    start(attester) {
      const app = create()
      app.use(forExpress.inspection(attester, { provenance: { claim: (req) => req.get(HEADER) } }))
      app.use((req, res) => res.json(site(req, req.sallyport)))
      return listening(createServer(app))
    },
  }
}

const HOSTS: readonly ClaimHost[] = [
  expressHost('Express 5', express),
  expressHost('Express 4', express4 as unknown as typeof express),
  {
    name: 'Koa',
    start(attester) {
      const app = new Koa()
      app.use(forKoa.inspection(attester, { provenance: { claim: (ctx) => ctx.get(HEADER) } }))
      app.use((ctx) => {
        ctx.body = site(ctx.req, ctx.state['sallyport'] as Decision)
      })
      return listening(createServer(app.callback()))
    },
  },
  {
    name: 'Fastify',
    async start(attester) {
      const app = Fastify()
      const claim = (request: { headers: IncomingMessage['headers'] }) => request.headers[HEADER]?.toString()
      await app.register(forFastify.inspection, { sallyport: attester, provenance: { claim } })
      app.get('/', (request) => site(request.raw, request.sallyport))
      await app.listen({ port: 0, host: '127.0.0.1' })
      return app.server
    },
  },
]

/** Attests like a real one: US is allowed, KP is blocked, XX is no country, and DOWN cannot be recorded. */
function attester(mode: Mode = 'enforce'): Attester & { readonly claims: string[] } {
  const scene = madeScene()
  const claims: string[] = []
  return {
    claims,
    config: { mode },
    decide: mode === 'enforce' ? scene.enforcing.decide : scene.monitoring.decide,
    provenance: {
      async attestDecision(decision, claim) {
        if (claim === 'XX') throw new SallyportError('invalid_request')
        if (claim === 'DOWN') throw new SallyportError('attestation_unavailable')
        claims.push(claim)
        const action = claim === 'KP' ? 'block' : 'allow'
        return withAttestation(decision, { id: claims.length, claim, action, reason: 'made' }, mode)
      },
    },
  }
}

async function ask(server: Server, address: string, claim?: string) {
  const { port } = server.address() as AddressInfo
  const headers = {
    'x-forwarded-for': address,
    'sallyport-attestation-id': '99',
    ...(claim === undefined ? {} : { [HEADER]: claim }),
  }
  const response = await fetch(`http://127.0.0.1:${port}/`, { headers })
  return { status: response.status, retry: response.headers.get('retry-after'), body: await response.json() }
}

for (const { name, start } of HOSTS) {
  t.test(`${name}: a claim is recorded before the site sees the request`, async (t) => {
    const made = attester()
    const server = await start(made)
    t.teardown(() => server.closeAllConnections())
    t.teardown(() => new Promise((resolve) => server.close(resolve)))
    const { allowed, flagged, blocked } = madeScene()

    const none = await ask(server, allowed.address)
    t.match(none, { status: 200, body: { attestation: null, id: null, action: 'allow' } }, 'no claim, and no forged id')
    t.match(
      await ask(server, allowed.address, ''),
      { status: 200, body: { attestation: null, id: null } },
      'an empty one',
    )
    t.same(made.claims, [])
    const good = await ask(server, flagged.address, 'US')
    t.match(good.body, { attestation: { id: 1, claim: 'US', action: 'allow' }, id: '1', action: 'flag' })
    const stricter = await ask(server, allowed.address, 'KP')
    t.match(stricter, { status: 403, body: { error: 'request_blocked', details: { requestId: /^[\w-]{36}$/ } } })
    t.match(await ask(server, blocked.address, 'US'), { status: 403 }, 'blocked as before, and recorded')
    t.same(made.claims, ['US', 'KP', 'US'])
    t.match(await ask(server, allowed.address, 'XX'), { status: 400, body: { error: 'invalid_request' } })
    t.match(await ask(server, allowed.address, 'DOWN'), {
      status: 503,
      retry: '5',
      body: { error: 'attestation_unavailable' },
    })
  })

  t.test(`${name}: monitor mode blocks nothing, and passes what cannot be recorded with a warning`, async (t) => {
    const server = await start(attester('monitor'))
    t.teardown(() => server.closeAllConnections())
    t.teardown(() => new Promise((resolve) => server.close(resolve)))
    const { allowed } = madeScene()
    t.match(await ask(server, allowed.address, 'KP'), {
      status: 200,
      body: { action: 'block', attestation: { id: 1 } },
    })
    const warned = new Promise((resolve) => process.once('warning', resolve))
    t.match(await ask(server, allowed.address, 'DOWN'), { status: 200, body: { action: 'allow', attestation: null } })
    t.match(await warned, { message: /passed without attestation/ })
  })
}

t.test('claims are not taken where nobody can attest them', async (t) => {
  const { enforcing } = madeScene()
  const provenance = { claim: () => 'DE' }
  t.throws(() => forExpress.inspection(enforcing, { provenance }), { code: 'invalid_config' })
  t.throws(() => forKoa.inspection(enforcing, { provenance }), { code: 'invalid_config' })
  await t.rejects(async () => Fastify().register(forFastify.inspection, { sallyport: enforcing, provenance }), {
    code: 'invalid_config',
  })
})
