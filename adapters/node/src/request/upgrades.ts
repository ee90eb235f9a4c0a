import { hearHeads, type ParsedConnection } from './parsed-heads.ts'

/** Fields by which a client asks for another protocol; the values of one name are a list. */
interface AskingFields {
  readonly upgrade?: string | undefined
  readonly connection?: string | undefined
}

/**
 * Whether a request asks for a WebSocket and for nothing else: the one protocol that connections change to here. Any other
 * wish is ignored, and so is every wish of HTTP/1.0 (RFC 9110 7.8, D371).
 */
export function asksForWebSocket(httpVersion: string, { upgrade, connection = '' }: AskingFields): boolean {
  if (upgrade?.trim().toLowerCase() !== 'websocket' || httpVersion === '1.0') return false
  return connection.split(',').some((name) => name.trim().toLowerCase() === 'upgrade')
}

/**
 * Has Node take requests of a connection that ask for another protocol as what they are without that wish. Else it hands
 * their socket to listeners for `upgrade`, with a body that nobody reads.
 */
export function ignoreOtherUpgrades(connection: ParsedConnection): void {
  hearHeads(connection, (request, go) => {
    if (request.upgrade && request.method !== 'CONNECT' && !asksForWebSocket(request.httpVersion, request.headers)) {
      request.upgrade = false
    }
    return go()
  })
}
