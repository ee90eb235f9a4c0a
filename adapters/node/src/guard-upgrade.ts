import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/api'
import { type Decider, decideRequest, type Outcome, requireDecider } from './decide-request.ts'
import { markGuarded } from './host-server.ts'
import { nameAnswer, requestId } from './request-id.ts'
import { sendResponse } from './send-response.ts'
import { responseOn } from './upgrade-response.ts'

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
  markGuarded(server)
  const emit = server.emit
  const guarded = (event: string | symbol, ...values: unknown[]): boolean => {
    if (event === 'upgrade') {
      const [req, socket] = values as [IncomingMessage, Socket]
      const outcome = decideRequest(sallyport, { req, socket })
      if (outcome instanceof Promise) {
        waitFor(socket, outcome, ({ refusal }) => {
          if (refusal === undefined) Reflect.apply(emit, server, [event, ...values])
          else refuse(sallyport, socket, req, refusal)
        })
        return true
      }
      if (outcome.refusal !== undefined) {
        refuse(sallyport, socket, req, outcome.refusal)
        return true
      }
    }
    return Reflect.apply(emit, server, [event, ...values])
  }
  server.emit = guarded as typeof server.emit
}

/** Node has taken its own listeners off this socket: meanwhile it may fail, and then nobody is answered. */
function waitFor(socket: Socket, outcome: Promise<Outcome>, go: (outcome: Outcome) => void): void {
  const onError = (): void => void socket.destroy()
  socket.on('error', onError)
  void outcome.then((decided) => {
    socket.off('error', onError)
    if (!socket.destroyed) go(decided)
  })
}

/** Where an earlier request of the connection has no answer yet, ours would be taken for it: then there is none. */
function refuse(sallyport: Decider, socket: Socket, req: IncomingMessage, refusal: ApiResponse): void {
  // Node has taken its own listeners off this socket, and a reset without one would end the process.
  socket.on('error', () => socket.destroy())
  const response = responseOn(socket, req)
  if (response === undefined) return
  nameAnswer(response, requestId(sallyport, req))
  void sendResponse(response, refusal)
}
