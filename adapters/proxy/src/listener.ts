import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type ConnectionLimits, limitConnections } from './connection-limits.ts'
import { listenOn } from './listen.ts'
import { stopParsingWhenDestroyed } from './stop-parsing.ts'
import { createTurns } from './turns.ts'

/** Neither may throw. */
export interface ListenerHandlers {
  /** `waiting`: the client sends its body only after `100 Continue`. */
  onRequest(request: IncomingMessage, response: ServerResponse, waiting: boolean): void
  /** An upgrade or a CONNECT, answered on the socket. */
  onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
}

/** The public listener, with a graceful close. */
export interface Listener {
  /** False once `close` was called. */
  readonly accepting: boolean
  /** Resolves to the URL it listens on; rejects as `listenOn` does. */
  listen(address: string): Promise<string>
  /**
   * Accepts no new connection, waits at most `withinMs` milliseconds for the requests in flight, then cuts the rest.
   * Tunnels are cut as soon as nothing else is in flight.
   */
  close(withinMs: number): Promise<void>
}

/** What a listener bears, of all clients and of one. */
export interface ListenerLimits extends ConnectionLimits {
  /** Requests of one connection that may wait for the answers before them. */
  readonly pipelined: number
}

export const LISTENER_LIMITS: ListenerLimits = {
  connections: 10_000,
  connectionsPerClient: 256,
  ipv6Prefix: 64,
  pipelined: 16,
}

export interface ListenerOptions {
  readonly limits: ListenerLimits
  /** Whether a peer is a trusted proxy. */
  isTrusted(peer: string): boolean
  /** A connection was refused or cut by a limit. */
  onRefused(cause: 'connections' | 'pipelined'): void
}

/** In milliseconds; header fields are limited to Node's own 16 KiB. */
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  // How often Node checks the time-outs; its default of 30 s would make the 10 s above 40.
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
}

/** Creates the HTTP server with the limits of a public one. */
export function createListener(
  { onRequest, onUpgrade }: ListenerHandlers,
  { limits, isTrusted, onRefused }: ListenerOptions,
): Listener {
  const server = createServer(SERVER_OPTIONS)
  // 0: no limit. Beyond one Node drops fields silently, and the last ones are those that a trusted proxy appended.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 1_000
  server.on('connection', stopParsingWhenDestroyed)
  limitConnections(server, limits, isTrusted, () => onRefused('connections'))

  const tunnels = new Set<Socket>()
  let inFlight = 0
  let accepting = true

  const cutIdle = (): void => {
    if (accepting) return
    server.closeIdleConnections()
    if (inFlight > 0) return
    for (const socket of tunnels) socket.destroySoon()
    server.closeAllConnections()
  }

  const begin = (request: IncomingMessage, response: ServerResponse, waiting: boolean): void => {
    inFlight += 1
    response.once('close', () => {
      inFlight -= 1
      // The connection becomes idle after its response has closed.
      setImmediate(cutIdle)
    })
    onRequest(request, response, waiting)
  }

  const inTurn = createTurns(limits.pipelined, () => onRefused('pipelined'))
  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      inTurn(request.socket, response, () => begin(request, response, event === 'checkContinue'))
    })
  }
  for (const event of ['upgrade', 'connect'] as const) {
    server.on(event, (request: IncomingMessage, socket: Socket, head: Buffer) => {
      tunnels.add(socket)
      socket.once('close', () => tunnels.delete(socket))
      // Node has removed its own listeners, and an unhandled reset would crash the process.
      socket.on('error', () => socket.destroy())
      onUpgrade(request, socket, head)
    })
  }

  return {
    get accepting() {
      return accepting
    },
    listen: async (address) => (await listenOn(server, address)).url,
    async close(withinMs) {
      accepting = false
      const closed = once(server, 'close')
      server.close()
      cutIdle()
      const late = setTimeout(() => {
        for (const socket of tunnels) socket.destroy()
        server.closeAllConnections()
      }, withinMs)
      await closed
      clearTimeout(late)
    },
  }
}
