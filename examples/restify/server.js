// A restify site with inspection and the /v1 API. PORT says where it listens; 0 takes a free port.
// Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:3000/
import { inspection, open, v1 } from '@sallyport/express'
import { guardUpgrade } from '@sallyport/node'
import restify from 'restify'

const { PORT = '3000', DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
})

const server = restify.createServer()
// Middleware of Express runs here as it is.
server.pre(inspection(sallyport), v1(sallyport))
server.get('/', (req, res, next) => {
  const { action, inspection } = req.sallyport ?? {}
  res.send({ action, networkClass: inspection?.network.verdict.classification })
  next()
})
guardUpgrade(server.server, sallyport)
server.listen(Number(PORT), '127.0.0.1', () => {
  console.log(`Listening on http://127.0.0.1:${server.address().port}`)
})

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, () => server.close(() => sallyport.close()))
}
