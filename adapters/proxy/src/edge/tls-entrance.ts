import { constants } from 'node:crypto'
import type { Socket } from 'node:net'
import { createServer, type SecureContextOptions, type Server, type TLSSocket, type TlsOptions } from 'node:tls'
import { computeJa4 } from '@sallyport/core'
import { noteJa4 } from '@sallyport/node/internal'
import { type Certificate, certificateFor } from './certificates.ts'
import { writeHead } from './client-messages.ts'
import type { EdgeOptions } from './edge-options.ts'
import { peek } from './first-bytes.ts'
import { readHello } from './hello-bytes.ts'
import { type Peer, setPeer, underlying } from './peer.ts'

/** Permits TLS 1.3, and ciphers of 1.2 with forward secrecy and authenticated encryption (RFC 9325 4.2). */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')
const DEFAULTS: SecureContextOptions = {
  minVersion: 'TLSv1.2',
  ciphers: CIPHERS,
  honorCipherOrder: true,
  // A client could make us compute further handshakes for nothing (RFC 5746; HTTP/2 forbids them, RFC 9113 9.2.1).
  secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
}

/**
 * Opens TLS on connections that another server accepted. Reads the hello before Node does, and puts it back: the connection keeps its JA4.
 * A hello with a name goes to a server without a certificate of its own, because Node would serve that beside the certificate of the name.
 */
export function createTlsEntrance(
  { tls, timeouts, onCut }: EdgeOptions,
  certificates: () => readonly Certificate[],
  onSecured: (socket: TLSSocket) => void,
) {
  /** Lists application protocols, the preferred one first. */
  const ALPNProtocols = [...(tls?.http2 === false ? [] : ['h2']), 'http/1.1', 'http/1.0']
  /** Holds connections whose handshake is in progress. */
  const arrivals = new WeakMap<object, { readonly peer: Peer | undefined; readonly ja4: string | undefined }>()
  const cut = (socket: Socket): void => {
    socket.destroy()
    onCut('handshake')
  }
  const takeSecured = (socket: TLSSocket): void => {
    const connection = underlying(socket)
    const arrival = connection && arrivals.get(connection)
    if (arrival === undefined) {
      // The address of the client may differ from the socket's: the connection is cut, because a guess could be wrong.
      cut(socket)
      return
    }
    if (arrival.ja4 !== undefined) noteJa4(socket, arrival.ja4)
    if (arrival.peer !== undefined) setPeer(socket, arrival.peer)
    onSecured(socket)
  }
  const create = (): Server => {
    const SNICallback: TlsOptions['SNICallback'] = (name, done) =>
      done(null, certificateFor(certificates(), name)?.context)
    const server = createServer({ ...DEFAULTS, ALPNProtocols, handshakeTimeout: time, SNICallback })
    server.on('secureConnection', takeSecured)
    server.on('tlsClientError', (_, socket) => cut(socket))
    return server
  }
  let time = timeouts().handshake
  let [named, nameless] = [create(), create()]
  const renew = (): void => {
    const [first] = certificates()
    if (first !== undefined) nameless.setSecureContext({ ...DEFAULTS, ...first.pem })
  }
  renew()

  return {
    /** Serves the current certificates. */
    renew,
    /** Takes over the current time limit of a handshake for new connections. */
    adopt(): void {
      if (timeouts().handshake === time) return
      time = timeouts().handshake
      // Node reads the time limit when a server is created.
      ;[named, nameless] = [create(), create()]
      renew()
    },
    /** Takes a connection; `peer` is its peer where that differs from the socket's own. */
    take(socket: Socket, peer?: Peer): void {
      peek(socket, readHello, timeouts().clientHello, {
        onRead(hello) {
          if (certificates().length === 0) return cut(socket)
          const ja4 = computeJa4(hello)
          arrivals.set(socket, { peer, ja4 })
          const hasName = ja4?.charAt(3) === 'd'
          ;(hasName ? named : nameless).emit('connection', socket)
        },
        onRefused() {
          onCut('client_hello')
          // A client that speaks HTTP here gets a sentence; any other client sees noise at its end.
          socket.end(PLAIN_HTTP)
          socket.destroySoon()
        },
      })
    },
  }
}

const PLAIN_TEXT = 'This port speaks HTTPS.\n'
const PLAIN_FIELDS = ['Connection', 'close', 'Content-Type', 'text/plain', 'Content-Length', `${PLAIN_TEXT.length}`]
const PLAIN_HTTP = writeHead('400 Bad Request', PLAIN_FIELDS) + PLAIN_TEXT
