import cluster from 'node:cluster'
import type { AddressInfo } from 'node:net'
import { open } from '@sallyport/engine'
import { v1 } from '@sallyport/express'
import express from 'express'

/*
 * A customer's own application in four processes: an Express server in each worker, every one of which opens the same
 * dataDir. Run by processes.long.test.ts with a configuration; says each worker's pid and the port they share.
 */
const WORKERS = 4
const [config = '{}'] = process.argv.slice(2)

if (cluster.isPrimary) {
  cluster.on('message', (_, message) => process.send?.(message))
  cluster.on('exit', () => process.connected && cluster.fork())
  for (let worker = 0; worker < WORKERS; worker++) cluster.fork()
  process.once('disconnect', () => process.exit())
} else {
  const sallyport = await open(JSON.parse(config))
  const app = express()
  app.use(v1(sallyport))
  const server = app.listen(0, '127.0.0.1', () => {
    process.send?.({ pid: process.pid, port: (server.address() as AddressInfo).port })
  })
}
