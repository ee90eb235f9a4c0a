// Inspection and the /v1 API in front of a React Router site: the server sees what a web Request does not show.
// React Router serves a page's data at its path with .data: a rule on /admin also names /admin.data.
import { createServer } from 'node:http'
import { createRequestListener } from '@react-router/node'
import { guardUpgrade, listener, open, v1 } from '@sallyport/node'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const site = createRequestListener({ build: await import('./build/server/index.js') })
const server = createServer(listener(sallyport, v1(sallyport, site)))
guardUpgrade(server, sallyport)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
