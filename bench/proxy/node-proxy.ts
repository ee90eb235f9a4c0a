import { Agent, createServer, type RequestListener, type ServerResponse } from 'node:http'
import replyFrom from '@fastify/reply-from'
import fastProxy from 'fast-proxy'
import fastify from 'fastify'
import httpProxy from 'http-proxy'
import { type Dispatcher, Pool } from 'undici'

/*
 * One proxy of another library: `node node-proxy.js NAME UPSTREAM PORT`. Each keeps its connections to the origin and is
 * else as its library makes it.
 */
const [name = '', upstream = '', port] = process.argv.slice(2)
const HOST = '127.0.0.1'

/** Without a bound: http-proxy never gives back the connection of a download that its client left. */
const agent = () => new Agent({ keepAlive: true })

/** `http-proxy`, and `http-proxy-3`, which has the same interface and is installed on Node 22 and newer only. */
async function webProxy(module: string): Promise<RequestListener> {
  const { createProxyServer }: Pick<typeof httpProxy, 'createProxyServer'> =
    module === 'http-proxy' ? httpProxy : await import(module)
  const proxy = createProxyServer({ target: upstream, agent: agent() })
  proxy.on('error', (_error, _request, response) => response.destroy())
  return (request, response) => proxy.web(request, response)
}

function fastProxyListener(): RequestListener {
  const { proxy } = fastProxy({ base: upstream, keepAliveMsecs: 60_000, maxSockets: 128 })
  return (request, response) => proxy(request, response, request.url ?? '/', {})
}

const HOP_BY_HOP = new Set(['connection', 'keep-alive', 'proxy-connection', 'te', 'trailer', 'transfer-encoding'])

/** The cost of undici alone: no body of a request, no check, no time-out of ours. */
function bareDispatch(): RequestListener {
  const pool = new Pool(upstream, { connections: 128, pipelining: 1 })
  return (request, response) => {
    pool.dispatch(
      { path: request.url ?? '/', method: request.method as 'GET', headers: endToEnd(request.rawHeaders) },
      bareHandler(response),
    )
  }
}

function bareHandler(response: ServerResponse): Dispatcher.DispatchHandler {
  let controller: Dispatcher.DispatchController | undefined
  response.once('close', () => response.writableFinished || controller?.abort(new Error('the client left')))
  return {
    onRequestStart(started) {
      controller = started
    },
    onResponseStart(started, status) {
      if (status < 200) return
      const fields = (started.rawHeaders as readonly Buffer[]).map((bytes) => bytes.toString('latin1'))
      response.writeHead(status, endToEnd(fields))
    },
    onResponseData(started, bytes) {
      if (response.write(bytes)) return
      started.pause()
      response.once('drain', () => started.resume())
    },
    onResponseEnd: () => void response.end(),
    onResponseError: () => void response.destroy(),
  }
}

function endToEnd(fields: readonly string[]): string[] {
  const kept: string[] = []
  for (let at = 0; at < fields.length; at += 2) {
    if (!HOP_BY_HOP.has((fields[at] as string).toLowerCase())) kept.push(fields[at] as string, fields[at + 1] as string)
  }
  return kept
}

if (name === 'reply-from') {
  const app = fastify()
  await app.register(replyFrom, { base: upstream, undici: { connections: 128, pipelining: 1 } })
  app.all('/*', (request, reply) => reply.from(request.url))
  await app.listen({ port: Number(port), host: HOST })
} else {
  const listeners: Readonly<Record<string, () => RequestListener | Promise<RequestListener>>> = {
    'fast-proxy': fastProxyListener,
    undici: bareDispatch,
  }
  createServer(await (listeners[name] ?? (() => webProxy(name)))()).listen(Number(port), HOST)
}
