import { createServer } from 'node:http'
import { compilePolicy, createInspector, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'
import type { Api, ApiRequest } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import Koa from 'koa'
import t, { type Test } from 'tap'
import { guardUpgrade, inspection, v1 } from '../src/index.ts'

const NO_ENTRY = { id: 'no-entry', match: { path: ['/blocked'] }, action: 'block' } as const
const sallyport = createInspector({
  clock: createFakeClock('2026-11-01T00:00:00Z'),
  snapshots: makeSnapshots(),
  trust: parseTrust([]),
  policy: compilePolicy({ preset: 'observe', rules: [NO_ENTRY] }),
  mode: 'enforce',
})

async function serve(t: Test, app: Koa): Promise<string> {
  const server = createServer(app.callback())
  return `http://127.0.0.1:${await listening(t, server)}`
}

t.test('the decision is in the state, and a block ends the request', async (t) => {
  const app = new Koa()
  const ran: string[] = []
  app.use(async (ctx, next) => {
    await next()
    ctx.set('x-status', String(ctx.status))
  })
  const typed = app.use(inspection(sallyport))
  typed.use((ctx) => {
    ran.push(ctx.path)
    const action: string | undefined = ctx.state.sallyport?.action
    ctx.body = [action, ctx.state.sallyport?.inspection.request.path, ctx.get('sallyport-action')]
  })
  const url = await serve(t, app)
  t.same(await (await fetch(`${url}/shop`)).json(), ['allow', '/shop', 'allow'])
  const refused = await fetch(`${url}/blocked`)
  t.same([refused.status, refused.headers.get('x-status')], [403, '403'], 'middleware around it sees the refusal')
  t.same(ran, ['/shop'])
})

t.test('the API under a base', async (t) => {
  const asked: ApiRequest[] = []
  const api: Api = async (request) => {
    asked.push(request)
    if (request.path !== '/v1/x') return undefined
    return { status: 203, headers: { 'x-a': 'b', 'content-type': 'text/x-parts' }, body: parts('one', 'two') }
  }
  async function* parts(...texts: readonly string[]) {
    yield* texts
  }
  const app = new Koa()
  app.use(v1({ api }, { base: '/detect/' }))
  app.use((ctx) => ctx.throw(418))
  const url = await serve(t, app)
  const response = await fetch(`${url}/detect/v1/x?y=1`)
  const { status, headers } = response
  t.same([status, headers.get('x-a'), headers.get('content-type')], [203, 'b', 'text/x-parts'])
  t.equal(await response.text(), 'onetwo', 'a stream arrives whole')
  t.hasStrict(asked[0], { path: '/v1/x', target: '/detect/v1/x?y=1' })
  t.equal((await fetch(`${url}/detect/other`)).status, 418, "what is not the API's goes on")
  t.equal((await fetch(`${url}/v1/x`)).status, 418, 'and so does what is outside the base')
  t.equal(asked.length, 1)
})

t.test('a mount that rewrites the URL, and a parser that has read the body', async (t) => {
  const app = new Koa()
  app.use(async (ctx, next) => {
    let text = ''
    for await (const chunk of ctx.req) text += chunk
    Object.assign(ctx.request, { body: { parsed: text } })
    ctx.url = ctx.url.replace('/mounted', '')
    await next()
  })
  const api: Api = async ({ path, target, json }) => {
    return { status: 200, headers: {}, body: JSON.stringify([path, target, await json()]) }
  }
  app.use(v1({ api }))
  const response = await fetch(`${await serve(t, app)}/mounted/v1/x`, { method: 'POST', body: '{}' })
  t.same(await response.json(), ['/v1/x', '/mounted/v1/x', { parsed: '{}' }])
})

t.test('a forgotten await fails at start-up', async (t) => {
  const promise = Promise.resolve() as never
  t.throws(() => inspection(promise), { code: 'invalid_config' })
  t.throws(() => v1(promise), { code: 'invalid_config' })
  t.throws(() => guardUpgrade(createServer(), promise), { code: 'invalid_config' })
})
