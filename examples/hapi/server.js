// A hapi site with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { server as createServer } from '@hapi/hapi'
import { inspection, open, v1 } from '@sallyport/express'
import { guardUpgrade } from '@sallyport/node'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

// Middleware runs before hapi looks for a route: it answers, or it calls what comes next.
const handlers = [inspection(sallyport), v1(sallyport)]
const server = createServer({ port: Number(PORT), host: '127.0.0.1' })
for (const handle of handlers) {
  server.ext('onRequest', async ({ raw: { req, res } }, h) => {
    const goesOn = await new Promise((resolve) => {
      res.once('close', () => resolve(false))
      handle(req, res, (error) => resolve(error === undefined))
    })
    return goesOn ? h.continue : h.abandon
  })
}
server.route({
  method: 'GET',
  path: '/',
  handler: ({ raw }) => {
    const { action, inspection } = raw.req.sallyport ?? {}
    return { action, networkClass: inspection?.network.verdict.classification }
  },
})
guardUpgrade(server.listener, sallyport)
await server.start()
console.log(`Listening on http://127.0.0.1:${server.info.port}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.stop().then(() => sallyport.close()))
}
