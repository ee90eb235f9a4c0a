import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Limits, Timeouts } from '@sallyport/engine/limits'
import {
  ignoreOtherUpgrades,
  type RequestHost,
  refusal,
  responseOn,
  stopParsingWhenEnded,
} from '@sallyport/node/internal'
import { type ClientRequest, type ClientResponse, cut } from '../edge/client-messages.ts'
import { openEdge } from '../edge/edge.ts'
import type { EdgeOptions } from '../edge/edge-options.ts'
import { certificateFiles } from '../edge/tls-options.ts'
import { answerWith, limitRefusal, type Refusals } from '../exchange/answers.ts'
import { startClocks } from '../exchange/clocks.ts'
import { Exchange, type ExchangeHooks, type Holder } from '../exchange/exchange.ts'
import { Roster } from '../exchange/roster.ts'
import { answerClientError, endsWithAnswer } from './client-error.ts'
import { drain } from './drain.ts'
import { bind } from './listen.ts'
import { createPace, createTurns, type Pace } from './turns.ts'

/** Handles requests; neither handler may throw. */
interface Served {
  readonly limits: Limits
  readonly timeouts: Timeouts
  onRequest(exchange: Exchange): void
  /** Takes an upgrade or a CONNECT, which is answered on its socket. */
  onUpgrade(exchange: Exchange): void
}

export type Listener = Awaited<ReturnType<typeof createListener>>

export interface ListenerOptions extends Pick<EdgeOptions, 'tls' | 'proxyProtocol' | 'onNotice' | 'raise'> {
  readonly refusals: Refusals
  readonly host: RequestHost
  /** Called for a request that held a slot after its connection had gone. */
  readonly onLeak: () => void
  /** Called for a bug, which ends one exchange. */
  readonly onFault: (error: unknown) => void
}

/**
 * Creates the public listener, which closes gracefully, for what `served` returns at each moment. Reads certificates; a bad certificate is
 * a notice, and where all are bad it rejects with `cannot_listen`.
 */
export async function createListener(served: () => Served, options: ListenerOptions) {
  const { refusals, host, tls, onLeak } = options
  const http1 = createHttp1Server()
  let accepting = true
  const exchanges = createExchanges(served, options, () => accepting)
  const { requests, tunnels, begin } = exchanges
  const pace = createPace()
  const edge = await openEdge({
    ...options,
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
        if (!response.closed) begin(request, response, waiting, waitedMs)
      }),
    onCut: refusals.cut,
  })

  let stopClocks = (): void => {}
  const adopt = (): void => {
    const { timeouts } = served()
    http1.headersTimeout = timeouts.header
    http1.keepAliveTimeout = timeouts.keepAlive
    edge.adopt()
    stopClocks()
    stopClocks = startClocks(requests, timeouts, onLeak)
  }
  adopt()
  hearHttp1(http1, served, { ...options, ...exchanges, pace })

  return {
    /** False once `close` was called. */
    get accepting(): boolean {
      return accepting
    },
    /** Counts the connections of clients. */
    get connections(): number {
      return edge.connections.count
    },
    /** The certificates that TLS serves; absent without TLS. */
    certificates: edge.certificates,
    /**
     * Reads the certificates: others, or the same again. Resolves to a function that serves them, and takes over the then current limits
     * and time-outs; rejects with `invalid_config`, and then nothing has changed.
     */
    async prepare(next = tls): Promise<() => void> {
      const serve = next && (await edge.certificates?.prepare(certificateFiles(next)))
      return () => {
        adopt()
        serve?.()
      }
    },
    /** Resolves to the URLs of `listen`, and of `http`, which serves plain HTTP beside TLS; rejects as `bind` does. */
    async listen(listen: string, http: string | undefined) {
      return {
        url: `${tls === undefined ? 'http' : 'https'}://${await bind(edge.main, listen)}`,
        httpUrl: http && `http://${await bind(edge.plain, http)}`,
      }
    },
    /**
     * Ends connections with their answers from now on. After `timeouts.lameDuck` it accepts no new connection and closes tunnels. Requests
     * in flight, and one more request on each idle connection, may take `timeouts.drain`; the rest is cut. `idle: 'cut'` does not wait for
     * idle connections.
     */
    async close(idle: 'wait' | 'cut' = 'wait'): Promise<void> {
      accepting = false
      await drain({ edge, http1, requests, tunnels }, served().timeouts, idle)
      edge.certificates?.close()
      stopClocks()
    },
  }
}

/**
 * Begins an exchange for each request and upgrade, and lists it until it has ended. Ends exchanges that fail with an answer where none has
 * begun, else with a cut, and counts them.
 */
function createExchanges(
  served: () => Served,
  { host, refusals, onFault }: ListenerOptions,
  isAccepting: () => boolean,
) {
  const requests = new Roster<Exchange>()
  const tunnels = new Set<Exchange>()
  const listed: Holder = {
    left(exchange) {
      // Otherwise the rest of its body is still received.
      if (exchange.over) requests.remove(exchange)
    },
  }
  const hooks: ExchangeHooks = {
    listed,
    onSlow(exchange, side) {
      const cause = side === 'body' ? 'slow_body' : 'slow_reader'
      const answered = side === 'body' && !exchange.response.headersSent
      refusals[answered ? 'count' : 'cut'](cause)
      if (answered) answerWith(exchange, limitRefusal(cause), cause)
      else exchange.cut()
    },
    onFault(exchange, error) {
      onFault(error)
      const answered = exchange.isUnanswered
      refusals[answered ? 'count' : 'cut']('fault')
      if (answered) answerWith(exchange, refusal('internal_error'), 'fault')
      else exchange.cut()
    },
  }
  const tunnelHooks = { ...hooks, listed: { left: (exchange: Exchange) => void tunnels.delete(exchange) } }
  /** Begins an exchange; where that throws there is no exchange yet, and the connection is cut. */
  const guard = (request: ClientRequest, go: () => void): void => {
    try {
      go()
    } catch (error) {
      onFault(error)
      refusals.cut('fault')
      cut(request)
    }
  }
  return {
    requests,
    tunnels,
    begin: (request: ClientRequest, response: ClientResponse, waiting: boolean, waitedMs: number): void =>
      guard(request, () => {
        const exchange = new Exchange(host, request, response, hooks, { waiting, waitedMs })
        requests.add(exchange)
        if (!isAccepting()) response.shouldKeepAlive = false
        served().onRequest(exchange)
      }),
    beginUpgrade: (request: IncomingMessage, socket: Socket, head: Buffer): void =>
      guard(request, () => {
        const response = responseOn(socket, request)
        if (response === undefined) return
        const upgrade = { request, response, socket, head }
        const exchange = new Exchange(host, request, response, tunnelHooks, { upgrade })
        tunnels.add(exchange)
        served().onUpgrade(exchange)
      }),
  }
}

interface Http1Parts extends ListenerOptions, ReturnType<typeof createExchanges> {
  readonly pace: Pace
}

/** Takes the requests of a server one after another on each connection, and its upgrades. */
function hearHttp1(http1: Server, served: () => Served, parts: Http1Parts): void {
  const { pace, begin, beginUpgrade, refusals, host } = parts
  const inTurn = createTurns(
    () => served().limits.pipelined,
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
      beginUpgrade(request, socket, head)
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
