import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import { StreamRequest } from './stream-request.ts'
import { cutStream, grouped, StreamResponse } from './stream-response.ts'

/* The two sides of an exchange with a client, by either version of HTTP: of HTTP/1 they are Node's own. */

export type ClientRequest = IncomingMessage | StreamRequest

/** TypeScript takes only the first form of an `end` that both have. */
export type ClientResponse = (ServerResponse | StreamResponse) & { end(chunk?: Uint8Array): unknown }

/** The body of a request; it is read by who asks for it. */
export function bodyOf(request: ClientRequest): Readable {
  return request instanceof StreamRequest ? request.body : request
}

/** Whether the body that has ended is not whole: a stream of HTTP/2 that is reset ends as well. */
export function isBroken(request: ClientRequest): boolean {
  return request instanceof StreamRequest && request.stream.closed
}

/** Bytes of the body that have come. Of HTTP/1 those of the connection: it has one request at a time. */
export function receivedBytes(request: ClientRequest): number {
  return request instanceof StreamRequest ? request.receivedBytes : request.socket.bytesRead
}

/** Bytes of the answer that the client has taken, as `receivedBytes` counts. */
export function sentBytes(response: ClientResponse): number {
  if (response instanceof StreamResponse) return response.sentBytes
  const { socket } = response.req
  return socket.bytesWritten - socket.writableLength
}

/** Cuts a request: over HTTP/1 with its connection, else with its stream. */
export function cut(request: ClientRequest): void {
  if (request instanceof StreamRequest) cutStream(request.stream)
  else request.socket.destroy()
}

/** Cuts the connection of a request, and with it all else that is asked on it. */
export function cutConnection(request: ClientRequest): void {
  if (request instanceof StreamRequest) request.stream.session?.destroy()
  request.socket.destroy()
}

/**
 * Adds the trailer section (name, value, name, value …) of an answer whose head is sent. A client of HTTP/1.1 is sent it where it says that it
 * takes one (RFC 9110 6.5.1), and Node leaves it out where the answer is not in chunks.
 */
export function addTrailers(response: ClientResponse, fields: readonly string[]): void {
  if (response instanceof StreamResponse) {
    response.addTrailers(fields)
    return
  }
  if (!/(?:^|[\s,])trailers(?:$|[\s,;])/i.test(String(response.req.headers['te'] ?? ''))) return
  // Its types know no list of values for one name, which it takes.
  response.addTrailers(grouped(fields) as OutgoingHttpHeaders & Record<string, string>)
}

/** Writes a 103 of these fields (name, value, name, value …) before the head of an answer. */
export function hintsTo(response: ClientResponse, fields: readonly string[]): void {
  if (response instanceof StreamResponse) {
    response.writeHints(fields)
    return
  }
  const lines = fields.map((text, at) => (at % 2 === 0 ? `${text}: ` : `${text}\r\n`))
  // Node's own way takes few of the forms of Link. The response whose turn it is has the socket, with nothing before it.
  response.socket?.write(`HTTP/1.1 103 Early Hints\r\n${lines.join('')}\r\n`, 'latin1')
}
