// An Express site with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import type { AddressInfo } from 'node:net'
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
app.get('/', (req, res) => {
  const { action, inspection } = req.sallyport ?? {}
  res.json({ action, networkClass: inspection?.network.verdict.classification })
})

const server = app.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
