import { Agent, createServer } from 'node:http'
import httpProxy from 'http-proxy'

/* A proxy of another library, `node node-proxy.js UPSTREAM PORT`, which keeps its connections to the origin. */
const [upstream = '', port] = process.argv.slice(2)

// Without a bound: http-proxy never gives back the connection of a download that its client left.
const proxy = httpProxy.createProxyServer({ target: upstream, agent: new Agent({ keepAlive: true }) })
proxy.on('error', (_error, _request, response) => response.destroy())
createServer((request, response) => proxy.web(request, response)).listen(Number(port), '127.0.0.1')
