// Inspection and the /v1 API in the Express server of a Remix 2 site.
import { createRequestHandler } from '@remix-run/express'
import { guardUpgrade, inspection, open, v1 } from '@sallyport/express'
import express from 'express'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const app = express()
app.use(inspection(sallyport))
app.use(v1(sallyport))
app.use(express.static('build/client'))
app.all('*', createRequestHandler({ build: await import('./build/server/index.js') }))

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`)
})
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
