// Inspection and the /v1 API in front of a Next.js site with a server of its own, which knows the socket of every request.
import { createServer } from 'node:http'
import { guardUpgrade, listener, open, v1 } from '@sallyport/node'
import next from 'next'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const site = next({ dev: false })
await site.prepare()
const server = createServer(listener(sallyport, v1(sallyport, site.getRequestHandler())))
guardUpgrade(server, sallyport)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
