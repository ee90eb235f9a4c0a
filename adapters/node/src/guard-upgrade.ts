import { type IncomingMessage, STATUS_CODES } from 'node:http'
import type { Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { type Decider, decideRequest, requireDecider } from './decide-request.ts'
import type { Refusal } from './refusal.ts'

/**
 * Inspects the WebSocket upgrades of a server, which run no middleware in any framework. An enforced block is answered
 * on the socket and no listener sees it; any other upgrade goes on with the verdict in its headers.
 *
 * It wraps `server.emit` and is not a listener: a listener cannot keep the others from running, and
 * those of a WebSocket library may be added before or after this call, or taken away. A server without an `upgrade`
 * listener makes ordinary requests of upgrades, and those pass the middleware.
 */
export function guardUpgrade(server: Server, sallyport: Decider): void {
  requireDecider(sallyport)
  const emit = server.emit
  const guarded = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'upgrade') {
      const [req, socket] = values as [IncomingMessage, Duplex]
      const { refusal } = decideRequest(sallyport, req)
      if (refusal !== undefined) {
        refuse(socket, refusal)
        return true
      }
    }
    return Reflect.apply(emit, server, [event, ...values])
  }
  server.emit = guarded as typeof server.emit
}

function refuse(socket: Duplex, { status, headers, body }: Refusal): void {
  const fields = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  // Node has taken its own listeners off this socket, and a reset without one would end the process.
  socket.on('error', () => socket.destroy())
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}\r\n${body}`, () => socket.destroy())
}
