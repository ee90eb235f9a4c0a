import type { IncomingMessage } from 'node:http'
import type { Server, Socket } from 'node:net'
import type { ApiResponse } from '@sallyport/engine'
import { sendResponse } from './answer/send-response.ts'
import { responseOn } from './answer/upgrade-response.ts'
import type { Decider, Outcome } from './decider.ts'
import { createInspection } from './inspection/create-inspection.ts'
import type { InspectionOptions } from './inspection/inspection-options.ts'
import { findObservation } from './observation.ts'
import { NODE } from './receive.ts'
import { markGuarded } from './request/host-server.ts'
import { ignoreOtherUpgrades } from './request/node-parser.ts'
import { ID_HEADER } from './request/request-id.ts'

/**
 * Inspects the WebSocket upgrades of a server, which run no middleware in any framework. It answers an enforced block on the socket, and no
 * listener sees the upgrade; any other upgrade goes on with the verdict in its headers. A request for another protocol (`Upgrade: h2c`)
 * becomes an ordinary request, which the middleware inspects.
 *
 * The guard wraps `server.emit`: a listener cannot keep others from running, and a WebSocket library may add or remove its listeners
 * before or after this call. A server without an `upgrade` listener makes ordinary requests of upgrades, which pass the middleware. Throws
 * `invalid_config` and `invalid_policy`.
 *
 * @example
 * ```ts
 * import { createServer } from 'node:http'
 * import { guardUpgrade, open } from '@sallyport/node'
 * import { WebSocketServer } from 'ws'
 *
 * const server = createServer()
 * guardUpgrade(server, await open())
 * new WebSocketServer({ server }).on('connection', (_socket, request) => console.log(request.headers['sallyport-action']))
 * ```
 * @see https://www.rfc-editor.org/rfc/rfc6455#section-4.2
 */
export function guardUpgrade(server: Server, sallyport: Decider, options: InspectionOptions = {}): void {
  const inspect = createInspection(NODE, sallyport, options)
  markGuarded(server)
  const emit = server.emit
  const emitGuarded = (event: string | symbol, ...values: unknown[]): boolean => {
    const go = () => Reflect.apply(emit, server, [event, ...values])
    if (event !== 'upgrade') {
      const heard = go()
      // Node's server begins to parse a connection at the first event, and over TLS at the second.
      if (event === 'connection' || event === 'secureConnection') ignoreOtherUpgrades(values[0] as Socket)
      return heard
    }
    const [req, socket] = values as [IncomingMessage, Socket]
    const apply = ({ refusal }: Outcome): boolean => {
      if (refusal === undefined) return go()
      refuse(sallyport, socket, req, refusal)
      return true
    }
    const outcome = inspect({ req, socket }, req)
    if (!(outcome instanceof Promise)) return apply(outcome)
    waitFor(socket, outcome, apply)
    return true
  }
  server.emit = emitGuarded as typeof server.emit
}

/** Node has taken its own listeners off this socket. If the socket fails meanwhile, no client is left to answer. */
function waitFor(socket: Socket, outcome: Promise<Outcome>, go: (outcome: Outcome) => unknown): void {
  const onError = (): void => void socket.destroy()
  socket.on('error', onError)
  void outcome.then((decided) => {
    socket.off('error', onError)
    if (!socket.destroyed) go(decided)
  })
}

/** No response is written while an earlier request of the connection has no answer: the client would take ours for that answer. */
function refuse(sallyport: Decider, socket: Socket, req: IncomingMessage, refusal: ApiResponse): void {
  // Node has taken its own listeners off this socket, and a reset would end the process.
  socket.on('error', () => socket.destroy())
  const response = responseOn(socket, req)
  if (response === undefined) return
  response.setHeader(ID_HEADER, findObservation(sallyport, req).id)
  void sendResponse(response, refusal)
}
