import type { IncomingMessage } from 'node:http'
import type { Http2Stream } from 'node:http2'
import type { Socket } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { InspectionRequest, Writable } from '@sallyport/core'
import { clientJa4 } from './connection-ja4.ts'
import { serverOf } from './host-server.ts'
import type { NodeHead } from './node-head.ts'
import { observationOf } from './observation.ts'
import type { RequestHost } from './request-host.ts'

/** A request that is inspected, with the id that its answer and its log line have. */
export type ReceivedHead = InspectionRequest & { readonly id: string }

/** Fields that Node keeps where a server does not say otherwise: a little more may show, the rest is gone. */
const KEPT_BY_DEFAULT = 1000

/**
 * A Node request as the neutral value that is inspected. `target` is the request target as received: hosts that strip
 * a mount from `req.url` pass the original. `fields` is a copy of `req.rawHeaders`: it is evidence, and the verdict is
 * written into the received ones.
 */
export function inspectionRequest(host: RequestHost, req: NodeHead, target: string = req.url ?? ''): ReceivedHead {
  // HTTP/2 hides the socket of a stream that is already gone.
  const socket: Socket | undefined = req.socket
  const ja4 = clientJa4(host, req)
  // A request that came by no connection has none.
  const httpVersion: string = req.httpVersion ?? ''
  const http2Window = httpVersion === '2.0' ? windowOf(req) : undefined
  const request: Writable<ReceivedHead> = {
    id: observationOf(host, req).id,
    peer: socket?.remoteAddress ?? '',
    method: req.method ?? '',
    target,
    scheme: socket === undefined ? 'unknown' : (socket as Partial<TLSSocket>).encrypted ? 'https' : 'http',
    httpVersion,
    fields: req.rawHeaders.slice(),
  }
  if (ja4 !== undefined) request.ja4 = ja4
  if (http2Window !== undefined) request.http2Window = http2Window
  return request
}

/** Returns the window of the session, which a stream that is already gone has not. */
function windowOf(req: NodeHead & { readonly stream?: Http2Stream | undefined }): number | undefined {
  return req.stream?.session?.remoteSettings.initialWindowSize
}

/**
 * True when Node may have dropped header fields of this request. Beyond the server's `maxHeadersCount` it drops them
 * without an error, and the last are the ones a trusted proxy appended: what is left cannot be judged.
 */
export function fieldsMissing(req: IncomingMessage): boolean {
  const kept = serverOf(req)?.maxHeadersCount ?? KEPT_BY_DEFAULT
  return kept > 0 && req.rawHeaders.length / 2 >= kept
}
