// A hapi site with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { server as createServer } from '@hapi/hapi'
import { guardUpgrade } from '@sallyport/node'
import { inspection, v1 } from '@sallyport/node/hapi'
import { open } from 'sallyport'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const server = createServer({ port: Number(PORT), host: '127.0.0.1' })
await server.register({ plugin: inspection, options: { sallyport } })
await server.register({ plugin: v1, options: { sallyport } })
server.route({
  method: 'GET',
  path: '/',
  handler: ({ app }) => {
    const { action, inspection } = app.sallyport ?? {}
    return { action, networkClass: inspection?.network.verdict.classification }
  },
})
guardUpgrade(server.listener, sallyport)
await server.start()
console.log(`Listening on http://127.0.0.1:${server.info.port}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.stop().then(() => sallyport.close()))
}
