import type { Socket } from 'node:net'
import type { RaiseEvent } from '@sallyport/engine'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import type { ProxyVersion } from './proxy-header.ts'
import type { StreamRequest } from './stream-request.ts'
import type { StreamResponse } from './stream-response.ts'
import type { TlsOptions } from './tls-options.ts'

/** Says why a connection is cut before its first request, or with all its requests. */
export type CutCause = 'connections' | 'proxy_header' | 'client_hello' | 'handshake' | 'http2_resets'

export interface EdgeOptions {
  readonly tls?: TlsOptions | undefined
  /** Every connection begins with a PROXY header of this version; absent or `false`: no connection does. */
  readonly proxyProtocol?: ProxyVersion | false | undefined
  readonly limits: () => Limits
  readonly timeouts: () => Timeouts
  readonly isTrusted: (peer: string) => boolean
  /** Takes a connection that speaks HTTP/1. */
  readonly onHttp1: (socket: Socket) => void
  /** Takes a request of HTTP/2; `waiting` means that the client waits for `100 Continue`. */
  readonly onHttp2: (request: StreamRequest, response: StreamResponse, waiting: boolean) => void
  /** Called when a connection is cut. */
  readonly onCut: (cause: CutCause) => void
  readonly onNotice: (message: string) => void
  /** Takes an event that the operator may want to know of at once. */
  readonly raise: RaiseEvent
}
