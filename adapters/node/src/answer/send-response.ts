import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ApiResponse } from '@sallyport/engine'

/** An answer that begins with its status and headers: Node's own, or a substitute. */
type Sink = NodeJS.WritableStream &
  Pick<ServerResponse, 'headersSent' | 'destroyed' | 'statusCode'> & {
    readonly req: Pick<IncomingMessage, 'method' | 'httpVersionMajor'>
    statusMessage?: string | undefined
    setHeader(name: string, value: string | number): unknown
    destroy(): unknown
  }

/**
 * Writes a response: a string with its Content-Length, a stream at the client's pace, and the headers alone for a HEAD request. A stream
 * that fails cuts the connection, because the headers are already sent. Never rejects: `onFault` takes an answer that Node rejects. Does
 * nothing where the host has answered already.
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

/** Reports whether the body of a response is at hand, and no stream. */
export function isWhole(body: ApiResponse['body']): body is string | Uint8Array {
  return typeof body === 'string' || body instanceof Uint8Array
}

function writeFields(res: Sink, { status, headers, body }: ApiResponse): void {
  res.statusCode = status
  // An answer that could not be sent leaves its status text behind; HTTP/2 has no status text.
  if (res.req.httpVersionMajor === 1) res.statusMessage = ''
  for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
  if (isWhole(body) && status !== 204) res.setHeader('content-length', Buffer.byteLength(body))
}
