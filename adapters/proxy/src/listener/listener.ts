import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { RaiseEvent } from '@sallyport/engine'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import { ignoreOtherUpgrades, type RequestHost, responseOn, stopParsingWhenEnded } from '@sallyport/node/internal'
import type { ClientRequest, ClientResponse } from '../edge/client-messages.ts'
import { type Edge, openEdge } from '../edge/edge.ts'
import type { ProxyVersion } from '../edge/proxy-header.ts'
import { certificateFiles, type TlsOptions } from '../edge/tls-options.ts'
import type { WatchedCertificates } from '../edge/watched-certificates.ts'
import { startClocks } from '../exchange/clocks.ts'
import { Exchange, type Holder } from '../exchange/exchange.ts'
import type { Refusals } from '../exchange/refusals.ts'
import { Roster } from '../exchange/roster.ts'
import { answerClientError, endsWithAnswer } from './client-error.ts'
import { drain } from './drain.ts'
import { createEndings } from './endings.ts'
import { bind } from './listen.ts'
import { createPace, type Pace } from './pace.ts'
import { createTurns } from './turns.ts'

/** Handles requests; neither handler may throw. */
export interface Served {
  readonly limits: Limits
  readonly timeouts: Timeouts
  onRequest(exchange: Exchange): void
  /** Takes an upgrade or a CONNECT, which is answered on its socket. */
  onUpgrade(exchange: Exchange): void
}

/** Names the addresses of the public listener. */
export interface ListenAddresses {
  readonly listen: string
  /** The address that serves plain HTTP beside TLS; absent: none. */
  readonly http?: string | undefined
}

/** The public listener, which closes gracefully. */
export interface Listener {
  /** False once `close` was called. */
  readonly accepting: boolean
  /** Counts the connections of clients. */
  readonly connections: number
  /** The certificates that TLS serves; absent without TLS. */
  readonly certificates: WatchedCertificates | undefined
  /**
   * Reads the certificates: others, or the same again. Resolves to a function that serves them, and takes over the then current limits and
   * time-outs; rejects with `invalid_config`, and then nothing has changed.
   */
  prepare(tls?: TlsOptions): Promise<() => void>
  /** Resolves to the URLs that it listens on; rejects as `bind` does. */
  listen(addresses: ListenAddresses): Promise<Listened>
  /**
   * Ends connections with their answers from now on. After `timeouts.lameDuck` it accepts no new connection and closes tunnels. Requests in
   * flight, and one more request on each idle connection, may take `timeouts.drain`; the rest is cut. `idle: 'cut'` does not wait for idle
   * connections.
   */
  close(idle?: 'wait' | 'cut'): Promise<void>
}

interface Listened {
  readonly url: string
  readonly httpUrl?: string | undefined
}

export interface ListenerOptions {
  readonly refusals: Refusals
  readonly host: RequestHost
  readonly tls?: TlsOptions | undefined
  readonly proxyProtocol?: ProxyVersion | false | undefined
  /** Called for a request that held a slot after its connection had gone. */
  readonly onLeak: () => void
  /** Takes a line of text, which the operator should read. */
  readonly onNotice: (message: string) => void
  /** Takes an event that the operator may want to know of at once. */
  readonly raise: RaiseEvent
  /** Called for a bug, which ends one exchange. */
  readonly onFault: (error: unknown) => void
}

/**
 * Creates the listener for what `served` returns at each moment. Reads certificates; a bad certificate is a notice, and where all are bad
 * it rejects with `cannot_listen`.
 */
export async function createListener(served: () => Served, options: ListenerOptions): Promise<Listener> {
  const { refusals, host, tls, proxyProtocol, onLeak, onNotice, onFault, raise } = options
  const http1 = createHttp1Server()
  const exchanges = new Roster<Exchange>()
  const tunnels = new Set<Exchange>()
  let accepting = true
  const { guarded, onSlow, onFault: onBug } = createEndings(refusals, onFault)
  const listed: Holder = {
    left(exchange) {
      // Otherwise the rest of its body is still received.
      if (exchange.over) exchanges.remove(exchange)
    },
  }
  const listedTunnel: Holder = { left: (exchange) => void tunnels.delete(exchange) }

  const begin = (request: ClientRequest, response: ClientResponse, waiting: boolean, waitedMs: number): void => {
    const exchange = new Exchange(host, request, response, { listed, onSlow, onFault: onBug, waiting, waitedMs })
    exchanges.add(exchange)
    if (!accepting) response.shouldKeepAlive = false
    served().onRequest(exchange)
  }

  const pace = createPace()
  const beginGuarded = guarded(begin)
  const edge = await openEdge({
    tls,
    proxyProtocol,
    limits: () => served().limits,
    timeouts: () => served().timeouts,
    isTrusted: (peer) => host.isTrusted?.(peer) ?? false,
    onHttp1(socket) {
      http1.emit('connection', socket)
      // The first bytes were read to find the peer.
      if (socket.isPaused()) socket.resume()
    },
    onHttp2: (request, response, waiting) =>
      pace(request.socket, (waitedMs) => {
        if (!response.closed) beginGuarded(request, response, waiting, waitedMs)
      }),
    onCut: refusals.cut,
    onNotice,
    raise,
  })

  let stopClocks = (): void => {}
  const adopt = (): void => {
    const { timeouts } = served()
    http1.headersTimeout = timeouts.header
    http1.keepAliveTimeout = timeouts.keepAlive
    edge.adopt()
    stopClocks()
    stopClocks = startClocks(exchanges, timeouts, onLeak)
  }
  adopt()
  const upgrade = (request: IncomingMessage, socket: Socket, head: Buffer): void => {
    const response = responseOn(socket, request)
    if (response === undefined) return
    const exchange = new Exchange(host, request, response, {
      listed: listedTunnel,
      onSlow,
      onFault: onBug,
      upgrade: { request, response, socket, head },
    })
    tunnels.add(exchange)
    served().onUpgrade(exchange)
  }
  const limits = () => served().limits
  hearHttp1(http1, { pace, begin: beginGuarded, onUpgrade: guarded(upgrade), limits, refusals, host })

  return {
    get accepting() {
      return accepting
    },
    get connections() {
      return edge.connections.count
    },
    certificates: edge.certificates,
    async prepare(next = tls) {
      const serve = next && (await edge.certificates?.prepare(certificateFiles(next)))
      return () => {
        adopt()
        serve?.()
      }
    },
    listen: (addresses) => bindAll(edge, addresses, tls === undefined ? 'http' : 'https'),
    async close(idle = 'wait') {
      accepting = false
      const { main, plain, connections, http2 } = edge
      const open = { fronts: [main, plain], connections, http1, http2, exchanges, tunnels }
      await drain(open, served().timeouts, idle)
      edge.certificates?.close()
      stopClocks()
    },
  }
}

async function bindAll(edge: Edge, { listen, http }: ListenAddresses, scheme: string): Promise<Listened> {
  return {
    url: `${scheme}://${await bind(edge.main, listen)}`,
    httpUrl: http && `http://${await bind(edge.plain, http)}`,
  }
}

interface Http1Hooks {
  readonly pace: Pace
  begin(request: IncomingMessage, response: ServerResponse, waiting: boolean, waitedMs: number): void
  onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
  limits(): Limits
  readonly refusals: Refusals
  readonly host: RequestHost
}

/** Takes the requests of a server one after another on each connection, and its upgrades. */
function hearHttp1(http1: Server, { pace, begin, onUpgrade, limits, refusals, host }: Http1Hooks): void {
  const inTurn = createTurns(
    () => limits().pipelined,
    () => refusals.cut('pipelined'),
    pace,
  )
  // In applications Node answers an unknown expectation itself.
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    http1.on(event, (request: IncomingMessage, response: ServerResponse) => {
      inTurn(request.socket, response, (waitedMs) => begin(request, response, event === 'checkContinue', waitedMs))
    })
  }
  http1.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (endsWithAnswer(error, socket)) return
    refusals.cut('head')
    answerClientError(error, socket, host)
  })
  for (const event of ['upgrade', 'connect'] as const) {
    http1.on(event, (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node has removed its own listeners, and an unhandled reset would crash the process.
      socket.on('error', () => socket.destroy())
      onUpgrade(request, socket, head)
    })
  }
}

/** Creates a server that receives its connections from us, and whose head and keep-alive times are set later. */
function createHttp1Server(): Server {
  const server = createServer({
    // The clocks know whether a client that has not sent its whole request goes on with it.
    requestTimeout: 0,
    // Node checks the times of a head this often; with its default of 30 s, 10 s would become 40.
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
    // Node's own answer has no body. The checks of a head report the fault, also for an upgrade.
    requireHostHeader: false,
  })
  // 0 means no limit. Beyond a limit Node drops fields silently, and a trusted proxy appends its fields last.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 1_000
  server.on('connection', stopParsingWhenEnded)
  server.on('connection', ignoreOtherUpgrades)
  // The server never listens; this event starts its clocks.
  server.emit('listening')
  return server
}
