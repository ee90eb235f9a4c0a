import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse } from '@sallyport/engine'

/** An answer that is begun by its status and headers: Node's own, or what stands for it. */
type Sink = NodeJS.WritableStream &
  Pick<ServerResponse, 'headersSent' | 'destroyed' | 'statusCode'> & {
    readonly req: Pick<IncomingMessage, 'method' | 'httpVersionMajor'>
    statusMessage?: string | undefined
    setHeader(name: string, value: string | number): unknown
    destroy(): unknown
  }

/**
 * Writes a response. A string goes out with its Content-Length, a stream at the client's pace; a HEAD request gets the
 * headers alone. Never rejects: a client that leaves ends the stream, a stream that fails cuts the connection, which is
 * all that can be said once the headers are out. An answer that Node does not take is `onFault`'s; by default it cuts the
 * connection and is a process warning. Does nothing where the host has answered already.
 */
export async function sendResponse(
  res: Sink,
  answer: ApiResponse,
  onFault: (error: unknown) => void = (error) => {
    process.emitWarning(`An answer was not sent: ${error}`, 'SallyportWarning')
    res.destroy()
  },
): Promise<void> {
  if (res.headersSent || res.destroyed) return
  try {
    const { body } = answer
    writeFields(res, answer)
    if (res.req.method === 'HEAD') res.end()
    else if (isWhole(body)) res.end(body)
    else await pipeline(Readable.from(body), res).catch(() => undefined)
  } catch (error) {
    onFault(error)
  }
}

function isWhole(body: ApiResponse['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

function writeFields(res: Sink, { status, headers, body }: ApiResponse): void {
  res.statusCode = status
  // The text of another status is left where its head could not be sent; HTTP/2 has none.
  if (res.req.httpVersionMajor === 1) res.statusMessage = ''
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (isWhole(body) && status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
}
