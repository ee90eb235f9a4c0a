import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { createServer } from 'restify'
import t from 'tap'
import { inspection } from '../src/restify.ts'
import { decider } from './support.ts'

t.test('restify counts a refused request as ended', async (t) => {
  const server = createServer()
  server.pre(inspection(decider()))
  server.get('/flagged', (req, res, next) => {
    res.send({ action: req.headers['sallyport-action'] })
    next()
  })
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.server.address() as AddressInfo
  for (const [path, status] of [
    ['/flagged', 200],
    ['/blocked', 403],
  ] as const) {
    const ended = once(server, 'after')
    const response = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } })
    t.equal(response.status, status)
    t.match(await response.json(), status === 200 ? { action: 'flag' } : { error: 'request_blocked' })
    await ended
    t.equal((server as unknown as { inflightRequests(): number }).inflightRequests(), 0, path)
  }
})

t.test('a mount refuses what is no option', async (t) => {
  t.throws(() => inspection(decider(), { skips: true } as never), { code: 'invalid_config' })
})
