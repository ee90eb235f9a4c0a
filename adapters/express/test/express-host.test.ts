import { createServer, IncomingMessage } from 'node:http'
import { compilePolicy, createInspector, type Decision, parseTrust } from '@sallyport/core'
import { createFakeClock, makeSnapshots } from '@sallyport/core/testing'
import type { Api, ApiRequest } from '@sallyport/engine'
import { listening } from '@sallyport/engine/testing'
import express, { type ErrorRequestHandler, type Express } from 'express'
import t, { type Test } from 'tap'
import { guardUpgrade, inspection, v1 } from '../src/index.ts'

const NO_ENTRY = { id: 'no-entry', match: { path: ['/shop/blocked'] }, action: 'block' } as const
const sallyport = createInspector({
  clock: createFakeClock('2026-11-01T00:00:00Z'),
  snapshots: makeSnapshots(),
  trust: parseTrust([]),
  policy: compilePolicy({ preset: 'observe', rules: [NO_ENTRY] }),
  mode: 'enforce',
})

async function serve(t: Test, app: Express): Promise<string> {
  const server = createServer(app)
  return `http://127.0.0.1:${await listening(t, server)}`
}

t.test('another copy of the package shows its decisions too', async (t) => {
  const url = new URL('../src/index.js?another', import.meta.url)
  const another = (await import(url.href)) as { inspection: typeof inspection }
  t.not(another.inspection, inspection)
  const app = express()
  app.get('/ours', inspection(sallyport))
  app.get('/theirs', another.inspection(sallyport))
  app.use((req, res) => void res.json(req.sallyport?.action ?? 'not inspected'))
  const site = await serve(t, app)
  for (const path of ['/ours', '/theirs']) t.equal(await (await fetch(site + path)).json(), 'allow', path)
})

t.test('under a mount the target is inspected as it was received', async (t) => {
  const app = express()
  app.use('/shop', inspection(sallyport))
  app.use((req, res) => void res.json(req.sallyport?.inspection.request.path ?? 'not inspected'))
  const url = await serve(t, app)
  t.equal((await fetch(`${url}/shop/blocked`)).status, 403)
  t.equal(await (await fetch(`${url}/shop/other`)).json(), '/shop/other')
  t.equal(await (await fetch(`${url}/other`)).json(), 'not inspected')
})

t.test('the API is given its path below the mount, and the target above it', async (t) => {
  const asked: ApiRequest[] = []
  const api: Api = async (request) => {
    asked.push(request)
    if (request.path === '/v1/fails') throw new Error('a fault')
    if (!request.path.startsWith('/v1/')) return undefined
    return { status: 203, headers: { 'x-a': 'b' }, body: JSON.stringify(await request.json()) }
  }
  const app = express()
  app.use(express.json())
  app.use('/detect', v1({ api }))
  app.use((_req, res) => void res.status(418).end())
  const failed: ErrorRequestHandler = (error, _req, res, _next) => void res.status(500).send(String(error))
  app.use(failed)
  const url = await serve(t, app)
  const headers = { 'content-type': 'application/json' }
  const response = await fetch(`${url}/Detect/v1/x?y=1`, { method: 'POST', headers, body: '{"n":1}' })
  t.same([response.status, response.headers.get('x-a')], [203, 'b'])
  t.same(await response.json(), { n: 1 }, 'as express.json() parsed it')
  t.hasStrict(asked[0], { path: '/v1/x', target: '/Detect/v1/x?y=1', method: 'POST', peer: '127.0.0.1' })
  t.equal(asked[0]?.query.get('y'), '1')
  t.equal((await fetch(`${url}/detect/other`)).status, 418, "what is not the API's goes on")
  t.equal((await fetch(`${url}/v1/x`)).status, 418, 'and so does what is outside the mount')
  t.equal(asked.length, 1)
  t.equal(await (await fetch(`${url}/detect/v1/fails`)).text(), 'Error: a fault', "is an error of the application's")
})

t.test('a forgotten await fails at start-up', async (t) => {
  const promise = Promise.resolve() as never
  t.throws(() => inspection(promise), { code: 'invalid_config' })
  t.throws(() => v1(promise), { code: 'invalid_config' })
  t.throws(() => guardUpgrade(createServer(), promise), { code: 'invalid_config' })
})

t.test('the decision is shown behind an application within another, and where there is no application', async (t) => {
  const [app, shop] = [express(), express()]
  shop.use(inspection(sallyport))
  shop.get('/open', (req, res, next) => {
    res.locals['own'] = Object.hasOwn(req, 'sallyport')
    next()
  })
  app.use((req, res, next) => {
    res.locals['before'] = req.sallyport?.action
    next()
  })
  app.use('/shop', shop)
  app.get('/mine', (req, res) => {
    Object.assign(req, { sallyport: 'mine' })
    res.json(req.sallyport)
  })
  app.use((req, res) => void res.json([res.locals['before'], res.locals['own'], req.sallyport?.action]))
  const url = await serve(t, app)
  t.same(await (await fetch(`${url}/shop/open`)).json(), [null, false, 'allow'])
  t.same(await (await fetch(`${url}/other`)).json(), [null, null, null], 'nothing of another request')
  t.same(await (await fetch(`${url}/mine`)).json(), 'mine', 'and an application may write its own')

  const inspect = inspection(sallyport)
  const bare = createServer((req: IncomingMessage & { sallyport?: Decision }, res) => {
    inspect(req as never, res as never, () => res.end(String(req.sallyport?.action)))
  })
  const answer = await fetch(`http://127.0.0.1:${await listening(t, bare)}`)
  t.equal(await answer.text(), 'allow')
  t.notOk('sallyport' in IncomingMessage.prototype)
})
