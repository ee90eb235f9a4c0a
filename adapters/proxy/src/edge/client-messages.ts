import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { StreamRequest } from './stream-request.ts'
import { cutStream, grouped, StreamResponse } from './stream-response.ts'

/* These are the two sides of an exchange with a client, for either version of HTTP; for HTTP/1 they are Node's own. */

export type ClientRequest = IncomingMessage | StreamRequest

/** The response to a client; TypeScript accepts only the first common form of `end`. */
export type ClientResponse = (ServerResponse | StreamResponse) & { end(chunk?: Uint8Array): unknown }

/** Returns the body of a request, which its reader starts. */
export function readableBody(request: ClientRequest): Readable {
  return request instanceof StreamRequest ? request.body : request
}

/** Reports whether the ended body is incomplete: a reset HTTP/2 stream ends as well. */
export function isBroken(request: ClientRequest): boolean {
  return request instanceof StreamRequest && request.stream.closed
}

/** Counts the received bytes of the body, for HTTP/1 the bytes of the connection: it carries one request at a time. */
export function receivedBytes(request: ClientRequest): number {
  return request instanceof StreamRequest ? request.receivedBytes : request.socket.bytesRead
}

/** Counts the bytes of the answer that the client has taken, as `receivedBytes` does. */
export function sentBytes(response: ClientResponse): number {
  if (response instanceof StreamResponse) return response.bytesWritten
  const { socket } = response.req
  return socket.bytesWritten - socket.writableLength
}

/** Cuts a request: over HTTP/1 with its connection, over HTTP/2 with its stream. */
export function cut(request: ClientRequest): void {
  if (request instanceof StreamRequest) cutStream(request.stream)
  else request.socket.destroy()
}

/** Cuts the connection of a request, and with it every other request on it. */
export function cutConnection(request: ClientRequest): void {
  if (request instanceof StreamRequest) request.stream.session?.destroy()
  request.socket.destroy()
}

/**
 * Adds the trailer section (name, value, name, value …) of an answer whose head is sent. A client of HTTP/1.1 receives it where it accepts
 * trailers (RFC 9110 6.5.1), and Node omits it where the answer is not chunked.
 */
export function addTrailers(response: ClientResponse, fields: readonly string[]): void {
  if (response instanceof StreamResponse) {
    response.addTrailers(fields)
    return
  }
  if (!/(?:^|[\s,])trailers(?:$|[\s,;])/i.test(String(response.req.headers['te'] ?? ''))) return
  // Node accepts a list of values for one name, but its types do not say so.
  response.addTrailers(grouped(fields) as OutgoingHttpHeaders & Record<string, string>)
}

/** Writes a 103 with these fields (name, value, name, value …) before the head of an answer. */
export function hintsTo(response: ClientResponse, fields: readonly string[]): void {
  if (response instanceof StreamResponse) {
    response.writeHints(fields)
    return
  }
  // Node's own method accepts few forms of Link. The current response owns the socket, and nothing is queued before it.
  response.socket?.write(writeHead('103 Early Hints', fields), 'latin1')
}

/** Writes the head of an answer with these fields (name, value, name, value …), to be sent as Latin-1. */
export function writeHead(status: string, fields: readonly string[]): string {
  const lines = fields.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  return `HTTP/1.1 ${status}\r\n${lines.join('')}\r\n`
}
