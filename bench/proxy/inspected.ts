import { createServer } from 'node:http'
import { listener, open } from '@sallyport/node'

/* A site of `node:http` with the inspection: `node inspected.js .sallyport 3000`. It answers each request with 100 bytes. */
const [dataDir, port] = process.argv.slice(2)
const sallyport = await open({ dataDir, trustProxy: ['loopback'], data: { refresh: false } })
const body = 'x'.repeat(100)
createServer(listener(sallyport, (_, response) => response.end(body))).listen(Number(port), '127.0.0.1')
// A process writes its profile only where it exits, and not where a signal ends it.
process.once('SIGTERM', () => process.exit())
