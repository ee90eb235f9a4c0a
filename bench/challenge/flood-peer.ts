import { Agent, request as ask, createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/*
 * The least that a server does in a flood: `node flood-peer.js UPSTREAM BYTES PORT` relays who brings our cookie, and answers anybody else with
 * 403 and so many bytes, without a look at either.
 */
const [upstream = '', bytes = '', port = ''] = process.argv.slice(2)
const page = 'x'.repeat(Number(bytes))
const agent = new Agent({ keepAlive: true })

const server = createServer((request, response) => {
  if (request.headers.cookie?.includes('sallyport=') !== true) {
    response.writeHead(403, { 'content-type': 'text/html' }).end(page)
    return
  }
  ask(upstream, { agent, headers: request.headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502)
    answer.pipe(response)
  }).end()
})
server.listen(Number(port), '127.0.0.1', () => {
  if ((server.address() as AddressInfo).port !== Number(port)) process.exit(1)
})
