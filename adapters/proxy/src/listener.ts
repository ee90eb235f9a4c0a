import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type RequestHost, responseOn } from '@sallyport/node'
import type { Limits, Timeouts } from '@sallyport/open/limits'
import { answerWith, limitRefusal } from './answers.ts'
import { answerClientError } from './client-error.ts'
import { startClocks } from './clocks.ts'
import { limitConnections } from './connection-limits.ts'
import { drain } from './drain.ts'
import { Exchange } from './exchange.ts'
import { listenOn } from './listen.ts'
import type { Refusals } from './refusals.ts'
import { Roster } from './roster.ts'
import { stopParsingWhenDestroyed } from './stop-parsing.ts'
import { createTurns } from './turns.ts'

/** What requests are given to; neither handler may throw. */
export interface Served {
  readonly limits: Limits
  readonly timeouts: Timeouts
  onRequest(exchange: Exchange): void
  /** An upgrade or a CONNECT, answered on its socket. */
  onUpgrade(exchange: Exchange): void
}

/** The public listener, with a graceful close. */
export interface Listener {
  /** False once `close` was called. */
  readonly accepting: boolean
  /** Connections of clients. */
  connections(): Promise<number>
  /** Takes over the limits and time-outs of what is served now. */
  reload(): void
  /** Resolves to the URL it listens on; rejects as `listenOn` does. */
  listen(address: string): Promise<string>
  /**
   * Answers end their connections from now on. After `timeouts.lameDuck` no new connection is accepted and tunnels are
   * closed; what is in flight, and one more request on each idle connection, has `timeouts.drain`; the rest is cut.
   * `idle: 'cut'` does not wait for idle connections.
   */
  close(idle?: 'wait' | 'cut'): Promise<void>
}

export interface ListenerOptions {
  readonly refusals: Refusals
  readonly host: RequestHost
}

/** Creates the listener of what `served` gives at each moment. */
export function createListener(served: () => Served, { refusals, host }: ListenerOptions): Listener {
  const server = createPublicServer()
  limitConnections(
    server,
    () => served().limits,
    (peer) => host.isTrusted?.(peer) ?? false,
    () => refusals.cut('connections'),
  )

  const exchanges = new Roster<Exchange>()
  let stopClocks = (): void => {}
  const adopt = (): void => {
    const { limits, timeouts } = served()
    server.maxConnections = limits.connections
    server.headersTimeout = timeouts.header
    server.keepAliveTimeout = timeouts.keepAlive
    stopClocks()
    stopClocks = startClocks(exchanges, timeouts)
  }
  adopt()
  const tunnels = new Set<Exchange>()
  let accepting = true
  const onSlow = slowEnding(refusals)

  const begin = (request: IncomingMessage, response: ServerResponse, waiting: boolean): void => {
    const exchange = new Exchange(host, request, response, { waiting, onSlow })
    exchanges.add(exchange)
    if (!accepting) response.shouldKeepAlive = false
    exchange.onEnd(() => {
      // Else what is left of its body is still received.
      if (exchange.over) exchanges.remove(exchange)
    })
    served().onRequest(exchange)
  }

  const inTurn = createTurns(
    () => served().limits.pipelined,
    () => refusals.cut('pipelined'),
  )
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      inTurn(request.socket, response, () => begin(request, response, event === 'checkContinue'))
    })
  }
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    refusals.cut('head')
    answerClientError(error, socket)
  })
  for (const event of ['upgrade', 'connect'] as const) {
    server.on(event, (request: IncomingMessage, socket: Socket, head: Buffer) => {
      // Node has removed its own listeners, and an unhandled reset would crash the process.
      socket.on('error', () => socket.destroy())
      const response = responseOn(socket, request)
      if (response === undefined) return
      const exchange = new Exchange(host, request, response, { upgrade: { socket, head } })
      tunnels.add(exchange)
      exchange.onEnd(() => tunnels.delete(exchange))
      served().onUpgrade(exchange)
    })
  }

  return {
    get accepting() {
      return accepting
    },
    connections: () => connectionsOf(server),
    reload: adopt,
    listen: async (address) => (await listenOn(server, address)).url,
    async close(idle = 'wait') {
      accepting = false
      await drain({ server, exchanges, tunnels }, served().timeouts, idle)
      stopClocks()
    },
  }
}

/** Ends an exchange whose client is too slow: with an answer where there is none yet. */
function slowEnding(refusals: Refusals): (exchange: Exchange, side: 'body' | 'reading') => void {
  return (exchange, side) => {
    const cause = side === 'body' ? 'slow_body' : 'slow_reader'
    const answered = side === 'body' && !exchange.response.headersSent
    refusals[answered ? 'count' : 'cut'](cause)
    if (answered) answerWith(exchange, limitRefusal(cause), cause)
    else exchange.request.socket.destroy()
  }
}

function connectionsOf(server: Server): Promise<number> {
  return new Promise((resolve, reject) => {
    server.getConnections((error, count) => (error ? reject(error) : resolve(count)))
  })
}

/** A server whose head and keep-alive times are set later. */
function createPublicServer(): Server {
  const server = createServer({
    // The clocks know whether a client that has not sent its whole request goes on with it.
    requestTimeout: 0,
    // How often Node looks at the times of a head; its default of 30 s would make 10 s of them 40.
    connectionsCheckingInterval: 1_000,
    insecureHTTPParser: false,
  })
  // 0: no limit. Beyond one Node drops fields silently, and the last ones are those that a trusted proxy appended.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 1_000
  server.on('connection', stopParsingWhenDestroyed)
  return server
}
