// An Elysia site on Node with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardUpgrade, type Handler, type Inspected, listener, open, v1 } from '@sallyport/node'
import { Elysia } from 'elysia'
import type { ServerRequest } from 'srvx'
import { toNodeHandler } from 'srvx/node'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const app = new Elysia().get('/', ({ request }) => {
  // Below the web request is Node's, which was judged.
  const { req } = (request as ServerRequest).runtime?.node ?? {}
  const { action, inspection } = (req as Inspected<IncomingMessage>).sallyport ?? {}
  return { action, networkClass: inspection?.network.verdict.classification }
})

const site = toNodeHandler(app.fetch) as Handler<unknown, unknown>
const server = createServer(listener(sallyport, v1(sallyport, site))).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
