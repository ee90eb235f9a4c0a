import type { Socket } from 'node:net'
import type { RaiseEvent } from '@sallyport/engine'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import { countConnections } from './connection-limits.ts'
import type { CutCause } from './cut-causes.ts'
import { createFront } from './front.ts'
import { createHttp2Sessions, type Http2SessionsOptions } from './http2-sessions.ts'
import { type Peer, setPeer } from './peer.ts'
import type { ProxyVersion } from './proxy-header.ts'
import { createTlsEntrance } from './tls-entrance.ts'
import { certificateFiles, type TlsOptions } from './tls-options.ts'
import { watchCertificates } from './watched-certificates.ts'

export interface EdgeOptions {
  readonly tls?: TlsOptions | undefined
  readonly proxyProtocol?: ProxyVersion | false | undefined
  readonly limits: () => Limits
  readonly timeouts: () => Timeouts
  readonly isTrusted: (peer: string) => boolean
  /** Takes a connection that speaks HTTP/1. */
  readonly onHttp1: (socket: Socket) => void
  /** Takes a request of HTTP/2; `waiting` means that the client waits for `100 Continue`. */
  readonly onHttp2: Http2SessionsOptions['onRequest']
  readonly onCut: (cause: CutCause) => void
  readonly onNotice: (message: string) => void
  /** Takes an event that the operator may want to know of at once. */
  readonly raise: RaiseEvent
}

export type Edge = Awaited<ReturnType<typeof openEdge>>

/** Does everything between connections and requests: peers, TLS, and the version of HTTP. */
export async function openEdge(options: EdgeOptions) {
  const { tls, proxyProtocol = false, limits, timeouts, isTrusted, onHttp1, onHttp2, onCut, onNotice, raise } = options
  const connections = countConnections(limits, isTrusted)
  const shared = { proxyProtocol, isTrusted, connections, headerTime: () => timeouts().header, onCut }
  const onConnection = (socket: Socket, peer?: Peer): void => {
    if (peer !== undefined) setPeer(socket, peer)
    onHttp1(socket)
  }
  const plain = createFront({ ...shared, onConnection })
  if (tls === undefined) {
    const none = { http2: undefined, certificates: undefined, adopt() {} }
    return { main: createFront({ ...shared, onConnection }), plain, connections, ...none }
  }

  const sessions = { limits, timeouts, isTrusted, onRequest: onHttp2, onCut }
  const http2 = tls.http2 === false ? undefined : createHttp2Sessions(sessions)
  let renew = (): void => {}
  const certificates = await watchCertificates(certificateFiles(tls), { onNotice, raise, onChange: () => renew() })
  const entrance = createTlsEntrance({
    certificates: certificates.current,
    protocols: [...(http2 === undefined ? [] : ['h2']), 'http/1.1', 'http/1.0'],
    times: timeouts,
    onSecured: (socket) => (socket.alpnProtocol === 'h2' ? http2?.take(socket) : onHttp1(socket)),
    onCut,
  })
  renew = entrance.renew
  return {
    /** Serves the address `listen`: with TLS where that is configured. */
    main: createFront({ ...shared, onConnection: entrance.take }),
    /** Serves the address `http`, which has no TLS. */
    plain,
    connections,
    http2,
    certificates,
    /** Takes over the current limits and time-outs for new connections. */
    adopt(): void {
      http2?.adopt()
      entrance.adopt()
    },
  }
}
