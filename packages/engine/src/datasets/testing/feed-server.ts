import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The answer at a path: a body with an ETag of its own, or what a listener does. */
export type Served = string | Buffer | RequestListener

export type FeedServer = Awaited<ReturnType<typeof openFeedServer>>

/** Opens a publisher of feeds on loopback, whose files can be changed at any time. */
export async function openFeedServer(t: { teardown(work: () => void): unknown }) {
  const files = new Map<string, Served>()
  const asked: IncomingMessage[] = []
  const server = createServer((request, response) => {
    asked.push(request)
    const served = files.get(request.url ?? '')
    if (served === undefined) response.writeHead(404).end('not here')
    else if (typeof served === 'function') served(request, response)
    else answer(request, response, served)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    origin,
    /** Lists the requests so far, oldest first. */
    asked,
    serve: (path: string, served: Served) => void files.set(path, served),
    url: (path: string) => origin + path,
  }
}

function answer(request: IncomingMessage, response: ServerResponse, body: string | Buffer): void {
  const etag = `"${body.length}-${Buffer.from(body).reduce((sum, byte) => (sum * 31 + byte) >>> 0, 7)}"`
  if (request.headers['if-none-match'] === etag) response.writeHead(304, { etag }).end()
  else response.writeHead(200, { etag, 'content-length': Buffer.byteLength(body) }).end(body)
}

/** Makes a list of `count` CIDRs of /24, from 23.0.0.0 on. */
export function madeList(count: number, from = 0): string {
  return Array.from({ length: count }, (_, index) => `23.${(from + index) >> 8}.${(from + index) & 255}.0/24\n`).join(
    '',
  )
}
