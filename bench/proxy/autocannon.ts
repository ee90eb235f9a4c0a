import autocannon from 'autocannon'
import { browserFields } from '../browser.ts'
import { visitorAddresses } from '../visitors.ts'
import { type Shot, VISITORS } from './load.ts'

// `node autocannon.js URL PATH SECONDS CONNECTIONS`: one shot, which it sends to the process that started it.
const [url = '', path = '', seconds, connections] = process.argv.slice(2)
const requests = visitorAddresses(VISITORS).map((address) => {
  const fields = browserFields(address)
  const headers: Record<string, string> = {}
  for (let at = 0; at < fields.length; at += 2) headers[fields[at] as string] = fields[at + 1] as string
  return { method: 'GET', path, headers }
})
const result = await autocannon({ url, connections: Number(connections), duration: Number(seconds), requests })
const shot: Shot = {
  requests: result.requests.total,
  seconds: result.duration,
  p50: result.latency.p50,
  p99: result.latency.p99,
  errors: result.non2xx + result.errors,
}
process.send?.(shot)
