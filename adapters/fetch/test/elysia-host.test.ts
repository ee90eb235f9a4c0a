import { Elysia } from 'elysia'
import t from 'tap'
import { inspection, v1 } from '../src/elysia.ts'
import { ask, standIn } from './stand-in.ts'

t.test("what Elysia answers itself is inspected too: its 404s, and a handler's errors", async (t) => {
  const { sallyport, observed, judged } = standIn()
  const app = new Elysia()
    .use(inspection(sallyport, { address: (request) => request.headers.get('x-made-address') ?? undefined }))
    .get('/', ({ sallyport }) => ({ peer: sallyport?.inspection.peer }))
    .get('/fails', () => {
      throw new Error('a fault of the site')
    })
  const statuses: number[] = []
  for (const path of ['/', '/fails', '/nowhere', '/blocked']) {
    const response = await app.handle(ask(path, { headers: { 'x-made-address': '192.0.2.9' } }))
    t.type(response.headers.get('x-request-id'), 'string', path)
    statuses.push(response.status)
    if (path === '/') t.same(await response.json(), { peer: '192.0.2.9' })
  }
  t.same(statuses, [200, 500, 404, 403])
  t.same(
    observed.map(({ status }) => status),
    statuses,
  )
  t.equal(judged.length, 4)
})

t.test('the API is answered after the inspection, whatever is used first', async (t) => {
  const { sallyport, judged } = standIn()
  const api = async ({ path }: { readonly path: string }) => ({ status: 200, headers: {}, body: path })
  const app = new Elysia().use(v1({ api }, { base: '/blocked' })).use(inspection(sallyport))
  t.equal((await app.handle(ask('/blocked/v1/myip'))).status, 403)
  t.equal(judged.length, 1)
  const open = new Elysia().use(inspection(sallyport)).use(v1({ api }, { base: '/detect' }))
  t.equal(await (await open.handle(ask('/detect/v1/myip'))).text(), '/v1/myip')
})

t.test('two applications of one process do not meet', async (t) => {
  const [one, other] = [standIn(), standIn()]
  const first = new Elysia().use(inspection(one.sallyport)).get('/', () => 'one')
  const second = new Elysia().use(inspection(other.sallyport)).get('/', () => 'other')
  await first.handle(ask('/'))
  await second.handle(ask('/'))
  t.same([one.judged.length, other.judged.length], [1, 1])
})

t.test('an application that is not compiled answers nothing, rather than nobody is inspected', async (t) => {
  const { sallyport } = standIn()
  const app = new Elysia({ aot: false }).use(inspection(sallyport)).get('/', () => 'the site')
  t.equal((await app.handle(ask('/'))).status, 500)
})
