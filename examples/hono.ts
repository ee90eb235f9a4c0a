// A Hono site on Node with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { inspection, open, v1 } from '@sallyport/fetch/hono'
import { guardUpgrade } from '@sallyport/node'
import { Hono } from 'hono'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const app = new Hono()
app.use(inspection(sallyport))
app.use(v1(sallyport))
app.get('/', (c) => {
  const { action, inspection } = c.get('sallyport') ?? {}
  return c.json({ action, networkClass: inspection?.network.verdict.classification })
})

const server = serve({ fetch: app.fetch, port: Number(PORT), hostname: '127.0.0.1' }, ({ port }) => {
  console.log(`Listening on http://127.0.0.1:${port}`)
}) as Server
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
