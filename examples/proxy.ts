// The filtering proxy, run by a program of your own. LISTEN and UPSTREAM say where; without UPSTREAM the origin
// says what the proxy told it. Try: curl -H 'X-Forwarded-For: 185.220.101.10' http://127.0.0.1:8080/
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openProxy } from '@sallyport/proxy'
import { open } from 'sallyport'

const { LISTEN = '127.0.0.1:8080', UPSTREAM, DATA_DIR = './.sallyport', REFRESH = 'true' } = process.env

const sallyport = await open({
  dataDir: DATA_DIR,
  data: { refresh: REFRESH === 'true' },
  trustProxy: ['loopback'],
  policy: { rules: [{ id: 'no-tor', match: { networkClass: ['tor'] }, action: 'block' }] },
  log: { requests: 'all' },
})

const origin = createServer(({ headers }, res) => {
  res.setHeader('content-type', 'application/json')
  res.end(JSON.stringify({ action: headers['sallyport-action'], networkClass: headers['sallyport-network-class'] }))
})
await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))

const proxy = await openProxy(sallyport, {
  listen: LISTEN,
  upstream: UPSTREAM ?? `http://127.0.0.1:${(origin.address() as AddressInfo).port}`,
  onNotice: console.warn,
  onOriginFailure: console.error,
})
// Standard output is the decision log's.
console.error(`Listening on ${proxy.url}, in front of ${proxy.upstream}`)

for (const signal of ['SIGINT', 'SIGTERM']) {
  process.once(signal, async () => {
    await proxy.close(signal === 'SIGTERM' ? 'wait' : 'cut')
    origin.close()
    await sallyport.close()
  })
}
