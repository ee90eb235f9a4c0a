// A site of node:http with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { guardUpgrade, listener, open, v1 } from '@sallyport/node'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const site = v1(sallyport, (req, res) => {
  const { action, inspection } = req.sallyport ?? {}
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ action, networkClass: inspection?.network.verdict.classification }))
})
const server = createServer(listener(sallyport, site)).listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
guardUpgrade(server, sallyport)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
