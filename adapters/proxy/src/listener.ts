import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { listenOn } from './listen.ts'

/** Who is told of what arrives. Neither may throw. */
export interface Receivers {
  /** `waiting`: the client sends its body only after `100 Continue`. */
  onRequest(request: IncomingMessage, response: ServerResponse, waiting: boolean): void
  /** An upgrade or a CONNECT: whatever is to be said is said on the socket. */
  onUpgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
}

/** The public side of the proxy, which can be ended without cutting anyone's answer. */
export interface Listener {
  /** False once `close` was called. */
  readonly accepting: boolean
  /** Resolves to the URL it listens on; rejects as `listenOn` does. */
  listen(address: string): Promise<string>
  /**
   * Takes no new connection, waits at most `withinMs` milliseconds for the requests in flight, then cuts what is left:
   * tunnels, which have no end of their own, as soon as nothing else is in flight.
   */
  close(withinMs: number): Promise<void>
}

/** In milliseconds; Node's own limit of 16 KiB of header fields stands. */
const SERVER_OPTIONS = {
  headersTimeout: 10_000,
  requestTimeout: 60_000,
  keepAliveTimeout: 15_000,
  // Node looks for late requests this often only; its default of 30 s would make the 10 s above 40.
  connectionsCheckingInterval: 1_000,
  insecureHTTPParser: false,
}

/** Creates the HTTP server with the limits of a server that meets the world. */
export function createListener({ onRequest, onUpgrade }: Receivers): Listener {
  const server = createServer(SERVER_OPTIONS)
  // Beyond a count Node drops fields without a word, and the last ones are those a trusted proxy appended.
  server.maxHeadersCount = 0
  server.maxRequestsPerSocket = 1_000
  server.maxConnections = 10_000

  const newest = new WeakMap<Socket, ServerResponse>()
  const tunnels = new Set<Socket>()
  let inFlight = 0
  let accepting = true

  const rest = (): void => {
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
      // The connection is idle a moment after its response has closed.
      setImmediate(rest)
    })
    onRequest(request, response, waiting)
  }

  for (const event of ['request', 'checkContinue', 'checkExpectation'] as const) {
    server.on(event, (request: IncomingMessage, response: ServerResponse) => {
      const waiting = event === 'checkContinue'
      const before = newest.get(request.socket)
      newest.set(request.socket, response)
      // Pipelined requests take turns: Node tells a response that waits in line neither that the client left nor that
      // the connection ends with the one before it, and then it has no socket when its turn comes.
      if (response.socket !== null) begin(request, response, waiting)
      else before?.once('close', () => response.socket !== null && begin(request, response, waiting))
    })
  }
  for (const event of ['upgrade', 'connect'] as const) {
    server.on(event, (request: IncomingMessage, socket: Socket, head: Buffer) => {
      tunnels.add(socket)
      socket.once('close', () => tunnels.delete(socket))
      // Node has taken its own listeners off this socket, and a reset without one would end the process.
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
      rest()
      const late = setTimeout(() => {
        for (const socket of tunnels) socket.destroy()
        server.closeAllConnections()
      }, withinMs)
      await closed
      clearTimeout(late)
    },
  }
}
