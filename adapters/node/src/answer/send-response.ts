import type { ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse } from '@sallyport/api'

/**
 * Writes a response. A string goes out with its Content-Length, a stream at the client's pace; a HEAD request gets the
 * headers alone. Never rejects: a client that leaves ends the stream, a stream that fails cuts the connection, which is
 * all that can be said once the headers are out. Does nothing where the host has answered already.
 */
export async function sendResponse(res: ServerResponse, { status, headers, body }: ApiResponse): Promise<void> {
  if (res.headersSent || res.destroyed) return
  res.statusCode = status
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (typeof body === 'string' && status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
  if (res.req.method === 'HEAD') res.end()
  else if (typeof body === 'string') res.end(body)
  else await pipeline(Readable.from(body), res).catch(() => undefined)
}
