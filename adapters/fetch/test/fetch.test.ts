import { setImmediate } from 'node:timers/promises'
import type { Api } from '@sallyport/engine'
import { Hono } from 'hono'
import t from 'tap'
import * as forHono from '../src/hono.ts'
import { guard, v1 } from '../src/index.ts'
import { ask, standIn } from './stand-in.ts'

const { sallyport: SALLYPORT, observed, judged } = standIn()
const ADDRESS = { address: '192.0.2.7' }
t.beforeEach(() => {
  observed.length = 0
  judged.length = 0
})

t.test('a request is judged by what the web shows of it', async (t) => {
  const headers = { 'User-Agent': 'Mozilla/5.0', Cookie: 'a=b' }
  const { decision, response } = await guard(SALLYPORT, ask('/shop?x=1#top', { headers }), ADDRESS)
  t.equal(response, undefined)
  t.equal(decision?.action, 'flag')
  t.hasStrict(judged[0], { peer: '192.0.2.7', method: 'GET', target: '/shop?x=1', scheme: 'https', httpVersion: '' })
  t.same(judged[0]?.fields, ['cookie', 'a=b', 'User-Agent', 'Mozilla/5.0', 'Host', 'site.example'])
  await guard(SALLYPORT, ask('/shop'), {})
  t.equal(judged[1]?.peer, '', 'an address that nobody says is not known')
})

t.test('a block has a response, and is observed with its status', async (t) => {
  const { decision, response } = await guard(SALLYPORT, ask('/blocked'), ADDRESS)
  t.equal(decision?.action, 'block')
  t.equal(response?.status, 403)
  t.equal(response?.headers.get('x-request-id'), decision?.id)
  t.match(await response?.json(), { error: 'request_blocked', details: { requestId: decision?.id } })
  t.match(observed, [{ answeredBy: 'refusal', status: 403, client: '192.0.2.7', path: '/blocked' }])
  const head = await guard(SALLYPORT, ask('/blocked', { method: 'HEAD' }), ADDRESS)
  t.equal(await head.response?.text(), '')
  t.match(head.response?.headers.get('content-length'), /^\d+$/)
})

t.test('end gives the response our headers, also one that cannot be changed, and ends the request once', async (t) => {
  const { decision, end } = await guard(SALLYPORT, ask('/shop'), ADDRESS)
  t.same(observed, [])
  const sent = end(Response.redirect('https://site.example/elsewhere', 302))
  t.equal(sent.status, 302)
  t.equal(sent.headers.get('location'), 'https://site.example/elsewhere')
  t.equal(sent.headers.get('x-request-id'), decision?.id)
  end(new Response('again', { status: 500 }))
  t.match(observed, [{ answeredBy: 'host', status: 302 }])
  t.equal(observed.length, 1)
})

t.test('a response without a body that answers many visitors takes the headers of none', async (t) => {
  const shared = new Response(null, { status: 204, headers: { etag: '"a"' } })
  const times = { windowMs: 60_000, resetMs: 60_000 }
  const use = { rule: 'busy', action: 'throttle', onTrial: false, max: 10, exceeded: false, ...times } as const
  const limited: typeof SALLYPORT = {
    ...SALLYPORT,
    decide: (request) => ({ ...SALLYPORT.decide(request), limits: [{ ...use, used: Number(request.peer.slice(-1)) }] }),
  }
  for (const last of [7, 8]) {
    const { end } = await guard(limited, ask('/shop'), { address: `192.0.2.${last}` })
    const sent = end(shared)
    t.match(sent.headers.get('ratelimit'), `;r=${10 - last};`)
    t.equal(sent.headers.get('etag'), '"a"')
  }
  t.same([...shared.headers.keys()], ['etag'])
})

t.test('the API answers what is its own, and reads no body before it is asked for', async (t) => {
  const answer: Api = async ({ path, json }) =>
    path.startsWith('/v1/') ? { status: 200, headers: { 'x-a': 'b' }, body: JSON.stringify(await json()) } : undefined
  const api = { api: answer }
  const post = (path: string) => ask(path, { method: 'POST', body: '{"n":1}' })
  const answered = await v1(api, post('/detect/v1/x'), { ...ADDRESS, base: '/detect/' })
  t.same([answered?.headers.get('x-a'), await answered?.json()], ['b', { n: 1 }])
  const other = post('/other')
  t.equal(await v1(api, other, ADDRESS), undefined)
  t.same(await other.json(), { n: 1 })
  const long = ask('/v1/x', { method: 'POST', body: `"${'x'.repeat(70_000)}"` })
  await t.rejects(v1(api, long, ADDRESS), { code: 'payload_too_large' })
})

t.test('a client that leaves after its body was refused unread ends nothing', async (t) => {
  let leave = (): void => {}
  const body = new ReadableStream({
    start(controller) {
      leave = () => controller.error(new Error('left'))
    },
  })
  const headers = { 'content-length': '70000' }
  const request = ask('/v1/x', { method: 'POST', body, headers, duplex: 'half' })
  const api: Api = async ({ json }) => ({ status: 200, headers: {}, body: String(await json()) })
  await t.rejects(v1({ api }, request, ADDRESS), { code: 'payload_too_large' })
  leave()
  await setImmediate()
})

t.test('Hono in a runtime that is not Node: somebody says the address', async (t) => {
  const app = new Hono()
  app.use(forHono.inspection(SALLYPORT, { address: (c) => c.req.header('x-made-address') }))
  app.all('*', (c) => c.text(String(c.get('sallyport')?.inspection.peer)))
  const fetched = await app.fetch(ask('/shop', { headers: { 'x-made-address': '192.0.2.9' } }))
  t.equal(await fetched.text(), '192.0.2.9')
  t.type(fetched.headers.get('x-request-id'), 'string')
  t.equal((await app.fetch(ask('/blocked'))).status, 403)
  t.match(observed, [{ status: 200 }, { status: 403 }])
})

t.test('what a visitor sends under our names reaches no handler, also where headers cannot be changed', async (t) => {
  const seen: unknown[] = []
  const app = new Hono()
  app.use(forHono.inspection(SALLYPORT, { skip: (c) => c.req.path === '/health' }))
  app.all('*', (c) => {
    seen.push([c.req.header('sallyport-action'), c.req.header('sallyport_pass'), c.req.header('accept')])
    return c.text('passed')
  })
  const headers = { 'Sallyport-Action': 'allow', sallyport_pass: '3', accept: '*/*' }
  for (const path of ['/shop', '/health']) await app.fetch(ask(path, { headers }))
  for (const fields of seen) t.same(fields, [undefined, undefined, '*/*'])
  const remove = (): never => {
    throw new TypeError('immutable')
  }
  const fixed = (init: RequestInit): Request => {
    const request = ask('/shop', init)
    Object.defineProperty(request.headers, 'delete', { value: remove })
    return request
  }
  t.equal((await app.fetch(fixed({ headers }))).status, 400)
  t.equal((await app.fetch(fixed({}))).status, 200)
  t.equal(seen.length, 3)
})
