import { createServer } from 'node:http'
import { listening } from '@sallyport/engine/testing'
import { H3, HTTPError } from 'h3'
import { toNodeHandler } from 'srvx/node'
import t from 'tap'
import { inspection, v1 } from '../src/h3.ts'
import { ask, standIn } from './stand-in.ts'

t.test('in a runtime that is not Node every answer has our headers, and its status is observed', async (t) => {
  const { sallyport, observed } = standIn()
  const app = new H3({ silent: true })
  app.use(inspection(sallyport, { address: (event) => event.req.headers.get('x-made-address') ?? undefined }))
  app.get('/value', (event) => ({ peer: event.context.sallyport?.inspection.peer }))
  app.get('/response', () => new Response('sent', { status: 418 }))
  app.get('/thrown', () => {
    throw new HTTPError({ status: 409 })
  })
  app.get('/status', (event) => {
    event.res.status = 202
    return 'accepted'
  })
  const statuses: number[] = []
  for (const path of ['/value', '/response', '/thrown', '/status', '/nowhere', '/blocked']) {
    const response = await app.fetch(ask(path, { headers: { 'x-made-address': '192.0.2.9' } }))
    t.type(response.headers.get('x-request-id'), 'string', path)
    statuses.push(response.status)
    if (path === '/value') t.same(await response.json(), { peer: '192.0.2.9' })
  }
  t.same(statuses, [200, 418, 409, 202, 404, 403])
  t.same(
    observed.map(({ status, client }) => [status, client]),
    statuses.map((status) => [status, '192.0.2.9']),
  )
})

t.test('on Node the request is judged as Node received it', async (t) => {
  const { sallyport, judged } = standIn()
  const app = new H3()
  app.use((event, next) => {
    // Reading all of them makes headers that do not follow Node's.
    event.context['before'] = [...event.req.headers].length
    return next()
  })
  app.use(inspection(sallyport))
  app.get('/', (event) => ({
    action: event.req.headers.get('sallyport-action'),
    asn: event.req.headers.get('sallyport_asn'),
  }))
  const server = createServer(toNodeHandler(app.fetch) as Parameters<typeof createServer>[1])
  const url = `http://127.0.0.1:${await listening(t, server)}/`
  const headers = { 'Sallyport-Action': 'allow', sallyport_asn: 'AS1', connection: 'close' }
  t.same(await (await fetch(url, { headers })).json(), { action: 'flag', asn: null })
  t.match(judged, [{ peer: '127.0.0.1', httpVersion: '1.1' }])
})

t.test('a mount takes the options of every adapter, and refuses others', async (t) => {
  const { sallyport } = standIn()
  t.throws(() => inspection(sallyport, { skips: true } as never), { code: 'invalid_config' })
  t.throws(() => v1({} as never), { code: 'invalid_config' })
})
