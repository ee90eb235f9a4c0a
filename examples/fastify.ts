// A Fastify site with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { guardUpgrade, inspection, open, v1 } from '@sallyport/fastify'
import Fastify from 'fastify'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

// Fastify itself waits for a request without end.
const app = Fastify({ requestTimeout: 60_000 })
await app.register(inspection, { sallyport })
await app.register(v1, { sallyport })
app.get('/', (request) => {
  const { action, inspection } = request.sallyport ?? {}
  return { action, networkClass: inspection?.network.verdict.classification }
})
guardUpgrade(app.server, sallyport)

console.log(`Listening on ${await app.listen({ port: Number(PORT), host: '127.0.0.1' })}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await app.close()
    await sallyport.close()
  })
}
