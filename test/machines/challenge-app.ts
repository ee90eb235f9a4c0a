import cluster from 'node:cluster'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { open } from '@sallyport/engine'
import { listener } from '@sallyport/node'

/* An application in four processes, each with its own port, so that a test can ask one of them; `own` machines have a dataDir each. */
const WORKERS = 4
const [config = '{}', own = 'shared'] = process.argv.slice(2)

if (cluster.isPrimary) {
  cluster.on('message', (_, message) => process.send?.(message))
  // A test that waits for four ports hears of a process that has none.
  cluster.on('exit', () => process.exit(1))
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork()
  process.once('disconnect', () => process.exit())
} else {
  const options = JSON.parse(config)
  if (own === 'own') options.dataDir = `${options.dataDir}-${process.pid}`
  const sallyport = await open(options)
  const server = createServer(listener(sallyport, (req, res) => res.end(String(req.sallyport?.inspection.pass?.level))))
  server.listen({ port: 0, host: '127.0.0.1', exclusive: true }, () => {
    process.send?.({ port: (server.address() as AddressInfo).port })
  })
}
