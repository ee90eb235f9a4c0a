import { countConnections } from './connection-limits.ts'
import type { EdgeOptions } from './edge-options.ts'
import { createFront } from './front.ts'
import { createHttp2Sessions } from './http2-sessions.ts'
import { setPeer } from './peer.ts'
import { createTlsEntrance } from './tls-entrance.ts'
import { certificateFiles } from './tls-options.ts'
import { watchCertificates } from './watched-certificates.ts'

export type Edge = Awaited<ReturnType<typeof openEdge>>

/** Does everything between connections and requests: peers, TLS, and the version of HTTP. */
export async function openEdge(options: EdgeOptions) {
  const { tls, limits, isTrusted, onHttp1, onNotice, raise } = options
  const connections = countConnections(limits, isTrusted)
  const createPlain = () =>
    createFront(options, connections, (socket, peer) => {
      if (peer !== undefined) setPeer(socket, peer)
      onHttp1(socket)
    })
  if (tls === undefined) {
    const none = { http2: undefined, certificates: undefined, adopt() {} }
    return { main: createPlain(), plain: createPlain(), connections, ...none }
  }

  const http2 = tls.http2 === false ? undefined : createHttp2Sessions(options)
  let renew = (): void => {}
  const certificates = await watchCertificates(certificateFiles(tls), { onNotice, raise, onChange: () => renew() })
  const entrance = createTlsEntrance(options, certificates.current, (socket) =>
    socket.alpnProtocol === 'h2' ? http2?.take(socket) : onHttp1(socket),
  )
  renew = entrance.renew
  return {
    /** Serves the address `listen`: with TLS where that is configured. */
    main: createFront(options, connections, entrance.take),
    /** Serves the address `http`, which has no TLS. */
    plain: createPlain(),
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
